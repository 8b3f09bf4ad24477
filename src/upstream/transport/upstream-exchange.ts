import type { Carrier, ClientExchange } from '../../http1/client/connection.ts';
import type { Head } from '../../http1/client/response-parser.ts';
import { TransportProblem } from '../../http1/client/transport-problem.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import { copyOf } from '../../kit/net/lent-bytes.ts';
import type { TransportCall } from '../upstream.ts';
import { Deadlines, type Expiry, expiryProblem } from './deadlines.ts';

/** Bytes that may wait for the reader before the socket is paused: less than one full read from the socket. */
const HIGH_WATER_BYTES = 16 * 1024;

/**
 * One request and its answer on one connection: takes what the connection reads and hands it out as an async iterator
 * of chunks, one per turn of the socket. Above the high-water mark the socket is paused until the reader comes
 * back. Returning early, the abort signal and every time limit close the connection.
 */
export class UpstreamExchange implements ClientExchange, AsyncIterableIterator<Uint8Array>, Flow<Uint8Array> {
  readonly #signal: AbortSignal;
  readonly #maxBodyBytes: number;
  readonly #deadlines: Deadlines;
  #resolveHead: (head: Head) => void = nobody;
  #rejectHead: (reason: unknown) => void = nobody;
  #carrier: Carrier | undefined;
  /** What waits for the reader: mostly one piece, and more behind it when the reader is slow. */
  #piece: Buffer | undefined;
  #morePieces: Buffer[] | undefined;
  #waitingBytes = 0;
  #receivedBytes = 0;
  #isPaused = false;
  #wakeReader: (() => void) | undefined;
  #ended = false;
  #sentAtMs = 0;
  #wasStale = false;
  #failure: { readonly reason: unknown } | undefined;

  constructor(call: Pick<TransportCall, 'signal' | 'timeouts'>, maxBodyBytes: number) {
    this.#signal = call.signal;
    this.#maxBodyBytes = maxBodyBytes;
    this.#deadlines = new Deadlines(call.timeouts, this);
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Resolves with the head of the answer; rejects with a TransportProblem or the signal's reason. Asked once, before the
   * answer can come: the promise is not kept, since a stream outlives its need of a head by far.
   */
  head(): Promise<Head> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) reject(this.#failure.reason);
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
  }

  /** A connection has taken the request. */
  onCarried(carrier: Carrier): void {
    this.#carrier = carrier;
    if (this.#failure !== undefined) carrier.close();
  }

  /** The request is being written. */
  onSent(): void {
    this.#sentAtMs = performance.now();
    this.#deadlines.enter('firstByte');
  }

  onHead(head: Head): void {
    this.#resolveHead(head);
    this.#resolveHead = nobody;
    this.#rejectHead = nobody;
  }

  /** Bytes of the body in the buffer that all sockets read into, so they are copied; false: no more for now. */
  onRead(bytes: Buffer, from: number, to: number): boolean {
    if (!this.#receive(to - from)) return false;
    this.#keep(copyOf(bytes, from, to));
    return this.#handOut();
  }

  /** Bytes of the body; false: no more for now. */
  onBytes(piece: Buffer): boolean {
    if (!this.#receive(piece.length)) return false;
    this.#keep(piece);
    return this.#handOut();
  }

  /** Wakes the reader; whether there is room for more. */
  #handOut(): boolean {
    // TLS hands out what it has deciphered also after it was told to stop: only a reader that comes back changes that.
    this.#isPaused ||= this.#waitingBytes >= HIGH_WATER_BYTES;
    if (this.#isPaused) this.#deadlines.pause();
    else this.#deadlines.enter('idle');
    this.#wake();
    return !this.#isPaused && this.#failure === undefined;
  }

  /** The answer is whole, with these last bytes. */
  onEnd(piece: Buffer | undefined): void {
    // It may carry somebody else's request by now.
    this.#carrier = undefined;
    if (piece !== undefined && this.#receive(piece.length)) this.#keep(piece);
    if (this.isOver) return;
    this.#ended = true;
    this.#settle();
    this.#wake();
  }

  /** The connection broke. `isStale`: it was a kept one, which was closed already when the request was sent. */
  onLost(problem: TransportProblem, isStale: boolean): void {
    this.#carrier = undefined;
    this.#wasStale = isStale;
    this.#fail(problem);
  }

  onExpiry(expiry: Expiry): void {
    this.#fail(expiryProblem(expiry));
  }

  /** Ends an exchange that has no connection yet. */
  giveUp(): void {
    this.#fail(new TransportProblem('connect', 'connection failed'));
  }

  /** When the request was sent, by `performance.now()`. */
  get sentAtMs(): number {
    return this.#sentAtMs;
  }

  /** The connection was a kept one, which was closed already when the request was sent: nobody has worked on it. */
  get wasStale(): boolean {
    return this.#wasStale;
  }

  /** Nothing more comes of it. */
  get isOver(): boolean {
    return this.#ended || this.#failure !== undefined;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const piece = this.poll();
      if (piece !== undefined) return { done: false, value: piece };
      if (this.#failure !== undefined) throw this.#failure.reason;
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  poll(): Uint8Array | undefined {
    const piece = this.#piece;
    if (piece === undefined) {
      this.#resume();
      return undefined;
    }
    const more = this.#morePieces;
    this.#forgetWaiting();
    return more === undefined ? piece : Buffer.concat([piece, ...more]);
  }

  whenReady(wake: () => void): boolean {
    if (this.#waitingBytes > 0 || this.isOver) return false;
    this.#wakeReader = wake;
    return true;
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#forgetWaiting();
    this.#fail(new TransportProblem('reset', 'closed by the reader'));
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #onAbort = (): void => {
    this.#forgetWaiting();
    this.#fail(this.#signal.reason);
  };

  #resume(): void {
    if (!this.#isPaused || this.isOver) return;
    this.#isPaused = false;
    this.#deadlines.enter('idle');
    this.#carrier?.resume();
  }

  /** Counts bytes for the reader; false when there were too many, or there is none. */
  #receive(length: number): boolean {
    if (this.#failure !== undefined) return false;
    this.#receivedBytes += length;
    if (this.#receivedBytes > this.#maxBodyBytes) {
      this.#fail(new TransportProblem('too-large', `the answer is larger than ${this.#maxBodyBytes} bytes`));
      return false;
    }
    this.#waitingBytes += length;
    return true;
  }

  #keep(piece: Buffer): void {
    if (this.#piece === undefined) this.#piece = piece;
    else if (this.#morePieces === undefined) this.#morePieces = [piece];
    else this.#morePieces.push(piece);
  }

  #forgetWaiting(): void {
    this.#piece = undefined;
    this.#morePieces = undefined;
    this.#waitingBytes = 0;
  }

  /** Ends the exchange. What arrived before is still handed out, unless the reader does not want it. */
  #fail(reason: unknown): void {
    if (this.isOver) return;
    this.#failure = { reason };
    this.#rejectHead(reason);
    this.#settle();
    const carrier = this.#carrier;
    this.#carrier = undefined;
    carrier?.close();
    // Not at once: whoever ends it may be the one that waits, and in the middle of something.
    if (this.#wakeReader !== undefined) queueMicrotask(() => this.#wake());
  }

  #settle(): void {
    this.#deadlines.stop();
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  #wake(): void {
    const wake = this.#wakeReader;
    this.#wakeReader = undefined;
    try {
      wake?.();
    } catch (thrown) {
      // A mistake of the reader's is none of the connection's.
      void Promise.reject(thrown);
    }
  }
}

function nobody(): void {}
