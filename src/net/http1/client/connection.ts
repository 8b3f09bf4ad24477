import type { Socket } from 'node:net';
import { Cohort } from '../../../kit/loop/cohort.ts';
import { copyBytes } from '../../../kit/net/copy-bytes.ts';
import type { SocketOpener } from './open-socket.ts';
import { type ResponseHead, ResponseParser } from './response-parser.ts';
import { socketProblem, type TransportProblem } from './transport-problem.ts';
import { type WireRequest, writeRequest } from './wire-request.ts';

/** One request and its response, as connection and pool see it: they report here what happens to it. */
export interface ClientExchange {
  /** When the request was written, by `performance.now()`. */
  readonly sentAtMs: number;
  /** It has ended or failed: a pool does not send it any more. */
  readonly isOver: boolean;
  onConnection(connection: ConnectionHandle): void;
  onSent(): void;
  onHead(head: ResponseHead): void;
  /** Content, in a buffer that the next read overwrites. False pauses the connection until `resume`. */
  onRead(bytes: Buffer, from: number, to: number): boolean;
  /** Content in a buffer of its own. False pauses the connection until `resume`. */
  onBytes(piece: Buffer): boolean;
  /** The response is complete, with this last content. */
  onEnd(piece: Buffer | undefined): void;
  /** The connection failed. `isStale`: it was a reused one, which the server had closed before the request came. */
  onLost(problem: TransportProblem, isStale: boolean): void;
  /** The pool was destroyed before it had a connection for the request. */
  onNoConnection(): void;
}

export interface ConnectionHandle {
  resume(): void;
  close(): void;
}

export interface ConnectionSettings {
  readonly sockets: SocketOpener;
  /** Most bytes of a response's head and trailers. */
  readonly headBytes: number;
  /** Milliseconds that an unused connection is kept, unless the server says how long it keeps it. */
  readonly keepAliveMs: number;
  /** Milliseconds without a byte after which a connection may be reused. */
  readonly quietMs: number;
  /**
   * A reused connection that closes within a round trip and this many milliseconds after a request was written counts
   * as closed before the request came.
   */
  readonly staleMs: number;
  /** The buffer that all sockets read into; its content is valid until the next read. */
  readonly readBuffer: Buffer;
}

/** The pool, as its connections see it. */
export interface ClientConnectionOwner {
  /** The shortest TCP handshake so far. */
  readonly roundTripMs: number;
  onConnected(milliseconds: number): void;
  /** A response is complete: the connection may be reused within `keepMs`. */
  onFree(connection: ClientConnection, keepMs: number): void;
  onClosed(connection: ClientConnection): void;
  /** A connection closed before this request was written: sends it over another one. */
  send(request: WireRequest, exchange: ClientExchange): void;
}

/** A connection is not reused in the last second before the server announced to close it. */
const KEEP_ALIVE_MARGIN_MS = 1000;

const MAX_KEEP_ALIVE_MS = 600_000;

/** The beginning or the end of a response, or both: delivered to the exchange at the end of the turn. */
interface ResponseNews {
  readonly head: ResponseHead | undefined;
  readonly piece: Buffer | undefined;
  readonly isEnd: boolean;
}

/**
 * Connections with a request to write, and connections on which a response began or ended: both are handled together
 * at the end of a turn of the event loop.
 */
const WITH_REQUEST = new Cohort<ClientConnection>((connection) => connection.write());
const WITH_NEWS = new Cohort<ClientConnection>((connection) => connection.deliverNews());

/** A connection to an upstream: one exchange after another, one at a time. */
export class ClientConnection {
  readonly #owner: ClientConnectionOwner;
  readonly #settings: ConnectionSettings;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #exchange: ClientExchange | undefined;
  /** The request, until it is written. */
  #request: WireRequest | undefined;
  /** The socket can be written to. */
  #isReady = false;
  #isClosed = false;
  #isPaused = false;
  #isReused = false;
  /** How long it may be kept after the current response. */
  #keepMs = 0;
  #hasResponseBegun = false;
  #news: ResponseNews | undefined;
  /** Written by the pool: index among its idle connections, and until when it may be reused. */
  idleAt: number | undefined;
  idleUntilMs = 0;

