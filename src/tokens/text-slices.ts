/** Characters of a slice: so few that counting one takes no more than some hundredths of a second. */
export const SLICE_CHARACTERS = 8192;

/**
 * Texts in slices of bounded length. Of texts with more than `most` characters the slices are a sample, taken at even
 * distances: what stands at one place must not speak for all the rest.
 */
export function slicesOf(texts: readonly string[], most: number): string[][] {
  const total = charactersOf(texts);
  const all = Math.ceil(total / SLICE_CHARACTERS);
  const count = Math.min(all, Math.max(1, Math.floor(most / SLICE_CHARACTERS)));
  const distance = total / count;
  const cursor = new Cursor(texts);
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor(index * distance);
    const to = index === count - 1 ? total : Math.floor((index + 1) * distance);
    return cursor.take(from, Math.min(to, from + SLICE_CHARACTERS));
  });
}

/** Characters of all texts together. */
export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}

/** Reads several texts as if they were one, from the beginning to the end. */
class Cursor {
  readonly #texts: readonly string[];
  #index = 0;
  /** Where the current text begins. */
  #offset = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** What stands between two places, the first of which is not before any that was read. */
  take(from: number, to: number): string[] {
    const taken: string[] = [];
    for (;;) {
      const text = this.#texts[this.#index];
      if (text === undefined || this.#offset >= to) return taken;
      const end = this.#offset + text.length;
      if (end > from) taken.push(text.slice(Math.max(0, from - this.#offset), to - this.#offset));
      if (end > to) return taken;
      this.#index++;
      this.#offset = end;
    }
  }
}
