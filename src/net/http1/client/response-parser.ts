import { type BodyDecoder, type ContentSink, LengthDecoder, UntilCloseDecoder } from '../body-decoder.ts';
import { isLineBreak } from '../characters.ts';
import { ChunkedDecoder } from '../chunked-decoder.ts';
import { parseFieldLines, type SectionProblem, unfoldLines } from '../fields.ts';
import { RESPONSE_RULES } from '../reading-rules.ts';
import { closedEarly, TransportProblem } from './transport-problem.ts';

export interface ResponseHead {
  readonly status: number;
  /** Lower-case names; repeated headers joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

const SECTION_END = '\r\n\r\n';
const BEGINNING = 'HTTP/1.';

const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const MINOR_AT = 7;
const STATUS_AT = 9;

/** A tab in a field that frames the response: some parsers do not recognize `chunked` with a tab behind it. */
const TAB_IN_FRAMING = /(?:^|\r\n)(?:content-length|transfer-encoding):[^\r]*\t/i;
const LONE_LINE_FEED = /[^\r]\n/;
const CLOSE_OPTION = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const DIGITS = /^\d{1,15}$/;
const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

/**
 * Parses HTTP/1.1 responses, one after another, from bytes that are cut anywhere. Synchronous, without I/O. A response
 * that two parsers could frame differently is refused: content from behind the upstream must not forge the response to
 * another request.
 */
export class ResponseParser implements ContentSink {
  readonly #headBytes: number;
  #state: 'head' | 'body' | 'end' = 'head';
  #body: BodyDecoder | undefined;
  /** The head so far, and its last three characters: the empty line that ends it may come in two reads. */
  #partialHead = '';
  #tail = '';
  /** Bytes that heads (interim ones too) and trailers of this response may still have. */
  #sectionBytesLeft: number;
  /** Index of the next byte to parse in the current read. */
  #at = 0;
  #isLast = false;
  #head: ResponseHead | undefined;
  /** Range of the body bytes of the last read; empty if there were none. */
  bodyFrom = 0;
  bodyTo = 0;

  constructor(headBytes: number) {
    this.#headBytes = headBytes;
    this.#sectionBytesLeft = headBytes;
  }

  begin(): void {
    this.#state = 'head';
    this.#body = undefined;
    this.#partialHead = '';
    this.#tail = '';
    this.#sectionBytesLeft = this.#headBytes;
    this.#isLast = false;
    this.#head = undefined;
  }

  /** Returns the head once, after it was parsed, and forgets it: a stream lasts long after its head is used. */
  takeHead(): ResponseHead | undefined {
    const head = this.#head;
    this.#head = undefined;
    return head;
  }

  /** The whole response was read. */
  get isEnded(): boolean {
    return this.#state === 'end';
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
      if (this.#state === 'head') this.#readHead(bytes, length);
      else if (this.#state === 'body') this.#readBody(bytes, length);
      else {
        // No request asked for these bytes.
        this.#isLast = true;
        return;
      }
    }
  }

  /** The server sends nothing more. Throws a TransportProblem if the response is not complete. */
  close(): void {
    if (this.#body instanceof UntilCloseDecoder) this.#end();
    if (this.#state !== 'end') throw closedEarly();
  }

  /** Called by the body decoder: moves content behind the content that this read has brought before. */
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
    if (this.#partialHead === '') this.#skipLineBreaks(bytes, length);
    if (this.#at === length) return;
    const hadBeginning = this.#partialHead.length >= BEGINNING.length;
    const section = this.#headSection(bytes, length);
    if (section === undefined) {
      if (!hadBeginning && !BEGINNING.startsWith(this.#partialHead.slice(0, BEGINNING.length)))
        throw invalidHttp();
      return;
    }
    const fieldsAt = section.indexOf('\r\n') + 2;
    if (!STATUS_LINE.test(section.slice(0, fieldsAt - 2))) throw invalidHttp();
    const status = Number(section.slice(STATUS_AT, STATUS_AT + 3));
    if (status === 101) throw invalidHttp();
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

  #beginBody(status: number, headers: ResponseHead['headers']): void {
    const coding = headers['transfer-encoding'];
    const contentLength = headers['content-length'];
    if (coding !== undefined && contentLength !== undefined) throw invalidHttp();
    if (contentLength !== undefined && !DIGITS.test(contentLength)) throw invalidHttp();
    if (NO_BODY.has(status) || Number(contentLength) === 0) {
      this.#end();
    } else {
      this.#state = 'body';
      this.#body = this.#decoderFor(coding?.toLowerCase(), contentLength);
    }
  }

  #decoderFor(coding: string | undefined, contentLength: string | undefined): BodyDecoder {
    if (coding === 'chunked') return new ChunkedDecoder(RESPONSE_RULES, this.#sectionBytesLeft);
    if (coding !== undefined && coding !== 'identity') throw invalidHttp();
    return contentLength === undefined ? new UntilCloseDecoder() : new LengthDecoder(Number(contentLength));
  }

  #readBody(bytes: Buffer, length: number): void {
    const body = this.#body as BodyDecoder;
    const after = body.decode(bytes, this.#at, length, this);
    if (typeof after === 'string') throw problemOf(after);
    this.#at = after;
    if (body.isDone) this.#end();
  }

  #end(): void {
    this.#state = 'end';
    this.#body = undefined;
  }

  /** The lines of the head, without the empty one that ends it; undefined until that has come. */
  #headSection(bytes: Buffer, length: number): string | undefined {
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
    const text = this.#partialHead + piece.slice(0, taken);
    if (found === -1) {
      if (LONE_LINE_FEED.test(seam)) throw invalidHttp();
      this.#partialHead = text;
      this.#tail = seam.slice(-3);
      return undefined;
    }
    this.#partialHead = '';
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
  if (lines.includes('\t') && TAB_IN_FRAMING.test(lines)) throw invalidHttp();
  const text = unfoldLines(lines);
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
  return problem === 'too-large' ? tooLarge() : invalidHttp();
}

function tooLarge(): TransportProblem {
  return new TransportProblem('too-large', 'the head of the answer is too large');
}

function invalidHttp(): TransportProblem {
  return new TransportProblem('reset', 'the answer is not valid HTTP');
}
