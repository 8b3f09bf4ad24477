/** A place in the caller's body, as `Places` knows it; a string if the path is already written. */
export type Place = number | string;

/**
 * Where things stand in the caller's body: `messages[2].content[1]`, `system[0]`, `tools[1].tools[0]`. Kept beside the
 * representation rather than in it, so that equal items stay equal wherever they stood. Most requests lose nothing, and
 * no path is asked for: paths are written, and things made findable, only on demand.
 */
export class Places {
  /** What each place is inside of, and the way from there: a position in a list, or the name of a member. */
  readonly #outer: Place[] = [];
  readonly #steps: (number | string)[] = [];
  /** Entries that were put and not yet looked up. */
  readonly #things: object[] = [];
  readonly #stood: Place[] = [];
  #found: Map<object, Place> | undefined;

  inside(outer: Place, step: number | string): Place {
    this.#steps.push(step);
    return this.#outer.push(outer) - 1;
  }

  /** Remembers where an item, part or tool stood, and returns it. */
  put<T extends object>(thing: T, place: Place): T {
    this.#things.push(thing);
    this.#stood.push(place);
    return thing;
  }

  /** The path of a thing; undefined for what the caller did not write. */
  of(thing: object): string | undefined {
    this.#found ??= new Map();
    for (const [index, put] of this.#things.entries()) this.#found.set(put, this.#stood[index] ?? '');
    this.#things.length = 0;
    this.#stood.length = 0;
    const place = this.#found.get(thing);
    return place === undefined ? undefined : this.pathOf(place);
  }

  /** A place in the words that errors and reports use. */
  pathOf(place: Place): string {
    if (typeof place === 'string') return place;
    const outer = this.pathOf(this.#outer[place] ?? '');
    const step = this.#steps[place] ?? '';
    return typeof step === 'number' ? `${outer}[${step}]` : `${outer}.${step}`;
  }
}
