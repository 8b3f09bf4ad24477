/** Characters of the suffix that makes a name unique: `_` and a number. */
const MAX_SUFFIX_CHARACTERS = 7;

/** Gives out unique names: a repeated name gets a number. */
export class NamePool {
  readonly #taken: Set<unknown>;
  readonly #maxCharacters: number;
  /**
   * Next number by the beginning of a name. Long names that are cut to one beginning share it: with the same number
   * they would be the same name.
   */
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<unknown>, maxCharacters: number) {
    this.#taken = new Set(taken);
    this.#maxCharacters = maxCharacters;
  }

  take(wanted: string): string {
    const name = this.#taken.has(wanted) ? this.#numbered(wanted) : wanted;
    this.#taken.add(name);
    return name;
  }

  #numbered(wanted: string): string {
    const stem = wanted.slice(0, this.#maxCharacters - MAX_SUFFIX_CHARACTERS);
    for (let number = this.#numbers.get(stem) ?? 2; ; number++) {
      const suffix = `_${number}`;
      const name = wanted.slice(0, this.#maxCharacters - suffix.length) + suffix;
      if (this.#taken.has(name)) continue;
      this.#numbers.set(stem, number + 1);
      return name;
    }
  }
}
