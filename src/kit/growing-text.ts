/**
 * Text that grows by small pieces. Adding strings one by one makes a tree with a node for every piece, many times as
 * large as the text; here the pieces are joined to blocks, the blocks to larger ones, and so on. Every character is
 * copied once at each level, and there are few levels.
 */
export class GrowingText {
  /** Pieces, then blocks of them, then blocks of blocks: what is at a higher level stands before what is at a lower one. */
  #levels: string[][] = [[]];

  add(piece: string): void {
    this.#addTo(0, piece);
  }

  toString(): string {
    const text = this.#levels.toReversed().flat().join('');
    this.#levels = [[], [], [text]];
    return text;
  }

  #addTo(level: number, text: string): void {
    const texts = this.#levels[level] ?? [];
    this.#levels[level] = texts;
    texts.push(text);
    if (texts.length < MOST_TEXTS) return;
    this.#levels[level] = [];
    this.#addTo(level + 1, texts.join(''));
  }
}

/** Texts that one level keeps apart at most. */
const MOST_TEXTS = 512;
