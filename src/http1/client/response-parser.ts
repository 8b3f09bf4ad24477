import {
  CARRIAGE_RETURN,
  headerValue,
  hexadecimalDigit,
  isText,
  LINE_FEED,
  SEMICOLON,
  TOKEN_CLASS,
} from '../characters.ts';
import { TransportProblem } from '../../upstream/upstream.ts';

/** Head of an answer. */
export interface Head {
  readonly status: number;
  /** Lower-case names; repeated headers joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What the next byte of an answer belongs to. */
type Place =
  | 'head'
  | 'length'
  | 'until-close'
  | 'size'
  | 'extension'
  | 'size-lf'
  | 'chunk'
  | 'chunk-cr'
  | 'chunk-lf'
  | 'trailers'
  | 'end';

const SECTION_END = '\r\n\r\n';
const BEGINNING = 'HTTP/1.';

/** Bytes of the line before a chunk: a size, and extensions that mean nothing to us. */
const MOST_SIZE_LINE_BYTES = 4096;

const FIELD_PATTERN = `[${TOKEN_CLASS}]+:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n`;
const FIELDS = new RegExp(`^(?:${FIELD_PATTERN})*$`);
/** All that a head may be once no line goes on in the next: none ends in a line feed alone, and there are no control characters. */
const HEAD = new RegExp(
  `^HTTP/1\\.[01] [1-9]\\d\\d(?: [\\t\\x20-\\x7e\\x80-\\xff]*)?\\r\\n(?:${FIELD_PATTERN})*$`,
);
const MINOR_AT = 7;
const STATUS_AT = 9;

/** Where a line goes on in the next (obs-fold), which some old servers still write. */
const FOLD = /\r\n[\t ]+/g;
/** Not where it says how long the answer is: some readers would take its first line only. */
const FOLDED_FRAMING = /(?:^|\r\n)(?:content-length|transfer-encoding):[^\r]*\r\n[\t ]/i;

const LONE_LINE_FEED = /[^\r]\n/;
const CLOSE_OPTION = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const DIGITS = /^\d{1,15}$/;
const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

/**
 * Reads answers of HTTP/1.1 from bytes that are cut anywhere, one answer after another. Synchronous, without I/O. What two
 * readers could read in two ways is refused: whoever is behind the upstream must not be able to forge the answer of somebody else.
 */
export class ResponseParser {
  readonly #headBytes: number;
  #place: Place = 'head';
  /** Of the head or the trailers, what has come so far, and the end of that. */
  #text = '';
  #tail = '';
  /** Bytes that heads and trailers of this answer may still have. */
  #sectionBytesLeft: number;
  /** Bytes that are left of the body or its chunk. */
  #left = 0;
  #sizeLineBytes = 0;
  /** Where the last read goes on. */
  #at = 0;
  #isLast = false;
  #head: Head | undefined;
  /** Where the body bytes of the last read are; the same twice when there were none. */
  bodyFrom = 0;
  bodyTo = 0;

  constructor(headBytes: number) {
    this.#headBytes = headBytes;
    this.#sectionBytesLeft = headBytes;
  }

  /** Forgets the answer that was read: another comes. */
  begin(): void {
    this.#place = 'head';
    this.#text = '';
    this.#tail = '';
    this.#sectionBytesLeft = this.#headBytes;
    this.#left = 0;
    this.#isLast = false;
    this.#head = undefined;
  }

  /** The head of the answer, when it has come since this was asked last. A stream lives long: nobody keeps it here. */
  takeHead(): Head | undefined {
    const head = this.#head;
    this.#head = undefined;
    return head;
  }

  /** The whole answer has been read. */
  get isEnded(): boolean {
    return this.#place === 'end';
  }

  /** The other side expects nothing more on the connection, or cannot be understood any more. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /**
   * Reads the first `length` bytes, in which the body is put together where it comes in pieces. After a problem no
   * further reading may follow; what was read before it, in the same bytes, stays good.
   */
  read(bytes: Buffer, length: number): TransportProblem | undefined {
    this.bodyFrom = 0;
    this.bodyTo = 0;
    this.#at = 0;
    try {
      this.#readAll(bytes, length);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof TransportProblem) return thrown;
      throw thrown;
    }
  }

