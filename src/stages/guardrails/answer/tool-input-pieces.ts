import { MIN_NUMBER_CHARACTERS } from '../texts/tool-input.ts';
import type { ReceivedText } from './received-text.ts';

/** Characters of something outside of strings that are held back until its end: numbers are shorter. */
const MAX_BARE_CHARACTERS = 512;

/** Numbers and words of JSON. */
const SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

const WORD = /^[a-z]/;

const BETWEEN_VALUES = /[\s{}[\],:]/;

/**
 * Scans the input of a function call that comes back in pieces, string by string with escapes resolved, so that what
 * is replaced stays JSON. Numbers are scanned too: one that is replaced becomes a string. What is no JSON is scanned as
 * plain text.
 */
export class ToolInputPieces {
  readonly #open: () => ReceivedText;
  /** The string, or the text that is no JSON, that is being read. */
  #text: ReceivedText | undefined;
  #isString = false;
  /** An escape sequence of which there is not all yet. */
  #escape = '';
  /** A number or word of which there is not all yet. */
  #bare = '';
  #isChanged = false;

  constructor(open: () => ReceivedText) {
    this.#open = open;
  }

  get isChanged(): boolean {
    return this.#isChanged || this.#text?.isChanged === true;
  }

  /** Returns the characters that can be forwarded. */
  push(piece: string): string {
    let release = '';
    for (let index = 0; index < piece.length; ) {
      if (!this.#isString) {
        release += this.#outside(piece[index] as string);
        index++;
        continue;
      }
      const end = this.#endOfRun(piece, index);
      if (end > index) release += written(this.#pushed(piece.slice(index, end)));
      if (end < piece.length) release += this.#inside(piece[end] as string);
      index = end + 1;
    }
    return release;
  }

  end(): string {
    if (!this.#isString) return this.#endBare() + this.#endText();
    // Cut off inside of a string, perhaps inside of an escape sequence.
    const rest = this.#escape;
    this.#escape = '';
    return written(this.#endText()) + rest;
  }

  /** Where characters end that stand for themselves. */
  #endOfRun(piece: string, from: number): number {
    if (this.#escape !== '') return from;
    let end = from;
    while (end < piece.length && piece[end] !== '"' && piece[end] !== '\\') end++;
    return end;
  }

  /** A quote, or a character of an escape sequence. */
  #inside(character: string): string {
    if (character === '"' && this.#escape === '') {
      this.#isString = false;
      return `${written(this.#endText())}"`;
    }
    this.#escape += character;
    const length = this.#escape[1] === 'u' ? 6 : 2;
    if (this.#escape.length < length) return '';
    const sequence = this.#escape;
    this.#escape = '';
    return written(this.#pushed(unescaped(sequence)));
  }

  #outside(character: string): string {
    if (character === '"') {
      const before = this.#endBare() + this.#endText();
      this.#text = this.#open();
      this.#isString = true;
      return `${before}"`;
    }
    if (this.#text !== undefined) return this.#pushed(character);
    if (BETWEEN_VALUES.test(character)) {
      const before = this.#endBare();
      return before + (this.#text === undefined ? character : this.#pushed(character));
    }
    this.#bare += character;
    return this.#bare.length < MAX_BARE_CHARACTERS ? '' : this.#beginText();
  }

  /** Ends a number or word. What is neither begins a text that is no JSON, up to the next string. */
  #endBare(): string {
    const bare = this.#bare;
    if (bare === '') return '';
    if (!SCALAR.test(bare)) return this.#beginText();
    this.#bare = '';
    if (bare.length < MIN_NUMBER_CHARACTERS || WORD.test(bare)) return bare;
    const text = this.#open();
    const release = text.push(bare) + text.end();
    if (!text.isChanged) return release;
    this.#isChanged = true;
    return JSON.stringify(release);
  }

  #beginText(): string {
    this.#text = this.#open();
    const bare = this.#bare;
    this.#bare = '';
    return this.#pushed(bare);
  }

  #pushed(piece: string): string {
    return this.#text?.push(piece) ?? '';
  }

  #endText(): string {
    const text = this.#text;
    if (text === undefined) return '';
    this.#text = undefined;
    const release = text.end();
    if (text.isChanged) this.#isChanged = true;
    return release;
  }
}

/** Text as it stands inside of a JSON string. */
function written(text: string): string {
  return text === '' ? '' : JSON.stringify(text).slice(1, -1);
}

function unescaped(sequence: string): string {
  try {
    return JSON.parse(`"${sequence}"`) as string;
  } catch {
    return sequence;
  }
}
