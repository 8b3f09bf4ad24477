import type { BodyFrame, ContentTaker } from './body-decoder.ts';
import { CARRIAGE_RETURN, hexadecimalDigit, isText, isToken, LINE_FEED, SEMICOLON } from './characters.ts';
import { parseFieldLines, type SectionProblem, unfold } from './fields.ts';
import type { ReadingRules } from './reading-rules.ts';

/** Inside of a chunk's extensions: `;name`, `;name=value` or `;name="quoted value"`, without blanks. */
type ExtensionPlace =
  | 'name-start'
  | 'name'
  | 'value-start'
  | 'value'
  | 'quoted'
  | 'quoted-escape'
  | 'quoted-end';

/** What is expected next. `extension-text`: extensions that are not checked. */
type Place =
  | 'size'
  | ExtensionPlace
  | 'extension-text'
  | 'size-end'
  | 'content'
  | 'content-return'
  | 'content-end'
  | 'trailers'
  | 'over';

const EQUALS_SIGN = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A body in chunks (RFC 9112, 7.1): extensions and trailers are checked and dropped. */
export class ChunkedFrame implements BodyFrame {
  readonly #rules: ReadingRules;
  readonly #maxTrailerBytes: number;
  #place: Place = 'size';
  /** The size of the chunk while its digits are read, then the bytes of it that are still to come. */
  #left = 0;
  #digits = 0;
  /** Digits and extensions of the current line. */
  #lineBytes = 0;
  /** Extensions of the whole body. */
  #extensionBytes = 0;
  #trailers: number[] | undefined;

  constructor(rules: ReadingRules, maxTrailerBytes = rules.maxTrailerBytes) {
    this.#rules = rules;
    this.#maxTrailerBytes = maxTrailerBytes;
  }

  get isOver(): boolean {
    return this.#place === 'over';
  }

  take(bytes: Buffer, from: number, to: number, taker: ContentTaker): number | SectionProblem {
    let at = from;
    while (at < to && this.#place !== 'over') {
      if (this.#place === 'content') {
        const end = Math.min(to, at + this.#left);
        taker.onContent(bytes, at, end);
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#place = 'content-return';
      } else {
        const next = this.#after(this.#place, bytes[at] as number);
        if (next === 'malformed' || next === 'too-large') return next;
        this.#place = next;
        at++;
      }
    }
    return at;
  }

  /** Where one byte of the frame leads from a place, or why it must not be there. */
  #after(place: Exclude<Place, 'content' | 'over'>, byte: number): Place | SectionProblem {
    switch (place) {
      case 'size':
        return this.#digits > 0 ? this.#afterDigit(byte) : this.#digit(byte);
      case 'size-end':
        this.#digits = 0;
        this.#lineBytes = 0;
        if (byte !== LINE_FEED) return 'malformed';
        return this.#left === 0 ? 'trailers' : 'content';
      case 'content-return':
        return byte === CARRIAGE_RETURN ? 'content-end' : 'malformed';
      case 'content-end':
        return byte === LINE_FEED ? 'size' : 'malformed';
      case 'trailers':
        return this.#trailer(byte);
      default:
        return this.#extension(place, byte);
    }
  }

  #afterDigit(byte: number): Place | SectionProblem {
    if (byte === CARRIAGE_RETURN) return 'size-end';
    if (byte !== SEMICOLON) return this.#digit(byte);
    return this.#rules.checksExtensions ? 'name-start' : 'extension-text';
  }

  #digit(byte: number): Place | SectionProblem {
    const { maxSizeDigits, maxSizeLineBytes } = this.#rules;
    const digit = hexadecimalDigit(byte);
    if (digit === -1 || ++this.#digits > maxSizeDigits || ++this.#lineBytes > maxSizeLineBytes)
      return 'malformed';
    this.#left = this.#left * 16 + digit;
    return this.#left <= Number.MAX_SAFE_INTEGER ? 'size' : 'malformed';
  }

  #extension(place: ExtensionPlace | 'extension-text', byte: number): Place | SectionProblem {
    const { maxSizeLineBytes, maxExtensionBytes } = this.#rules;
    const next = place === 'extension-text' ? afterInText(byte) : afterInExtension(place, byte);
    if (next === 'size-end' || next === 'malformed') return next;
    const isTooLong = ++this.#lineBytes > maxSizeLineBytes || ++this.#extensionBytes > maxExtensionBytes;
    return isTooLong ? 'malformed' : next;
  }

  #trailer(byte: number): Place | SectionProblem {
    this.#trailers ??= [];
    const trailers = this.#trailers;
    if (trailers.push(byte) > this.#maxTrailerBytes) return 'too-large';
    if (byte !== LINE_FEED) return isText(byte) || byte === CARRIAGE_RETURN ? 'trailers' : 'malformed';
    if (trailers.at(-2) !== CARRIAGE_RETURN) return 'malformed';
    // An empty line ends them: the byte before it ended a line, or there is none.
    if (trailers.length > 2 && trailers.at(-3) !== LINE_FEED) return 'trailers';
    this.#trailers = undefined;
    const lines = Buffer.from(trailers).toString('latin1', 0, trailers.length - 2);
    return areTrailers(lines, this.#rules) ? 'over' : 'malformed';
  }
}

function areTrailers(lines: string, { joinsFoldedLines, maxFields, refusedTrailers }: ReadingRules): boolean {
  const text = joinsFoldedLines ? unfold(lines) : lines;
  const fields = text === undefined ? 'malformed' : parseFieldLines(text, 0, maxFields);
  if (typeof fields === 'string') return false;
  return fields.every((field, index) => index % 2 === 1 || !refusedTrailers.has(field.toLowerCase()));
}

function afterInText(byte: number): Place | 'malformed' {
  if (byte === CARRIAGE_RETURN) return 'size-end';
  return isText(byte) ? 'extension-text' : 'malformed';
}

/** Where one byte leads inside of extensions. */
function afterInExtension(place: ExtensionPlace, byte: number): Place | 'malformed' {
  switch (place) {
    case 'name-start':
      return isToken(byte) ? 'name' : 'malformed';
    case 'name':
      if (byte === EQUALS_SIGN) return 'value-start';
      return isToken(byte) ? 'name' : afterExtension(byte);
    case 'value-start':
      if (byte === QUOTE) return 'quoted';
      return isToken(byte) ? 'value' : 'malformed';
    case 'value':
      return isToken(byte) ? 'value' : afterExtension(byte);
    case 'quoted':
      if (byte === QUOTE) return 'quoted-end';
      if (byte === BACKSLASH) return 'quoted-escape';
      return isText(byte) ? 'quoted' : 'malformed';
    case 'quoted-escape':
      return isText(byte) ? 'quoted' : 'malformed';
    case 'quoted-end':
      return afterExtension(byte);
  }
}

function afterExtension(byte: number): Place | 'malformed' {
  if (byte === SEMICOLON) return 'name-start';
  return byte === CARRIAGE_RETURN ? 'size-end' : 'malformed';
}
