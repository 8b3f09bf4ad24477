/** A link in a text, `[words](address)`; places are counted in UTF-16 units. */
export interface MarkdownLink {
  readonly address: string;
  readonly start: number;
  /** Behind the last character. */
  readonly end: number;
}

/** Open brackets that are remembered: links in links are rare, and text full of brackets must not take memory. */
const MAX_OPEN_BRACKETS = 16;

const MAX_ADDRESS_CHARACTERS = 4096;

/** Finds the links of a text that comes in pieces. A character costs the same wherever it is cut. */
export class MarkdownLinks {
  /** Characters before the current piece. */
  #offset = 0;
  /** Places of open brackets, the innermost last. */
  #brackets: number[] = [];
  /** Where the bracket began that the last character closed; undefined: it closed none. */
  #closed: number | undefined;
  /** Inside an address: where its link began, its characters, and parentheses that are open in it. */
  #address: { readonly start: number; text: string; depth: number } | undefined;
  #isEscaped = false;
  #last = '';

  /** The links that this piece completes. */
  push(piece: string): MarkdownLink[] {
    const found: MarkdownLink[] = [];
    for (let index = 0; index < piece.length; index++) {
      const character = piece[index] as string;
      const at = this.#offset + index;
      if (this.#address === undefined) this.#readText(character, at);
      else {
        const address = this.#readAddress(character);
        if (address !== undefined) found.push({ ...address, end: at + 1 });
      }
      this.#last = character;
    }
    this.#offset += piece.length;
    return found;
  }

  #readText(character: string, at: number): void {
    const closed = this.#closed;
    this.#closed = undefined;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return;
    }
    switch (character) {
      case '\\':
        this.#isEscaped = true;
        return;
      case '[':
        // `![` begins an image, not a link: the bracket is kept to pair the closing one.
        this.#brackets.push(this.#last === '!' ? -1 : at);
        if (this.#brackets.length > MAX_OPEN_BRACKETS) this.#brackets.shift();
        return;
      case ']':
        this.#closed = this.#brackets.pop();
        return;
      case '(':
        if (closed === undefined) return;
        this.#address = { start: closed, text: '', depth: 0 };
        return;
      case '\n':
        // A link does not reach over an empty line.
        if (this.#last === '\n') this.#brackets = [];
    }
  }

  /** The link whose address this character ends. */
  #readAddress(character: string): Omit<MarkdownLink, 'end'> | undefined {
    const address = this.#address;
    if (address === undefined) return undefined;
    if (character === ')' && address.depth === 0) {
      this.#address = undefined;
      const [words = ''] = address.text.trim().split(/\s/, 1);
      if (address.start < 0 || words === '') return undefined;
      return { address: words.replace(/^<|>$/g, ''), start: address.start };
    }
    if (character === '\n' || address.text.length >= MAX_ADDRESS_CHARACTERS) {
      this.#address = undefined;
      this.#brackets = [];
      return undefined;
    }
    if (character === '(') address.depth++;
    else if (character === ')') address.depth--;
    address.text += character;
    return undefined;
  }
}
