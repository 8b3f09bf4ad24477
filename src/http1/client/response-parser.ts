import { type BodyFrame, type ContentTaker, LengthFrame, UntilCloseFrame } from '../body-decoder.ts';
import { isLineBreak } from '../characters.ts';
import { ChunkedFrame } from '../chunked-decoder.ts';
import { parseFieldLines, type SectionProblem, unfold } from '../fields.ts';
import { RESPONSE_RULES } from '../reading-rules.ts';
import { TransportProblem } from './transport-problem.ts';

/** Head of a response. */
export interface Head {
  readonly status: number;
  /** Lower-case names; repeated headers joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

const SECTION_END = '\r\n\r\n';
const BEGINNING = 'HTTP/1.';

const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const MINOR_AT = 7;
const STATUS_AT = 9;

/** A tab in a field that frames the response: `chunked` with a tab behind it is no coding at all for some readers. */
const TAB_IN_FRAMING = /(?:^|\r\n)(?:content-length|transfer-encoding):[^\r]*\t/i;
const LONE_LINE_FEED = /[^\r]\n/;
const CLOSE_OPTION = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const DIGITS = /^\d{1,15}$/;
const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

/**
 * Reads responses of HTTP/1.1 from bytes that are cut anywhere, one after another. Synchronous, without I/O. A
 * response that two readers could frame differently is refused: content behind the upstream must not forge the
 * response to another request.
 */
export class ResponseParser implements ContentTaker {
  readonly #headBytes: number;
  #place: 'head' | 'body' | 'end' = 'head';
  #body: BodyFrame | undefined;
  /** The head so far, and its last characters. */
  #text = '';
  #tail = '';
  /** Bytes that heads and trailers of this response may still have. */
  #sectionBytesLeft: number;
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

  /** Begins the next response. */
  begin(): void {
    this.#place = 'head';
    this.#body = undefined;
    this.#text = '';
    this.#tail = '';
    this.#sectionBytesLeft = this.#headBytes;
    this.#isLast = false;
    this.#head = undefined;
  }

  /** The head, once after it has come. It is not kept: a stream outlives the need of its head by far. */
  takeHead(): Head | undefined {
    const head = this.#head;
    this.#head = undefined;
    return head;
  }

  /** The whole response was read. */
  get isEnded(): boolean {
    return this.#place === 'end';
  }

  /** The connection must not carry another request: the server closes it, or sent bytes beyond the response. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /**
   * Reads the first `length` bytes. Content in several pieces is moved together in place, between `bodyFrom` and
   * `bodyTo`. After a problem nothing more may be read; what preceded it in the same bytes stays valid.
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
      if (this.#place === 'head') this.#readHead(bytes, length);
      else if (this.#place === 'body') this.#readBody(bytes, length);
      else {
        // No request asked for these bytes.
        this.#isLast = true;
        return;
      }
    }
  }

  /** The server sends nothing more. Throws a TransportProblem if the response is not complete. */
  close(): void {
    if (this.#body instanceof UntilCloseFrame) this.#end();
    if (this.#place !== 'end') throw endedEarly();
  }

  /** For the body frame: adds content behind what this read has brought before. */
  onContent(bytes: Buffer, from: number, to: number): void {
    if (this.bodyTo === this.bodyFrom) {
      this.bodyFrom = from;
      this.bodyTo = to;
      return;
    }
    bytes.copyWithin(this.bodyTo, from, to);
    this.bodyTo += to - from;
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
    const fieldsAt = section.indexOf('\r\n') + 2;
    if (!STATUS_LINE.test(section.slice(0, fieldsAt - 2))) throw notHttp();
    const status = Number(section.slice(STATUS_AT, STATUS_AT + 3));
    if (status === 101) throw notHttp();
    const headers = fieldsOf(section.slice(fieldsAt));
    // An interim response: the final one follows.
    if (status < 200) return;
    this.#isLast = section[MINOR_AT] !== '1' || CLOSE_OPTION.test(headers.connection ?? '');
    this.#beginBody(status, headers);
    this.#head = { status, headers };
  }

  /** Some servers write line breaks before a response, or one too many after a `100 Continue`. */
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
    if (NO_BODY.has(status) || Number(announced) === 0) {
      this.#end();
    } else {
      this.#place = 'body';
      this.#body = this.#frameOf(coding?.toLowerCase(), announced);
    }
  }

  #frameOf(coding: string | undefined, announced: string | undefined): BodyFrame {
    if (coding === 'chunked') return new ChunkedFrame(RESPONSE_RULES, this.#sectionBytesLeft);
    if (coding !== undefined && coding !== 'identity') throw notHttp();
    return announced === undefined ? new UntilCloseFrame() : new LengthFrame(Number(announced));
  }

  #readBody(bytes: Buffer, length: number): void {
    const body = this.#body as BodyFrame;
    const after = body.take(bytes, this.#at, length, this);
    if (typeof after === 'string') throw problemOf(after);
    this.#at = after;
    if (body.isOver) this.#end();
  }

  #end(): void {
    this.#place = 'end';
    this.#body = undefined;
  }

  /** The lines of the head, without the empty one that ends it; undefined until that has come. */
  #section(bytes: Buffer, length: number): string | undefined {
    const from = this.#at;
    if (this.#tail === '') {
      // Nearly always the whole head comes in one read.
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
    if (this.#sectionBytesLeft < 0) throw tooLarge();
  }
}

/** Field lines by lower-case name. Throws if they are malformed. */
function fieldsOf(lines: string): Record<string, string> {
  if (lines.includes('\t') && TAB_IN_FRAMING.test(lines)) throw notHttp();
  const text = unfold(lines);
  const fields = text === undefined ? 'malformed' : parseFieldLines(text, 0, RESPONSE_RULES.maxFields);
  if (typeof fields === 'string') throw problemOf(fields);
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = (fields[index] as string).toLowerCase();
    const value = fields[index + 1] as string;
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

function problemOf(problem: SectionProblem): TransportProblem {
  return problem === 'too-large' ? tooLarge() : notHttp();
}

function tooLarge(): TransportProblem {
  return new TransportProblem('too-large', 'the head of the answer is too large');
}

function notHttp(): TransportProblem {
  return new TransportProblem('reset', 'the answer is not valid HTTP');
}

function endedEarly(): TransportProblem {
  return new TransportProblem('reset', 'connection closed before the answer ended');
}