  #readAll(bytes: Buffer, length: number): void {
    while (this.#at < length) {
      switch (this.#place) {
        case 'head':
          this.#readHead(bytes, length);
          break;
        case 'length':
          this.#readContent(bytes, length, 'end');
          break;
        case 'chunk':
          this.#readContent(bytes, length, 'chunk-cr');
          break;
        case 'until-close':
          this.#keep(bytes, length);
          break;
        case 'trailers':
          this.#readTrailers(bytes, length);
          break;
        case 'end':
          // Nobody asked for these.
          this.#isLast = true;
          return;
        default:
          this.#readFraming(bytes[this.#at++] ?? 0, this.#place);
      }
    }
  }

  /** The other side sends nothing more. Throws a TransportProblem when the answer is not whole. */
  close(): void {
    if (this.#place === 'until-close') this.#place = 'end';
    if (this.#place !== 'end') throw endedEarly();
  }

  #readHead(bytes: Buffer, length: number): void {
    if (this.#text === '') this.#skipLineBreaks(bytes, length);
    if (this.#at === length) return;
    const hadBeginning = this.#text.length >= BEGINNING.length;
    const section = this.#section(bytes, length);
    if (section === undefined) {
      if (!hadBeginning && !BEGINNING.startsWith(this.#text.slice(0, BEGINNING.length))) throw notHttp();
      return;
    }
    const text = HEAD.test(section) ? section : unfolded(section, section.indexOf('\r\n') + 2);
    if (text !== section && !HEAD.test(text)) throw notHttp();
    const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
    if (status === 101) throw notHttp();
    // What comes before an answer says nothing that anybody waits for.
    if (status < 200) return;
    const headers = fieldsOf(text, text.indexOf('\r\n') + 2);
    this.#isLast = text[MINOR_AT] !== '1' || CLOSE_OPTION.test(headers.connection ?? '');
    this.#beginBody(status, headers);
    this.#head = { status, headers };
  }

  /** Some servers write line breaks before an answer, or one too many after a `100 Continue`. */
  #skipLineBreaks(bytes: Buffer, length: number): void {
    const from = this.#at;
    while (this.#at < length && isLineBreak(bytes[this.#at])) this.#at++;
    this.#countSection(this.#at - from);
  }

  #beginBody(status: number, headers: Head['headers']): void {
    const coding = headers['transfer-encoding'];
    const announced = headers['content-length'];
    if (coding !== undefined && announced !== undefined) throw notHttp();
    if (announced !== undefined && !DIGITS.test(announced)) throw notHttp();
    if (NO_BODY.has(status)) this.#place = 'end';
    else if (coding !== undefined) this.#beginCoded(coding.toLowerCase());
    else if (announced !== undefined) this.#beginLength(Number(announced));
    else this.#place = 'until-close';
  }

  #beginCoded(coding: string): void {
    if (coding === 'chunked') this.#beginSize();
    else if (coding === 'identity') this.#place = 'until-close';
    else throw notHttp();
  }

  #beginLength(length: number): void {
    this.#left = length;
    this.#place = length === 0 ? 'end' : 'length';
  }

  #beginSize(): void {
    this.#place = 'size';
    this.#left = 0;
    this.#sizeLineBytes = 0;
  }

  #readContent(bytes: Buffer, length: number, after: Place): void {
    const to = Math.min(length, this.#at + this.#left);
    this.#left -= to - this.#at;
    this.#keep(bytes, to);
    if (this.#left === 0) this.#place = after;
  }

  /** Adds bytes to the body, behind those that were there already. */
  #keep(bytes: Buffer, to: number): void {
    const from = this.#at;
    this.#at = to;
    if (this.bodyTo === this.bodyFrom) {
      this.bodyFrom = from;
      this.bodyTo = to;
      return;
    }
    bytes.copyWithin(this.bodyTo, from, to);
    this.bodyTo += to - from;
  }

  #readFraming(byte: number, place: Place): void {
    switch (place) {
      case 'size':
        this.#readSize(byte);
        break;
      case 'extension':
        if (byte === CARRIAGE_RETURN) this.#place = 'size-lf';
        else if (!isText(byte)) throw notHttp();
        else this.#countSizeLine();
        break;
      case 'size-lf':
        requireByte(byte, LINE_FEED);
        if (this.#left > 0) this.#place = 'chunk';
        else this.#beginTrailers();
        break;
      case 'chunk-cr':
        requireByte(byte, CARRIAGE_RETURN);
        this.#place = 'chunk-lf';
        break;
      case 'chunk-lf':
        requireByte(byte, LINE_FEED);
        this.#beginSize();
        break;
    }
  }

  #readSize(byte: number): void {
    const digit = hexadecimalDigit(byte);
    if (digit !== -1) {
      this.#left = this.#left * 16 + digit;
      this.#countSizeLine();
      if (this.#left > Number.MAX_SAFE_INTEGER) throw notHttp();
    } else if (this.#sizeLineBytes === 0) throw notHttp();
    else if (byte === CARRIAGE_RETURN) this.#place = 'size-lf';
    else if (byte === SEMICOLON) this.#place = 'extension';
    else throw notHttp();
  }

  #countSizeLine(): void {
    if (++this.#sizeLineBytes > MOST_SIZE_LINE_BYTES) throw notHttp();
  }

  #beginTrailers(): void {
    this.#place = 'trailers';
    // The line before them ended: without any, an empty one follows.
    this.#tail = '\r\n';
  }

  #readTrailers(bytes: Buffer, length: number): void {
    const text = this.#section(bytes, length);
    if (text === undefined) return;
    if (!FIELDS.test(text) && !FIELDS.test(unfolded(text, 0))) throw notHttp();
    this.#place = 'end';
  }

