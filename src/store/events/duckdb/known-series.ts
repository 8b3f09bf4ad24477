/** Series that are remembered: more than an installation uses in a day, and a few megabytes. */
const MOST = 20_000;

/** Which places series have in a file. It only saves looking: what is forgotten is looked up again. */
export class KnownSeries {
  readonly #places = new Map<string, number>();

  placeOf(values: string): number | undefined {
    return this.#places.get(values);
  }

  note(values: string, place: number): void {
    if (this.#places.size >= MOST) this.#places.clear();
    this.#places.set(values, place);
  }
}
