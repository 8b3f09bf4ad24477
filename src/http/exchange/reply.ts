import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';
import type { Heartbeat, OutboundResponse } from '../../net/http1/server/outbound-response.ts';
import { headerLine, type ResponseHeadWriter } from '../../net/http1/server/response-head-writer.ts';

/** An unread rest of a body that is cheaper to skip than a new connection. */
const SKIPPABLE_BYTES = 65_536;

export interface ReplyOwner {
  /** The headers of every reply, each with its line break. Asked once, when the head is written. */
  commonHeaders(): string;
}

type Headers = Readonly<Record<string, string>>;

const NO_HEADERS: Headers = {};

const SAFETY_LINE = 'X-Content-Type-Options: nosniff\r\n';
const JSON_LINES = 'Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n';
const HTML_LINES = 'Content-Type: text/html; charset=utf-8\r\n';
const STREAM_LINES =
  'Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n';
const BYTES_LINES = 'Content-Type: application/octet-stream\r\nContent-Disposition: attachment\r\n';

/** The last chunk of a body. */
const LAST_CHUNK = '0\r\n\r\n';

/** The lengths that most pieces of a stream have, as they are written before them. */
const LENGTHS = Array.from({ length: 2048 }, (_, length) => length.toString(16));

const DONE = Promise.resolve();

/** All headers of a JSON reply but those of its exchange and of its connection, each with its line break. */
export function jsonHeaderLines(length: number, headers: Headers): string {
  return `${linesOf(JSON_LINES, headers, length)}${SAFETY_LINE}`;
}

/** `lines` and `headers` have no name in common. */
function linesOf(lines: string, headers: Headers, length: number): string {
  let all = lines;
  for (const name in headers) all += headerLine(name, headers[name] as string);
  return `${all}Content-Length: ${length}\r\n`;
}

function hexadecimal(length: number): string {
  return LENGTHS[length] ?? length.toString(16);
}

/** Writes one HTTP response: a whole reply, or a stream under back-pressure. */
export class Reply {
  readonly #request: InboundRequest;
  readonly #answer: OutboundResponse;
  readonly #owner: ReplyOwner;
  readonly #heads: ResponseHeadWriter;
  #status = 200;
  /** A head that leaves with the first piece of its body. */
  #head = '';
  /** The pieces of a stream are written with their lengths, as HTTP/1.1 has it. */
  #isChunked = false;
  #hasSentContinue = false;

  constructor(
    request: InboundRequest,
    answer: OutboundResponse,
    owner: ReplyOwner,
    heads: ResponseHeadWriter,
  ) {
    this.#request = request;
    this.#answer = answer;
    this.#owner = owner;
    this.#heads = heads;
  }

  /** The head is written: the status can no longer change. */
  get begun(): boolean {
    return this.#answer.hasBegun;
  }

  /** Everything was written, though not all of it may have left yet. */
  get ended(): boolean {
    return this.#answer.isEnded;
  }

  /** The connection was closed before the whole reply had left. */
  get gone(): boolean {
    return this.#answer.isGone;
  }

  get status(): number {
    return this.#status;
  }

  /** Writes wait for the reader. */
  get blocked(): boolean {
    return this.#answer.isBlocked;
  }

  /** The response, for another process to write. Nothing is replied here any more. */
  handOver(): OutboundResponse {
    this.#answer.hasBegun = true;
    return this.#answer;
  }

  closeConnection(): void {
    this.#answer.keepsAlive = false;
  }

  sendContinue(): void {
    this.#hasSentContinue = true;
    this.#answer.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
  }

  json(status: number, value: unknown, headers: Headers = NO_HEADERS): void {
    this.jsonText(status, JSON.stringify(value), headers);
  }

  /** JSON that is written already. Bytes are not copied: replies that share them cost nothing while they wait. */
  jsonText(status: number, text: string | Uint8Array, headers: Headers = NO_HEADERS): void {
    this.#whole(status, text, JSON_LINES, headers);
  }

  noContent(headers: Headers): void {
    let lines = '';
    for (const name in headers) lines += headerLine(name, headers[name] as string);
    if (this.#leavesUnread()) this.closeConnection();
    this.#answer.write(this.#begin(204, lines), 'latin1');
    this.#end();
  }

  html(page: Uint8Array, headers: Headers): void {
    this.#whole(200, page, HTML_LINES, headers);
  }

  file(
    bytes: Uint8Array,
    contentType: string,
    encoding: string | undefined,
    headers: Headers,
    status = 200,
  ): void {
    const type = `${headerLine('Content-Type', contentType)}Vary: Accept-Encoding\r\n`;
    this.#whole(
      status,
      bytes,
      encoding === undefined ? type : `${type}Content-Encoding: ${encoding}\r\n`,
      headers,
    );
  }

