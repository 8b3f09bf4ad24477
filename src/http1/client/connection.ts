import type { Socket } from 'node:net';
import { Cohort } from '../../kit/loop/cohort.ts';
import { copyOf } from '../../kit/net/lent-bytes.ts';
import type { SocketOpener } from './open-socket.ts';
import { type Head, ResponseParser } from './response-parser.ts';
import { socketProblem, type TransportProblem } from './transport-problem.ts';
import { type WireRequest, writeRequest } from './wire-request.ts';

/** One request's side of a connection: learns what comes of it. */
export interface ClientExchange {
  /** When the request was written, by `performance.now()`. */
  readonly sentAtMs: number;
  /** Nothing more is wanted of it. */
  readonly isOver: boolean;
  /** A connection has taken the request. */
  onCarried(carrier: Carrier): void;
  /** The request is being written. */
  onSent(): void;
  onHead(head: Head): void;
  /** Content, in a buffer that the next read overwrites. False pauses the connection until `resume`. */
  onRead(bytes: Buffer, from: number, to: number): boolean;
  /** Content in a buffer of its own. False pauses the connection until `resume`. */
  onBytes(piece: Buffer): boolean;
  /** The response is complete, with this last content. */
  onEnd(piece: Buffer | undefined): void;
  /** The connection broke. `isStale`: it was a kept one, closed before the request was sent. */
  onLost(problem: TransportProblem, isStale: boolean): void;
  /** No connection will carry it. */
  giveUp(): void;
}

/** What an exchange may do to its connection. */
export interface Carrier {
  resume(): void;
  close(): void;
}

/** How connections to one origin are made. */
export interface ConnectionPlan {
  readonly sockets: SocketOpener;
  /** Bytes of a response's head and trailers. */
  readonly headBytes: number;
  /** Milliseconds that an unused connection is kept, unless the server says how long it keeps it. */
  readonly keepAliveMs: number;
  /** Milliseconds without a byte after which a connection may carry the next call. */
  readonly quietMs: number;
  /**
   * Milliseconds on top of a round trip in which a kept connection that is closed is taken to have been closed before.
   */
  readonly staleMs: number;
  /** The buffer that all sockets read into; content is valid until the next read. */
  readonly readBuffer: Buffer;
}

/** The pool that a connection belongs to. */
export interface ConnectionOwner {
  /** The shortest time that making a connection has taken. */
  readonly roundTripMs: number;
  /** It was made within `milliseconds`. */
  onConnected(milliseconds: number): void;
  /** It has carried a response and may carry another within `keepMs`. */
  onFree(connection: ClientConnection, keepMs: number): void;
  /** It is closed. */
  onClosed(connection: ClientConnection): void;
  /** It closed before the request was written: sends that over another connection. */
  send(request: WireRequest, exchange: ClientExchange): void;
}

/** We stop using a connection so much earlier than the server announced to close it. */
const KEEP_ALIVE_MARGIN_MS = 1000;

const MAX_KEEP_ALIVE_MS = 600_000;

/** The beginning or the end of a response, or both, which the exchange learns at the end of the turn. */
interface News {
  readonly head: Head | undefined;
  readonly piece: Buffer | undefined;
  readonly isEnd: boolean;
}

/**
 * Connections whose requests are written, and those on which a response began or ended, in this turn of the event
 * loop.
 */
const REQUESTS = new Cohort<ClientConnection>((connection) => connection.write());
const NEWS = new Cohort<ClientConnection>((connection) => connection.tell());

/** A connection that carries one request after another, one at a time. */
export class ClientConnection {
  readonly #owner: ConnectionOwner;
  readonly #plan: ConnectionPlan;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #exchange: ClientExchange | undefined;
  /** The request, until it is written. */
  #request: WireRequest | undefined;
  #isReady = false;
  #isClosed = false;
  #isPaused = false;
  #hasCarried = false;
  /** How long it may be kept after the current response. */
  #keepMs = 0;
  /** Bytes of the current response have come. */
  #hasBegun = false;
  #news: News | undefined;
  /** For the pool: its index among the idle connections, and until when it is kept there. */
  idleAt: number | undefined;
  idleUntilMs = 0;

