/** Character codes of JSON's punctuation. */
export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;

const DIGIT_0 = 48;
const DIGIT_9 = 57;
const UPPER_E = 69;
const LOWER_E = 101;

export interface JsonLimits {
  readonly depth: number;
  /** Keys of one object. */
  readonly keys: number;
  /** Values in all: members of objects and of lists; an empty object or list counts for one more. */
  readonly values: number;
}

/** Where JSON text exceeds a limit: the top-level key if it can be shown, and what is wrong. */
export interface Excess {
  readonly path: string;
  readonly problem: string;
}

const LARGE_CONTAINER_CHARACTERS = 16 * 1024;

/** Characters of a key that are kept: one more than `plainKey` shows. */
const KEY_CHARACTERS = 65;

/**
 * Scans JSON text for exceeded limits without parsing it. The text may come in pieces. Does not check validity: for
 * text that is not JSON the result means nothing.
 */
export class JsonScanner {
  readonly #limits: JsonLimits;
  /** Keys so far of each open container, and where it opened; lists have no keys. */
  readonly #keys: number[] = [];
  readonly #opened: number[] = [];
  readonly #largeFrom: number;
  #large: Map<number, number> | undefined;
  #values = 0;
  /** Characters of the pieces before this one. */
  #before = 0;
  #inString = false;
  #hasExponent = false;
  /** The last character of the previous piece was a backslash that escapes the first one of this piece. */
  #escaping = false;
  /** The beginning of the last string that may be a key of the top-level object. */
  #lastString = '';
  #topLevelKey = '';
  #excess: Excess | undefined;

  /** `largeFrom`: characters above which a container is large. */
  constructor(limits: JsonLimits, largeFrom = LARGE_CONTAINER_CHARACTERS) {
    this.#limits = limits;
    this.#largeFrom = largeFrom;
  }

  get values(): number {
    return this.#values;
  }

  get hasExponent(): boolean {
    return this.#hasExponent;
  }

  /** Large containers that are complete: where they open, and where they close. */
  get large(): ReadonlyMap<number, number> {
    return this.#large ?? new Map();
  }

  /** Scans the next piece, unless an excess was found before. */
  push(piece: string): Excess | undefined {
    if (piece !== '') this.#excess ??= this.#scan(piece);
    this.#before += piece.length;
    return this.#excess;
  }

  #scan(text: string): Excess | undefined {
    const { depth, values, keys: mostKeys } = this.#limits;
    const keys = this.#keys;
    let index = this.#inString ? this.#endOfString(text, 0) + 1 : 0;
    for (; index < text.length; index++) {
      switch (text.charCodeAt(index)) {
        case QUOTE:
          this.#lastString = '';
          index = this.#endOfString(text, index + 1);
          break;
        case COLON: {
          const level = keys.length - 1;
          const count = (keys[level] ?? 0) + 1;
          keys[level] = count;
          if (count > mostKeys) {
            if (level === 0) this.#topLevelKey = '';
            return this.#found(`an object has more than ${mostKeys} keys`);
          }
          if (level === 0) this.#topLevelKey = this.#lastString;
          break;
        }
        case OPEN_BRACE:
        case OPEN_BRACKET:
          keys.push(0);
          this.#opened.push(this.#before + index);
          this.#values++;
          if (keys.length > depth) return this.#found(`nested deeper than ${depth} levels`);
          if (this.#values > values) return this.#found(`holds more than ${values} values`);
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET: {
          keys.pop();
          const opened = this.#opened.pop();
          const closed = this.#before + index;
          if (opened !== undefined && closed - opened > this.#largeFrom) {
            this.#large ??= new Map();
            this.#large.set(opened, closed);
          }
          break;
        }
        case COMMA:
          this.#values++;
          if (this.#values > values) return this.#found(`holds more than ${values} values`);
          if (keys.length === 1) this.#topLevelKey = '';
          break;
        case UPPER_E:
        case LOWER_E:
          // Before the first character of a piece there may be a digit.
          this.#hasExponent ||= index === 0 || isDigit(text.charCodeAt(index - 1));
          break;
      }
    }
    return undefined;
  }

  #found(problem: string): Excess {
    return { path: plainKey(this.#topLevelKey), problem };
  }

  /** Index of the quote that closes the string in which `from` is, or the end of the piece. */
  #endOfString(text: string, from: number): number {
    const start = this.#escaping ? from + 1 : from;
    const end = closingQuote(text, start);
    this.#inString = end === undefined;
    this.#escaping = end === undefined && isEscaped(text, text.length, start);
    if (this.#keys.length === 1 && this.#lastString.length < KEY_CHARACTERS) {
      this.#lastString += text.slice(from, Math.min(end ?? text.length, from + KEY_CHARACTERS));
    }
    return end ?? text.length;
  }
}

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}

export function closingQuote(text: string, start: number): number | undefined {
  for (let index = text.indexOf('"', start); index !== -1; index = text.indexOf('"', index + 1)) {
    if (!isEscaped(text, index, start)) return index;
  }
  return undefined;
}

export function isEscaped(text: string, index: number, start: number): boolean {
  let first = index;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (index - first) % 2 === 1;
}

/** The key if it can be shown as a path, else an empty text. */
function plainKey(key: string): string {
  return /^[\w-]{1,64}$/.test(key) ? key : '';
}
