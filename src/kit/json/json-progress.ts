import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-scanner.ts';

/**
 * Follows JSON text in pieces and tells whether it may be complete. Looks only at quotes and brackets, once at each
 * character: parsing all text again with every piece would be quadratic.
 */
export class JsonProgress {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Inside a number, `true`, `false` or `null` at the top level. */
  #isInWord = false;
  /** Values at the top level; the current one counts only if it is a word. */
  #values = 0;
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** True after one value with nothing open. */
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