  constructor(owner: ConnectionOwner, plan: ConnectionPlan) {
    this.#owner = owner;
    this.#plan = plan;
    this.#parser = new ResponseParser(plan.headBytes);
    const { sockets, readBuffer } = plan;
    let attemptedAtMs = performance.now();
    this.#socket = sockets
      .open({ buffer: readBuffer, callback: (length) => this.#onRead(length, readBuffer) })
      .once(sockets.readyEvent, () => {
        this.#isReady = true;
        this.write();
      })
      // The round trip starts after the look-up and after attempts at other addresses of the name.
      .on('connectionAttempt', () => {
        attemptedAtMs = performance.now();
      })
      .once('connect', () => owner.onConnected(performance.now() - attemptedAtMs))
      .on('end', () => this.#onEnd())
      .on('error', (error) => this.#onLost(error))
      .on('close', () => this.#onLost(undefined));
  }

  /** Sends a request once the socket is ready, and passes its response to the exchange. */
  carry(request: WireRequest, exchange: ClientExchange): void {
    this.#request = request;
    this.#exchange = exchange;
    exchange.onCarried(this);
    if (!this.#isReady) return;
    this.#socket.ref();
    // Bytes that this turn still brings precede the request: they are no response to it, and an end means another
    // connection.
    REQUESTS.add(this);
  }

  /** Reads on after the exchange had paused it. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Closes it without a word to the exchange that it carries. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = undefined;
    this.#request = undefined;
    this.#news = undefined;
    this.#socket.destroy();
    this.#owner.onClosed(this);
  }

  /** Writes the request that it was given. */
  write(): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    this.#hasBegun = false;
    this.#parser.begin();
    this.#exchange?.onSent();
    writeRequest(this.#socket, request);
  }

  /** Passes pending news to the exchange. */
  tell(): void {
    const news = this.#news;
    const exchange = this.#exchange;
    if (news === undefined || exchange === undefined) return;
    this.#news = undefined;
    const { head, piece, isEnd } = news;
    if (head !== undefined) exchange.onHead(head);
    if (isEnd) {
      this.#release();
      exchange.onEnd(piece);
    } else if (piece !== undefined && !exchange.onBytes(piece)) {
      this.#pause();
    }
  }

  /** Closes it as if the network had: its exchange fails. */
  break(): void {
    this.#onLost(undefined);
  }

  /** Returns whether to read on. */
  #onRead(length: number, bytes: Buffer): boolean {
    this.tell();
    const exchange = this.#exchange;
    if (exchange === undefined || this.#request !== undefined) {
      this.#onLost(undefined);
      return false;
    }
    this.#hasBegun = true;
    try {
      return this.#read(exchange, bytes, length);
    } catch (thrown) {
      this.#fail(exchange, thrown);
      return false;
    }
  }

  #read(exchange: ClientExchange, bytes: Buffer, length: number): boolean {
    const parser = this.#parser;
    const problem = parser.read(bytes, length);
    const head = parser.takeHead();
    if (head !== undefined) this.#keepMs = keepMsOf(head, this.#plan.keepAliveMs);
    const { bodyFrom, bodyTo } = parser;
    const hasBody = bodyFrom !== bodyTo;
    if (problem !== undefined) {
      // What preceded the problem is passed on, as if it had come in a read of its own.
      if (head !== undefined) exchange.onHead(head);
      if (hasBody) exchange.onRead(bytes, bodyFrom, bodyTo);
      this.#fail(exchange, problem);
      return false;
    }
    if (head !== undefined || parser.isEnded) {
      const piece = hasBody ? copyOf(bytes, bodyFrom, bodyTo) : undefined;
      this.#news = { head, piece, isEnd: parser.isEnded };
      NEWS.add(this);
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

  /** The response is complete. */
  #release(): void {
    const keepMs = this.#keepMs;
    const isReusable = !this.#parser.isLast && keepMs > 0 && this.#socket.writableLength === 0;
    this.#exchange = undefined;
    if (!isReusable) {
      this.close();
      return;
    }
    this.#hasCarried = true;
    // The end may have come in the same turn in which the exchange paused it.
    this.resume();
    this.#socket.unref();
    this.#owner.onFree(this, keepMs);
  }

  #onEnd(): void {
    this.tell();
    const exchange = this.#exchange;
    if (exchange === undefined || this.#request !== undefined || !this.#hasBegun) {
      this.#onLost(undefined);
      return;
    }
    try {
      this.#parser.close();
    } catch (problem) {
      this.#fail(exchange, problem);
      return;
    }
    this.close();
    exchange.onEnd(undefined);
  }

  #fail(exchange: ClientExchange, thrown: unknown): void {
    this.close();
    exchange.onLost(socketProblem(thrown, true), false);
  }

  #onLost(error: Error | undefined): void {
    this.tell();
    const exchange = this.#exchange;
    const request = this.#request;
    this.close();
    if (exchange === undefined) return;
    if (request !== undefined && this.#isReady) this.#owner.send(request, exchange);
    else exchange.onLost(socketProblem(error, this.#isReady), this.#wasStaleFor(exchange));
  }

  /**
   * Whether it was closed before the request can have been worked on: it was a kept connection, no byte of a response
   * has come, and no more time has passed than an earlier FIN needs to arrive, or a reset to come back.
   */
  #wasStaleFor({ sentAtMs }: ClientExchange): boolean {
    if (!this.#hasCarried || this.#hasBegun) return false;
    return performance.now() - sentAtMs <= this.#owner.roundTripMs + this.#plan.staleMs;
  }
}

/** How long a connection may be kept after a response; it is closed at once if that is not positive. */
function keepMsOf({ headers }: Head, usualMs: number): number {
  const hint = headers['keep-alive'];
  const seconds = hint === undefined ? undefined : /timeout=(\d+)/.exec(hint)?.[1];
  if (seconds === undefined) return usualMs;
  return Math.min(Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS, MAX_KEEP_ALIVE_MS);
}
