import type { Socket } from 'node:net';
import { Cohort } from '../../kit/loop/cohort.ts';
import { copyOf } from '../../kit/net/lent-bytes.ts';
import type { Exchange } from '../../upstream/exchange.ts';
import { socketProblem } from './transport-problem.ts';
import { TransportProblem } from '../../upstream/upstream.ts';
import type { SocketOpener } from './open-socket.ts';
import { type Head, ResponseParser } from './response-parser.ts';
import { type WireRequest, writeRequest } from './wire-request.ts';

/** How connections to one origin are made. */
export interface ConnectionPlan {
  readonly sockets: SocketOpener;
  /** Bytes of an answer's head. */
  readonly headBytes: number;
  /** Milliseconds that an unused connection is kept, unless the server says how long it keeps it. */
  readonly keepAliveMs: number;
  /** Milliseconds without a byte after which a connection may carry the next call. */
  readonly quietMs: number;
  /** Milliseconds on top of a round trip in which a kept connection that is closed is taken to have been closed before. */
  readonly staleMs: number;
  /** What all sockets read into, one at a time. */
  readonly readBuffer: Buffer;
}

/** Who has a connection. */
export interface ConnectionOwner {
  /** Milliseconds from here to the other side and back, as the fastest of all connections has shown. */
  readonly roundTripMs: number;
  /** It was made, in so many milliseconds. */
  onConnected(milliseconds: number): void;
  /** It has carried an answer and may carry another within `keepMs`. */
  onFree(connection: Connection, keepMs: number): void;
  /** It is closed. */
  onClosed(connection: Connection): void;
  /** It closed before a request was written to it, which is therefore to be sent over another. */
  send(request: WireRequest, exchange: Exchange): void;
}

/** Servers close at about the time they say: so much earlier we stop to rely on it. */
const KEEP_ALIVE_MARGIN_MS = 1000;

const LONGEST_KEEP_ALIVE_MS = 600_000;

/** The beginning or the end of an answer, or both. */
interface News {
  readonly head: Head | undefined;
  readonly piece: Buffer | undefined;
  readonly isEnd: boolean;
}

/** Connections whose requests are written, and connections on which an answer began or ended, in this turn. */
const REQUESTS = new Cohort<Connection>((connection) => connection.write());
const NEWS = new Cohort<Connection>((connection) => connection.tell());

/** A connection that carries one request after another, one at a time. */
export class Connection {
  readonly #owner: ConnectionOwner;
  readonly #plan: ConnectionPlan;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #exchange: Exchange | undefined;
  /** What is not yet written. */
  #request: WireRequest | undefined;
  #isReady = false;
  #isClosed = false;
  #isPaused = false;
  #hasCarried = false;
  /** How long it may be kept after the current answer. */
  #keepMs = 0;
  /** Bytes of the current answer have come. */
  #hasBegun = false;
  /** What the exchange is told at the end of this turn. */
  #news: News | undefined;
  /** Its place among those that nobody uses, and until when it is kept there; for its owner. */
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
      // A name may have been looked up before, and other addresses of it tried.
      .on('connectionAttempt', () => {
        attemptedAtMs = performance.now();
      })
      .once('connect', () => owner.onConnected(performance.now() - attemptedAtMs))
      .on('end', () => this.#onEnd())
      .on('error', (error) => this.#onLost(error))
      .on('close', () => this.#onLost(undefined));
  }

  /** Sends a request as soon as it can, and tells the exchange what comes of it. */
  carry(request: WireRequest, exchange: Exchange): void {
    this.#request = request;
    this.#exchange = exchange;
    exchange.onCarried(this);
    if (!this.#isReady) return;
    this.#socket.ref();
    // What this turn of the loop still brings was sent before: it is no answer to this request, and an end means another connection.
    REQUESTS.add(this);
  }

  /** Reads on after the exchange had enough. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Ends it, and with it whatever it carries, of which nobody is told. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = undefined;
    this.#request = undefined;
    this.#news = undefined;
    this.#socket.destroy();
    this.#owner.onClosed(this);
  }

  /** Writes the request that waits for it. */
  write(): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    this.#hasBegun = false;
    this.#parser.begin();
    this.#exchange?.onSent();
    writeRequest(this.#socket, request);
  }

  /** Tells the exchange what its answer has come to, if it has not yet. */
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

  /** Ends it as if the network had. */
  break(): void {
    this.#onLost(undefined);
  }

  /** Whether to read on. */
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

  #read(exchange: Exchange, bytes: Buffer, length: number): boolean {
    const parser = this.#parser;
    const problem = parser.read(bytes, length);
    const head = parser.takeHead();
    if (head !== undefined) this.#keepMs = keepMsOf(head, this.#plan.keepAliveMs);
    const { bodyFrom, bodyTo } = parser;
    const hasBody = bodyFrom !== bodyTo;
    if (problem !== undefined) {
      // What came before it is as good as if it had come in a read of its own.
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

  /** The answer is whole. */
  #release(): void {
    const keepMs = this.#keepMs;
    const isReusable = !this.#parser.isLast && keepMs > 0 && this.#socket.writableLength === 0;
    this.#exchange = undefined;
    if (!isReusable) {
      this.close();
      return;
    }
    this.#hasCarried = true;
    // The end may have come in the same turn in which the exchange had enough.
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

  #fail(exchange: Exchange, thrown: unknown): void {
    this.close();
    exchange.onLost(thrown instanceof TransportProblem ? thrown : socketProblem(thrown, true), false);
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
   * Whether it was closed before the request can have been worked on: it is a kept connection, no byte of an answer has come,
   * and it took no longer than news of an earlier end need to come, or a reset to come back.
   */
  #wasStaleFor({ sentAtMs }: Exchange): boolean {
    if (!this.#hasCarried || this.#hasBegun) return false;
    return performance.now() - sentAtMs <= this.#owner.roundTripMs + this.#plan.staleMs;
  }
}

/** How long a connection may be kept after an answer; none at all if that is not more than 0. */
function keepMsOf({ headers }: Head, usualMs: number): number {
  const hint = headers['keep-alive'];
  const seconds = hint === undefined ? undefined : /timeout=(\d+)/.exec(hint)?.[1];
  if (seconds === undefined) return usualMs;
  return Math.min(Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS, LONGEST_KEEP_ALIVE_MS);
}
