/** Characters of `_` and the number of a tool. */
const MAX_SUFFIX_CHARACTERS = 7;

/** Gives out unique names: a repeated name gets a number. */
export class NamePool {
  readonly #taken: Set<unknown>;
  readonly #maxLength: number;
  /** The next number for names with the same beginning: for long names the same number would make the same name. */
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<unknown>, maxLength: number) {
    this.#taken = new Set(taken);
    this.#maxLength = maxLength;
  }

  take(wanted: string): string {
    const name = this.#taken.has(wanted) ? this.#numbered(wanted) : wanted;
    this.#taken.add(name);
    return name;
  }

  #numbered(wanted: string): string {
    const stem = wanted.slice(0, this.#maxLength - MAX_SUFFIX_CHARACTERS);
    for (let number = this.#numbers.get(stem) ?? 2; ; number++) {
      const suffix = `_${number}`;
      const name = wanted.slice(0, this.#maxLength - suffix.length) + suffix;
      if (this.#taken.has(name)) continue;
      this.#numbers.set(stem, number + 1);
      return name;
    }
  }
}
