/**
 * Text that grows by small pieces. Adding strings one by one makes a tree with a node for every piece, many times as
 * large as the text; here the pieces are joined from time to time.
 */
export class GrowingText {
  #text = '';
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= PIECES) this.#join();
  }

  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    if (this.#pieces.length === 0) return;
    this.#pieces.unshift(this.#text);
    this.#text = this.#pieces.join('');
    this.#pieces = [];
  }
}

/** Pieces that are kept apart at most. */
const PIECES = 512;
