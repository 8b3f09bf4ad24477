import {
  CARRIAGE_RETURN,
  hexadecimalDigit,
  isText,
  LINE_FEED,
  SEMICOLON,
} from './characters.ts';
import type { BodyFrame, ContentTaker } from './body-frame.ts';
import { isToken, parseHeaderLines } from './server/request-head.ts';

/** Inside of a chunk's extensions: `;name`, `;name=value` or `;name="quoted value"`, and nothing between them. */
type ExtensionPlace =
  | 'name-start'
  | 'name'
  | 'value-start'
  | 'value'
  | 'quoted'
  | 'quoted-escape'
  | 'quoted-end';

/** What is expected next. */
type Place =
  | 'size'
  | ExtensionPlace
  | 'size-end'
  | 'content'
  | 'content-return'
  | 'content-end'
  | 'trailers'
  | 'over';

/** Bytes of extensions and trailers in one body, each. Nobody reads them. */
const MOST_IDLE_BYTES = 16_384;
/** Digits of a size that is no larger than what a number holds exactly. */
const MOST_DIGITS = 13;

const EQUALS_SIGN = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Trailers that would change where a request ends or what becomes of its connection, for a server that heeds them. */
const NO_TRAILERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A body in chunks (RFC 9112, 7.1): extensions are passed over, trailers looked at and dropped. */
export class ChunkedFrame implements BodyFrame {
  #place: Place = 'size';
  /** Of the chunk: what its size says while that is read, then what is still to come. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #trailers: number[] = [];

  get isOver(): boolean {
    return this.#place === 'over';
  }

  take(bytes: Buffer, start: number, to: ContentTaker): number | undefined {
    let at = start;
    while (at < bytes.length && this.#place !== 'over') {
      if (this.#place === 'content') {
        const end = Math.min(bytes.length, at + this.#left);
        to.push(bytes.subarray(at, end));
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#place = 'content-return';
      } else {
        const next = this.#after(this.#place, bytes[at] as number);
        if (next === undefined) return undefined;
        this.#place = next;
        at++;
      }
    }
    return at;
  }

  /** Where one byte of the frame leads from a place; undefined: it must not be there. */
  #after(place: Exclude<Place, 'content' | 'over'>, byte: number): Place | undefined {
    switch (place) {
      case 'size':
        return this.#digits > 0 ? this.#afterDigit(byte) : this.#digit(byte);
      case 'size-end':
        this.#digits = 0;
        if (byte !== LINE_FEED) return undefined;
        return this.#left === 0 ? 'trailers' : 'content';
      case 'content-return':
        return byte === CARRIAGE_RETURN ? 'content-end' : undefined;
      case 'content-end':
        return byte === LINE_FEED ? 'size' : undefined;
      case 'trailers':
        return this.#trailer(byte);
      default:
        return ++this.#extensionBytes <= MOST_IDLE_BYTES ? afterInExtension(place, byte) : undefined;
    }
  }

  #afterDigit(byte: number): Place | undefined {
    if (byte === CARRIAGE_RETURN) return 'size-end';
    return byte === SEMICOLON ? 'name-start' : this.#digit(byte);
  }

  #digit(byte: number): Place | undefined {
    const digit = hexadecimalDigit(byte);
    if (digit === -1 || ++this.#digits > MOST_DIGITS) return undefined;
    this.#left = this.#left * 16 + digit;
    return 'size';
  }

  #trailer(byte: number): Place | undefined {
    const trailers = this.#trailers;
    if (trailers.push(byte) > MOST_IDLE_BYTES) return undefined;
    if (byte !== LINE_FEED) return isText(byte) || byte === CARRIAGE_RETURN ? 'trailers' : undefined;
    // An empty line ends them: what came before it was the end of a line, or nothing.
    if (trailers.length > 2 && trailers.at(-3) !== LINE_FEED) return 'trailers';
    this.#trailers = [];
    const text = String.fromCharCode(...trailers);
    return text.endsWith('\r\n') && areTrailers(text.slice(0, -2)) ? 'over' : undefined;
  }
}

function areTrailers(text: string): boolean {
  const fields = parseHeaderLines(text, 0);
  if (typeof fields === 'string') return false;
  return fields.every((field, index) => index % 2 === 1 || !NO_TRAILERS.has(field.toLowerCase()));
}

/** Where one byte leads inside of extensions; undefined: it must not be there. */
function afterInExtension(place: ExtensionPlace, byte: number): Place | undefined {
  switch (place) {
    case 'name-start':
      return isToken(byte) ? 'name' : undefined;
    case 'name':
      if (byte === EQUALS_SIGN) return 'value-start';
      return isToken(byte) ? 'name' : afterExtension(byte);
    case 'value-start':
      if (byte === QUOTE) return 'quoted';
      return isToken(byte) ? 'value' : undefined;
    case 'value':
      return isToken(byte) ? 'value' : afterExtension(byte);
    case 'quoted':
      if (byte === QUOTE) return 'quoted-end';
      if (byte === BACKSLASH) return 'quoted-escape';
      return isText(byte) ? 'quoted' : undefined;
    case 'quoted-escape':
      return isText(byte) ? 'quoted' : undefined;
    case 'quoted-end':
      return afterExtension(byte);
  }
}

function afterExtension(byte: number): Place | undefined {
  if (byte === SEMICOLON) return 'name-start';
  return byte === CARRIAGE_RETURN ? 'size-end' : undefined;
}
