import type { BodyDecoder, ContentSink } from './body-decoder.ts';
import { CARRIAGE_RETURN, hexadecimalDigit, isText, isToken, LINE_FEED, SEMICOLON } from './characters.ts';
import { parseFieldLines, type SectionProblem, unfoldLines } from './fields.ts';
import type { ReadingRules } from './reading-rules.ts';

/** States inside of a chunk's extensions: `;name`, `;name=value` or `;name="quoted value"`, without blanks. */
type ExtensionState =
  | 'name-start'
  | 'name'
  | 'value-start'
  | 'value'
  | 'quoted'
  | 'quoted-escape'
  | 'quoted-end';

/** The element that the next byte belongs to. `extension-text`: extensions that are not checked. */
type State =
  | 'size'
  | ExtensionState
  | 'extension-text'
  | 'size-end'
  | 'content'
  | 'content-return'
  | 'content-end'
  | 'trailers'
  | 'done';

const EQUALS_SIGN = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A body in chunks (RFC 9112, 7.1): extensions and trailers are checked and dropped. */
export class ChunkedDecoder implements BodyDecoder {
  readonly #rules: ReadingRules;
  readonly #maxTrailerBytes: number;
  #state: State = 'size';
  /** The size of the chunk while its digits are read, then the bytes of it that are still to come. */
  #left = 0;
  #sizeDigits = 0;
  /** Digits and extensions of the current line. */
  #lineBytes = 0;
  /** Extensions of the whole body. */
  #extensionBytes = 0;
  #trailers: number[] | undefined;

  constructor(rules: ReadingRules, maxTrailerBytes = rules.maxTrailerBytes) {
    this.#rules = rules;
    this.#maxTrailerBytes = maxTrailerBytes;
  }

  get isDone(): boolean {
    return this.#state === 'done';
  }

  decode(bytes: Buffer, from: number, to: number, sink: ContentSink): number | SectionProblem {
    let at = from;
    while (at < to && this.#state !== 'done') {
      if (this.#state === 'content') {
        const end = Math.min(to, at + this.#left);
        sink.onContent(bytes, at, end);
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = 'content-return';
      } else {
        const next = this.#nextState(this.#state, bytes[at] as number);
        if (next === 'malformed' || next === 'too-large') return next;
        this.#state = next;
        at++;
      }
    }
    return at;
  }

  /** The state that follows when `byte` is read in `state`, or why the byte must not be there. */
  #nextState(state: Exclude<State, 'content' | 'done'>, byte: number): State | SectionProblem {
    switch (state) {
      case 'size':
        return this.#sizeDigits > 0 ? this.#afterDigit(byte) : this.#digit(byte);
      case 'size-end':
        this.#sizeDigits = 0;
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
        return this.#extension(state, byte);
    }
  }

  #afterDigit(byte: number): State | SectionProblem {
    if (byte === CARRIAGE_RETURN) return 'size-end';
    if (byte !== SEMICOLON) return this.#digit(byte);
    return this.#rules.checksExtensions ? 'name-start' : 'extension-text';
  }

  #digit(byte: number): State | SectionProblem {
    const { maxChunkSizeDigits, maxChunkLineBytes } = this.#rules;
    const digit = hexadecimalDigit(byte);
    if (digit === -1 || ++this.#sizeDigits > maxChunkSizeDigits || ++this.#lineBytes > maxChunkLineBytes)
      return 'malformed';
    this.#left = this.#left * 16 + digit;
    return this.#left <= Number.MAX_SAFE_INTEGER ? 'size' : 'malformed';
  }

  #extension(state: ExtensionState | 'extension-text', byte: number): State | SectionProblem {
    const { maxChunkLineBytes, maxExtensionBytes } = this.#rules;
    const next = state === 'extension-text' ? afterTextByte(byte) : afterExtensionByte(state, byte);
    if (next === 'size-end' || next === 'malformed') return next;
    const isTooLong = ++this.#lineBytes > maxChunkLineBytes || ++this.#extensionBytes > maxExtensionBytes;
    return isTooLong ? 'malformed' : next;
  }

  #trailer(byte: number): State | SectionProblem {
    this.#trailers ??= [];
    const trailers = this.#trailers;
    if (trailers.push(byte) > this.#maxTrailerBytes) return 'too-large';
    if (byte !== LINE_FEED) return isText(byte) || byte === CARRIAGE_RETURN ? 'trailers' : 'malformed';
    if (trailers.at(-2) !== CARRIAGE_RETURN) return 'malformed';
    // Trailers end with an empty line: its CRLF follows a line feed, or nothing.
    if (trailers.length > 2 && trailers.at(-3) !== LINE_FEED) return 'trailers';
    this.#trailers = undefined;
    const lines = Buffer.from(trailers).toString('latin1', 0, trailers.length - 2);
    return areTrailers(lines, this.#rules) ? 'done' : 'malformed';
  }
}

function areTrailers(lines: string, { joinsFoldedLines, maxFields, refusedTrailers }: ReadingRules): boolean {
  const text = joinsFoldedLines ? unfoldLines(lines) : lines;
  const fields = text === undefined ? 'malformed' : parseFieldLines(text, 0, maxFields);
  if (typeof fields === 'string') return false;
  return fields.every((field, index) => index % 2 === 1 || !refusedTrailers.has(field.toLowerCase()));
}

function afterTextByte(byte: number): State | 'malformed' {
  if (byte === CARRIAGE_RETURN) return 'size-end';
  return isText(byte) ? 'extension-text' : 'malformed';
}

function afterExtensionByte(state: ExtensionState, byte: number): State | 'malformed' {
  switch (state) {
    case 'name-start':
      return isToken(byte) ? 'name' : 'malformed';
    case 'name':
      if (byte === EQUALS_SIGN) return 'value-start';
      return isToken(byte) ? 'name' : afterExtensionEnd(byte);
    case 'value-start':
      if (byte === QUOTE) return 'quoted';
      return isToken(byte) ? 'value' : 'malformed';
    case 'value':
      return isToken(byte) ? 'value' : afterExtensionEnd(byte);
    case 'quoted':
      if (byte === QUOTE) return 'quoted-end';
      if (byte === BACKSLASH) return 'quoted-escape';
      return isText(byte) ? 'quoted' : 'malformed';
    case 'quoted-escape':
      return isText(byte) ? 'quoted' : 'malformed';
    case 'quoted-end':
      return afterExtensionEnd(byte);
  }
}

function afterExtensionEnd(byte: number): State | 'malformed' {
  if (byte === SEMICOLON) return 'name-start';
  return byte === CARRIAGE_RETURN ? 'size-end' : 'malformed';
}