  /** The lines up to an empty one, without that; undefined while it has not come. */
  #section(bytes: Buffer, length: number): string | undefined {
    const from = this.#at;
    if (this.#tail === '') {
      // Nearly always all of it is there.
      const end = bytes.indexOf(SECTION_END, from, 'latin1');
      if (end !== -1 && end + 4 <= length) {
        this.#at = end + 4;
        this.#countSection(this.#at - from);
        return bytes.toString('latin1', from, end + 2);
      }
    }
    const piece = bytes.toString('latin1', from, length);
    const seam = this.#tail + piece;
    const found = seam.indexOf(SECTION_END);
    const taken = found === -1 ? piece.length : found + 4 - this.#tail.length;
    this.#at = from + taken;
    this.#countSection(taken);
    const text = this.#text + piece.slice(0, taken);
    if (found === -1) {
      if (LONE_LINE_FEED.test(seam)) throw notHttp();
      this.#text = text;
      this.#tail = seam.slice(-3);
      return undefined;
    }
    this.#text = '';
    this.#tail = '';
    return text.slice(0, -2);
  }

  #countSection(bytes: number): void {
    this.#sectionBytesLeft -= bytes;
    if (this.#sectionBytesLeft < 0) {
      throw new TransportProblem('too-large', 'the head of the answer is too large');
    }
  }
}

/** The lines of a section, of which those from `from` on are fields, each in one piece. Throws where that is none of them. */
function unfolded(text: string, from: number): string {
  const fields = text.slice(from);
  if (FOLDED_FRAMING.test(fields) || fields.search(FOLD) === -1) throw notHttp();
  return text.slice(0, from) + fields.replace(FOLD, ' ');
}

/** The fields of a head that is well-formed, from the first of their lines on. */
function fieldsOf(text: string, from: number): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let at = from; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r\n', colon);
    const name = text.slice(at, colon).toLowerCase();
    const value = headerValue(text, colon + 1, end);
    fields[name] = Object.hasOwn(fields, name) ? `${fields[name]}, ${value}` : value;
    at = end + 2;
  }
  return fields;
}

function isLineBreak(byte: number | undefined): boolean {
  return byte === CARRIAGE_RETURN || byte === LINE_FEED;
}

function requireByte(byte: number, expected: number): void {
  if (byte !== expected) throw notHttp();
}

function notHttp(): TransportProblem {
  return new TransportProblem('reset', 'the answer is not valid HTTP');
}

function endedEarly(): TransportProblem {
  return new TransportProblem('reset', 'connection closed before the answer ended');
}
