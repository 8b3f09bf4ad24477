/**
 * Text that grows by small pieces. Concatenating strings makes a tree with a node for every piece, many times as large
 * as the text. Here pieces are joined into blocks, blocks into larger ones, and so on: every character is copied once
 * at each of a few levels.
 */
export class GrowingText {
  /** The newest pieces, not yet in a block. */
  #pieces: string[] = [];
  /** Blocks of pieces, then blocks of blocks: text of a higher level precedes that of a lower one. */
  #levels: string[][] | undefined;

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < PIECES_PER_BLOCK) return;
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
  if (texts.length < BLOCKS_PER_LEVEL) return;
  levels[level] = [];
  addTo(levels, level + 1, texts.join(''));
}

/**
 * Pieces before they are joined into a block. Few, because a slice keeps the whole text it was cut from in memory, also
 * while a stream waits for its reader.
 */
const PIECES_PER_BLOCK = 64;

/** Blocks of a level before they are joined into one of the next. */
const BLOCKS_PER_LEVEL = 512;
