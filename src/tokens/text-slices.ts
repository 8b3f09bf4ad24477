/** Counting a slice takes some hundredths of a second at most. */
export const SLICE_CHARACTERS = 8192;

/**
 * Splits texts into slices. For more than `most` characters the slices are a sample at even distances, so that one
 * passage does not represent all others.
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

export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}

/** Reads several texts as one, forwards. */
class Cursor {
  readonly #texts: readonly string[];
  #index = 0;
  /** Start of the current text. */
  #offset = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** The text between two offsets; `from` must not decrease between calls. */
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
