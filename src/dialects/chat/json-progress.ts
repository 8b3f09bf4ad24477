const QUOTE = 34;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Follows JSON text that comes in pieces, and tells whether it may be over. Looks only at quotes and brackets, and at
 * every character once: parsing what came so far with every piece would take for ever.
 */
export class JsonProgress {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** A number, `true`, `false` or `null` at the top. */
  #isInWord = false;
  /** Values at the top, the one that is being written not counted unless it is a word. */
  #values = 0;
  #isEmpty = true;

  /** Nothing has come yet. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** One value, and nothing open. */
  get isWhole(): boolean {
    return this.#values === 1 && this.#depth === 0 && !this.#isInString;
  }

  add(piece: string): void {
    if (piece !== '') this.#isEmpty = false;
    for (let index = 0; index < piece.length; index++) {
      if (this.#isInString) this.#readInString(piece.charCodeAt(index));
      else this.#read(piece.charCodeAt(index));
    }
  }

  #readInString(character: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === BACKSLASH) this.#isEscaped = true;
    else if (character === QUOTE) {
      this.#isInString = false;
      this.#endValue();
    }
  }

  #read(character: number): void {
    switch (character) {
      case QUOTE:
        this.#isInString = true;
        this.#isInWord = false;
        return;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#depth++;
        this.#isInWord = false;
        return;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#depth = Math.max(this.#depth - 1, 0);
        this.#endValue();
        return;
      default:
        this.#readWord(isSpace(character));
    }
  }

  #readWord(isOver: boolean): void {
    if (!isOver && !this.#isInWord && this.#depth === 0) this.#values++;
    this.#isInWord = !isOver;
  }

  #endValue(): void {
    if (this.#depth === 0) this.#values++;
  }
}

function isSpace(character: number): boolean {
  return character === 32 || character === 9 || character === 10 || character === 13;
}