  text(text: string, contentType: string): void {
    this.#whole(
      200,
      text,
      `${headerLine('Content-Type', contentType)}Cache-Control: no-store\r\n`,
      NO_HEADERS,
    );
  }

  /** Opens an event stream that no proxy on the way should hold back. */
  beginStream(): void {
    this.#isChunked = this.#request.httpVersion !== '1.0';
    // A body without a length ends with its connection.
    if (!this.#isChunked) this.closeConnection();
    this.#head = this.#begin(200, STREAM_LINES, this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : '');
  }

  /** Begins a file that is written piece by piece, by `send`; its length is not known yet. */
  beginDownload(contentType: string, name: string): void {
    this.#isChunked = this.#request.httpVersion !== '1.0';
    if (!this.#isChunked) this.closeConnection();
    const lines = [
      headerLine('Content-Type', contentType),
      headerLine('Content-Disposition', `attachment; filename="${name}"`),
      headerLine('Cache-Control', 'no-store'),
    ];
    this.#head = this.#begin(200, lines.join(''), this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : '');
  }

  /** Begins a reply of `length` bytes, with headers that keep clients from interpreting its content. */
  beginBytes(length: number): void {
    if (this.#isUncertainOfBody) this.closeConnection();
    this.#head = this.#begin(200, `${BYTES_LINES}Content-Length: ${length}\r\nCache-Control: no-store\r\n`);
  }

  /** Writes a piece of bytes; resolves when the next may follow, the reader is gone or `signal` is aborted. */
  write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    if (!this.#hasBody) return DONE;
    const head = this.#takeHead();
    const isTaken = head === '' ? this.#answer.write(bytes, 'latin1') : this.#answer.writeBoth(head, bytes);
    return isTaken ? DONE : this.drained(signal);
  }

  /** Writes a piece of a stream. False: the reader is behind or gone, nothing should follow before `drained`. */
  send(text: string): boolean {
    return this.#put(text, Buffer.byteLength(text), '');
  }

  /** Resolves when the reader has caught up, is gone, or `signal` is aborted. */
  drained(signal: AbortSignal): Promise<void> {
    const answer = this.#answer;
    if (!answer.isBlocked || signal.aborted || answer.isGone) return DONE;
    return new Promise((resolve) => {
      const proceed = (): void => {
        signal.removeEventListener('abort', proceed);
        answer.onceWritable(undefined);
        resolve();
      };
      signal.addEventListener('abort', proceed, { once: true });
      answer.onceWritable(proceed);
    });
  }

  /** Writes without waiting: for signs of life, which are skipped while the reader is behind. */
  writeNow(text: string): void {
    if (!this.blocked) this.send(text);
  }

  /** Sets what finds out whether the reader of a stream is still there. */
  set heartbeat(heartbeat: Heartbeat | undefined) {
    this.#answer.heartbeat = heartbeat;
  }

  end(text = ''): void {
    this.#put(text, Buffer.byteLength(text), this.#isChunked ? LAST_CHUNK : '');
    this.#end();
  }

  /**
   * Resolves when everything was handed over or the connection is gone; cuts it `graceMs` after `signal`. Undefined if
   * that is so already.
   */
  flushed(signal: AbortSignal, graceMs: number): Promise<void> | undefined {
    const answer = this.#answer;
    if (answer.isFlushed || answer.isGone) return undefined;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const cut = (): void => {
        timer = setTimeout(() => answer.destroy(), graceMs);
      };
      if (signal.aborted) cut();
      else signal.addEventListener('abort', cut, { once: true });
      answer.onceFlushed(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cut);
        resolve();
      });
    });
  }

  destroy(): void {
    this.#answer.destroy();
  }

  /** Writes a piece of a stream, with the head where that still waits and with what comes behind it: all in one. */
  #put(text: string, length: number, tail: string): boolean {
    const head = this.#takeHead();
    const isFramed = this.#isChunked && length > 0;
    const framed = isFramed ? `${head}${hexadecimal(length)}\r\n${text}\r\n${tail}` : head + text + tail;
    if (framed === '') return true;
    // Where every character is one byte they need not be looked at again.
    return this.#answer.write(framed, length === text.length ? 'latin1' : 'utf8');
  }

  get #hasBody(): boolean {
    return this.#request.method !== 'HEAD';
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }

  #begin(status: number, lines: string, framing = ''): string {
    const answer = this.#answer;
    this.#status = status;
    answer.hasBegun = true;
    const all = `${lines}${SAFETY_LINE}${this.#owner.commonHeaders()}${framing}`;
    return this.#heads.head(status, all, answer.keepsAlive);
  }

  #whole(status: number, body: string | Uint8Array, lines: string, headers: Headers): void {
    const unread = this.#leavesUnread();
    if (unread) this.closeConnection();
    const length = Buffer.byteLength(body);
    const head = this.#begin(status, linesOf(lines, headers, length));
    if (!this.#hasBody) this.#answer.write(head, 'latin1');
    else if (typeof body !== 'string') this.#answer.writeBoth(head, body);
    else this.#answer.write(head + body, length === body.length ? 'latin1' : 'utf8');
    if (unread) this.#answer.endLingering();
    else this.#end();
  }

  #end(): void {
    if (!this.#request.isComplete) this.#request.discard();
    this.#answer.end();
  }

  /** Part of the body is still to come, and it is not worth waiting for. */
  #leavesUnread(): boolean {
    if (this.#request.isComplete || !this.#request.hasBody) return false;
    const { length } = this.#request.framing;
    const isSkippable = length > 0 && length <= SKIPPABLE_BYTES && !this.#isUncertainOfBody;
    return !this.#answer.keepsAlive || !isSkippable;
  }

  /**
   * A caller that was not told to send its body may go on with its next request: that must not be taken for the body.
   */
  get #isUncertainOfBody(): boolean {
    const { isComplete, framing } = this.#request;
    return framing.expectsContinue && !this.#hasSentContinue && !isComplete;
  }
}
