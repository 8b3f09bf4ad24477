import {
  CARRIAGE_RETURN,
  hexadecimalDigit,
  isText,
  LINE_FEED,
  SEMICOLON,
} from '../../kit/http-characters.ts';
import type { BodyFrame, ContentTaker } from './body-frame.ts';
import { parseHeaderLines } from './request-head.ts';

/** What is expected next. */
type Place =
  | 'size'
  | 'extension'
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
      case 'extension':
        if (byte === CARRIAGE_RETURN) return 'size-end';
        return isText(byte) && ++this.#extensionBytes <= MOST_IDLE_BYTES ? 'extension' : undefined;
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
    }
  }

  #afterDigit(byte: number): Place | undefined {
    if (byte === CARRIAGE_RETURN) return 'size-end';
    return byte === SEMICOLON ? 'extension' : this.#digit(byte);
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
    return text.endsWith('\r\n') && typeof parseHeaderLines(text.slice(0, -2), 0) !== 'string'
      ? 'over'
      : undefined;
  }
}
