/**
 * Text that grows by small pieces. Adding strings one by one makes a tree with a node for every piece, many times as
 * large as the text; here the pieces are joined to blocks, the blocks to larger ones, and so on. Every character is
 * copied once at each level, and there are few levels.
 */
export class GrowingText {
  /** The text while it is one piece, as that of a whole answer is. */
  #only = '';
  /** Pieces, then blocks of them, then blocks of blocks: what is at a higher level stands before what is at a lower one. */
  #levels: string[][] | undefined;

  add(piece: string): void {
    if (this.#levels !== undefined) this.#addTo(this.#levels, 0, piece);
    else if (this.#only === '') this.#only = piece;
    else this.#levels = [[piece], [], [this.#only]];
  }

  toString(): string {
    if (this.#levels !== undefined) {
      this.#only = this.#levels.toReversed().flat().join('');
      this.#levels = undefined;
    }
    return this.#only;
  }

  #addTo(levels: string[][], level: number, text: string): void {
    const texts = levels[level] ?? [];
    levels[level] = texts;
    texts.push(text);
    if (texts.length < MOST_TEXTS) return;
    levels[level] = [];
    this.#addTo(levels, level + 1, texts.join(''));
  }
}

/** Texts that one level keeps apart at most. */
const MOST_TEXTS = 512;
