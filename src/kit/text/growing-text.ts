/**
 * Text that grows by small pieces. Adding strings one by one makes a tree with a node for every piece, many times as
 * large as the text; here the pieces are joined to blocks, the blocks to larger ones, and so on. Every character is
 * copied once at each level, and there are few levels.
 */
export class GrowingText {
  /** What came last. */
  #pieces: string[] = [];
  /** Blocks of pieces, then blocks of blocks: what is at a higher level stands before what is at a lower one. */
  #levels: string[][] | undefined;

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < MOST_PIECES) return;
    const block = this.#pieces.join('');
    this.#pieces = [];
    this.#levels ??= [];
    addTo(this.#levels, 0, block);
  }

  toString(): string {
    if (this.#levels === undefined && this.#pieces.length <= 1) return this.#pieces[0] ?? '';
    const blocks = this.#levels?.toReversed().flat() ?? [];
    const text = [...blocks, ...this.#pieces].join('');
    this.#pieces = [];
    this.#levels = [[], [text]];
    return text;
  }
}

function addTo(levels: string[][], level: number, text: string): void {
  const texts = levels[level] ?? [];
  levels[level] = texts;
  texts.push(text);
  if (texts.length < MOST_BLOCKS) return;
  levels[level] = [];
  addTo(levels, level + 1, texts.join(''));
}

/**
 * Pieces that are kept apart at most. Few, since a piece that was cut out of a larger text keeps all of that in memory, and a
 * stream that waits for its reader keeps the pieces.
 */
const MOST_PIECES = 64;

/** Blocks that one level keeps apart at most. */
const MOST_BLOCKS = 512;
