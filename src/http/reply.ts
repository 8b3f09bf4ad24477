import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { declaredLength, hasBody } from './declared-length.ts';

/** An unread rest of a body that is cheaper to skip than a new connection. */
const SKIPPABLE_BYTES = 65_536;

/** What a reply asks of whom it belongs to. */
export interface ReplyOwner {
  /** Adds the headers of every reply, names and values in turn. Asked once, when the head is written. */
  addCommonHeaders(lines: string[]): void;
  /** All of the body was read, even if the request does not say so yet. */
  readonly hasBodyTaken: boolean;
}

type Headers = Readonly<Record<string, string>>;

const NO_HEADERS: Headers = {};

/** What ends a body that is written in chunks. */
const LAST_CHUNK = '0\r\n\r\n';

/** The thin face of one HTTP response: whole replies, or a stream under back-pressure. */
export class Reply {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #owner: ReplyOwner;
  readonly #lingerMs: number;
  #lingering = false;
  /** The pieces of a stream are written with their lengths, as HTTP/1.1 has it. */
  #isChunked = false;

  constructor(request: IncomingMessage, response: ServerResponse, owner: ReplyOwner, lingerMs: number) {
    this.#request = request;
    this.#response = response;
    this.#owner = owner;
    this.#lingerMs = lingerMs;
  }

  /** The head is written: the status can no longer change. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** Everything was written, though not all of it may have left yet. */
  get ended(): boolean {
    return this.#lingering || this.#response.writableEnded;
  }

  /** Nobody reads any more. */
  get gone(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished;
  }

  get status(): number {
    return this.#response.statusCode;
  }

  /** Writes wait for the reader. */
  get blocked(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** The connection ends with this reply. */
  closeConnection(): void {
    this.#response.shouldKeepAlive = false;
  }

  json(status: number, value: unknown, headers: Headers = NO_HEADERS): void {
    this.jsonText(status, JSON.stringify(value), headers);
  }

  /** JSON that is written already. Bytes are not copied: replies that share them cost nothing while they wait. */
  jsonText(status: number, text: string | Uint8Array, headers: Headers = NO_HEADERS): void {
    const lines = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
    this.#whole(status, text, lines, headers);
  }

  html(page: Uint8Array, headers: Headers): void {
    this.#whole(200, page, ['Content-Type', 'text/html; charset=utf-8'], headers);
  }

  text(text: string, contentType: string): void {
    this.#whole(200, text, ['Content-Type', contentType, 'Cache-Control', 'no-store'], NO_HEADERS);
  }

  /** Opens an event stream that no proxy on the way should hold back. */
  beginStream(): void {
    const lines = ['Content-Type', 'text/event-stream; charset=utf-8', 'Cache-Control', 'no-cache'];
    lines.push('X-Accel-Buffering', 'no');
    this.#head(200, lines);
    // Node writes every piece as four. Written here, it is one, at half the cost.
    this.#isChunked = this.#response.chunkedEncoding;
    this.#response.chunkedEncoding = false;
  }

  /** Opens a reply of so many bytes, which nobody is to take for anything else. */
  beginBytes(length: number): void {
    const lines = ['Content-Type', 'application/octet-stream', 'Content-Disposition', 'attachment'];
    lines.push('Content-Length', String(length), 'Cache-Control', 'no-store');
    this.#head(200, lines);
  }

  /** Writes a piece of bytes; resolves when the next may follow, the reader is gone or `signal` is aborted. */
  async write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    if (!this.#response.write(bytes)) await this.drained(signal);
  }

  /** Writes a piece of a stream. False: the reader is behind or gone, nothing should follow before `drained`. */
  send(text: string): boolean {
    return this.#response.write(this.#framed(text)) && !this.#response.destroyed;
  }

  /** Resolves when the reader has caught up, is gone, or `signal` is aborted. */
  async drained(signal: AbortSignal): Promise<void> {
    if (!this.blocked || signal.aborted || this.#response.destroyed) return;
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    signal.addEventListener('abort', stop, { once: true });
    this.#response.once('close', stop);
    try {
      await once(this.#response, 'drain', { signal: waiting.signal });
    } catch {
      // Nothing more to wait for: what comes next finds out why.
    } finally {
      signal.removeEventListener('abort', stop);
      this.#response.off('close', stop);
    }
  }

  /** Writes without waiting: for signs of life, which are skipped while the reader is behind. */
  writeNow(text: string): void {
    if (!this.blocked && !this.#response.destroyed) this.#response.write(this.#framed(text));
  }

  /** Ends a stream. */
  end(text = ''): void {
    this.#response.end(this.#isChunked ? this.#framed(text) + LAST_CHUNK : text);
  }

  #framed(text: string): string {
    if (!this.#isChunked || text === '') return text;
    return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  }

  /** Resolves when everything was handed over or the connection is gone; cuts it `graceMs` after `signal`. */
  async flushed(signal: AbortSignal, graceMs: number): Promise<void> {
    if (this.#isHandedOver || this.#response.destroyed) return;
    let timer: NodeJS.Timeout | undefined;
    const cut = (): void => {
      timer = setTimeout(() => this.#response.destroy(), graceMs);
    };
    if (signal.aborted) cut();
    else signal.addEventListener('abort', cut, { once: true });
    await new Promise((resolve) => this.#response.once('close', resolve));
    clearTimeout(timer);
    signal.removeEventListener('abort', cut);
  }

  /** Nothing of it waits in this process any more; what ends later only says so. */
  get #isHandedOver(): boolean {
    const { writableFinished, writableEnded, writableLength } = this.#response;
    return writableFinished || (writableEnded && writableLength === 0);
  }

  destroy(): void {
    this.#response.destroy();
  }

  /** For a reply whose turn on its connection never came: Node does not tell it that the connection is closed. */
  drop(): void {
    this.#response.destroy();
    this.#response.emit('close');
  }

  /** `lines`: names and values in turn, as Node writes them without making an object first. */
  #head(status: number, lines: string[]): void {
    lines.push('X-Content-Type-Options', 'nosniff');
    this.#owner.addCommonHeaders(lines);
    this.#response.writeHead(status, lines);
  }

  /** `lines` and `headers` have no name in common. */
  #whole(status: number, body: string | Uint8Array, lines: string[], headers: Headers): void {
    const unread = this.#leavesUnread();
    if (unread) this.closeConnection();
    for (const name in headers) lines.push(name, headers[name] as string);
    lines.push('Content-Length', String(Buffer.byteLength(body)));
    this.#head(status, lines);
    if (unread) this.#lingeringEnd(body);
    else this.#response.end(body);
  }

  /** Part of the body is still to come, and it is not worth waiting for. */
  #leavesUnread(): boolean {
    if (this.#request.complete || this.#owner.hasBodyTaken || !hasBody(this.#request)) return false;
    const length = declaredLength(this.#request);
    return !this.#response.shouldKeepAlive || length === 0 || length > SKIPPABLE_BYTES;
  }

  /**
   * Ending the response would make Node close the socket at once, and the kernel answer what is still on its way with
   * a reset, which can overtake the reply. So the reply is written whole and the socket closed a little later, with
   * nothing more read from it.
   */
  #lingeringEnd(body: string | Uint8Array): void {
    this.#lingering = true;
    this.#request.pause();
    this.#response.write(body);
    const timer = setTimeout(() => this.#response.destroy(), this.#lingerMs);
    this.#response.once('close', () => clearTimeout(timer));
  }
}