  constructor(owner: ClientConnectionOwner, settings: ConnectionSettings) {
    this.#owner = owner;
    this.#settings = settings;
    this.#parser = new ResponseParser(settings.headBytes);
    const { sockets, readBuffer } = settings;
    let attemptedAtMs = performance.now();
    this.#socket = sockets
      .open({ buffer: readBuffer, callback: (length) => this.#onSocketRead(length, readBuffer) })
      .once(sockets.readyEvent, () => {
        this.#isReady = true;
        this.write();
      })
      // The round trip starts after the look-up and after attempts at other addresses of the name.
      .on('connectionAttempt', () => {
        attemptedAtMs = performance.now();
      })
      .once('connect', () => owner.onConnected(performance.now() - attemptedAtMs))
      .on('end', () => this.#onSocketEnd())
      .on('error', (error) => this.#onLost(error))
      .on('close', () => this.#onLost(undefined));
  }

  startExchange(request: WireRequest, exchange: ClientExchange): void {
    this.#request = request;
    this.#exchange = exchange;
    exchange.onConnection(this);
    if (!this.#isReady) return;
    this.#socket.ref();
    // Written at the end of the turn: bytes that this turn still brings precede the request and are no response to it;
    // if the server closes in this turn, the request goes over another connection.
    WITH_REQUEST.add(this);
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Closes the connection without a report to its exchange. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = undefined;
    this.#request = undefined;
    this.#news = undefined;
    this.#socket.destroy();
    this.#owner.onClosed(this);
  }

  write(): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    this.#hasResponseBegun = false;
    this.#parser.begin();
    this.#exchange?.onSent();
    writeRequest(this.#socket, request);
  }

  /** Reports the beginning or end of the response that waits for the end of the turn. */
  deliverNews(): void {
    const news = this.#news;
    const exchange = this.#exchange;
    if (news === undefined || exchange === undefined) return;
    this.#news = undefined;
    const { head, piece, isEnd } = news;
    if (head !== undefined) exchange.onHead(head);
    if (isEnd) {
      this.#freeOrClose();
      exchange.onEnd(piece);
    } else if (piece !== undefined && !exchange.onBytes(piece)) {
      this.#pause();
    }
  }

  /** Closes the connection; its exchange fails as if the network had failed. */
  fail(): void {
    this.#onLost(undefined);
  }

  /** Returns whether to read on. */
  #onSocketRead(length: number, bytes: Buffer): boolean {
    this.deliverNews();
    const exchange = this.#exchange;
    if (exchange === undefined || this.#request !== undefined) {
      this.#onLost(undefined);
      return false;
    }
    this.#hasResponseBegun = true;
    try {
      return this.#parse(exchange, bytes, length);
    } catch (thrown) {
      this.#failExchange(exchange, thrown);
      return false;
    }
  }

  #parse(exchange: ClientExchange, bytes: Buffer, length: number): boolean {
    const parser = this.#parser;
    const problem = parser.read(bytes, length);
    const head = parser.takeHead();
    if (head !== undefined) this.#keepMs = keepMsOf(head, this.#settings.keepAliveMs);
    const { bodyFrom, bodyTo } = parser;
    const hasBody = bodyFrom !== bodyTo;
    if (problem !== undefined) {
      // Reports what preceded the problem first, as if it had come in a read of its own.
      if (head !== undefined) exchange.onHead(head);
      if (hasBody) exchange.onRead(bytes, bodyFrom, bodyTo);
      this.#failExchange(exchange, problem);
      return false;
    }
    if (head !== undefined || parser.isEnded) {
      const piece = hasBody ? copyBytes(bytes, bodyFrom, bodyTo) : undefined;
      this.#news = { head, piece, isEnd: parser.isEnded };
      WITH_NEWS.add(this);
      return true;
    }
    if (!hasBody || exchange.onRead(bytes, bodyFrom, bodyTo)) return true;
    this.#isPaused = !this.#isClosed;
    return false;
  }

  #pause(): void {
    if (this.#isClosed) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #freeOrClose(): void {
    const keepMs = this.#keepMs;
    const isReusable = !this.#parser.isLast && keepMs > 0 && this.#socket.writableLength === 0;
    this.#exchange = undefined;
    if (!isReusable) {
      this.close();
      return;
    }
    this.#isReused = true;
    // The end may have come in the same turn in which the exchange paused it.
    this.resume();
    this.#socket.unref();
    this.#owner.onFree(this, keepMs);
  }

  #onSocketEnd(): void {
    this.deliverNews();
    const exchange = this.#exchange;
    if (exchange === undefined || this.#request !== undefined || !this.#hasResponseBegun) {
      this.#onLost(undefined);
      return;
    }
    try {
      this.#parser.close();
    } catch (problem) {
      this.#failExchange(exchange, problem);
      return;
    }
    this.close();
    exchange.onEnd(undefined);
  }

  #failExchange(exchange: ClientExchange, thrown: unknown): void {
    this.close();
    exchange.onLost(socketProblem(thrown, true), false);
  }

  #onLost(error: Error | undefined): void {
    this.deliverNews();
    const exchange = this.#exchange;
    const request = this.#request;
    this.close();
    if (exchange === undefined) return;
    if (request !== undefined && this.#isReady) this.#owner.send(request, exchange);
    else exchange.onLost(socketProblem(error, this.#isReady), this.#wasClosedBefore(exchange));
  }

  /**
   * Whether the server had closed a reused connection before it can have worked on the request: no byte of a response
   * has come, and no more time has passed than an earlier FIN needs to arrive, or a reset to come back.
   */
  #wasClosedBefore({ sentAtMs }: ClientExchange): boolean {
    if (!this.#isReused || this.#hasResponseBegun) return false;
    return performance.now() - sentAtMs <= this.#owner.roundTripMs + this.#settings.staleMs;
  }
}

/** How long a connection may be kept after a response; it must be closed at once if that is not positive. */
function keepMsOf({ headers }: ResponseHead, usualMs: number): number {
  const hint = headers['keep-alive'];
  const seconds = hint === undefined ? undefined : /timeout=(\d+)/.exec(hint)?.[1];
  if (seconds === undefined) return usualMs;
  return Math.min(Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS, MAX_KEEP_ALIVE_MS);
}
