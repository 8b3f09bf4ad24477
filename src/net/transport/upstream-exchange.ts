import type { Flow } from '../../kit/frames/flow.ts';
import { copyBytes } from '../../kit/net/copy-bytes.ts';
import type { ClientExchange, ConnectionHandle } from '../http1/client/connection.ts';
import type { ResponseHead } from '../http1/client/response-parser.ts';
import { TransportProblem } from '../http1/client/transport-problem.ts';
import { Deadlines, type Expiry, expiryProblem } from './deadlines.ts';
import type { TransportCall } from './transport-call.ts';

/** Bytes that may wait for the reader before the socket is paused: less than one full read from the socket. */
const HIGH_WATER_BYTES = 16 * 1024;

/**
 * One request and its response: takes what the connection reads and hands it out as an async iterator of chunks, one
 * per read of the socket. Above the high-water mark the socket is paused until the reader polls again. Returning
 * early, the abort signal and every time limit close the connection.
 */
export class UpstreamExchange implements ClientExchange, AsyncIterableIterator<Uint8Array>, Flow<Uint8Array> {
  readonly #signal: AbortSignal;
  readonly #maxBodyBytes: number;
  readonly #deadlines: Deadlines;
  #resolveHead: (head: ResponseHead) => void = ignore;
  #rejectHead: (reason: unknown) => void = ignore;
  #connection: ConnectionHandle | undefined;
  /** Content that waits for the reader: mostly one piece, and more behind it if the reader is slow. */
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
   * Resolves with the head of the response; rejects with a TransportProblem or the signal's reason. Call it once,
   * before the response can come: the promise is not kept, because a stream lasts long after its head is used.
   */
  head(): Promise<ResponseHead> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) reject(this.#failure.reason);
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
  }

  onConnection(connection: ConnectionHandle): void {
    this.#connection = connection;
    if (this.#failure !== undefined) connection.close();
  }

  onSent(): void {
    this.#sentAtMs = performance.now();
    this.#deadlines.enter('firstByte');
  }

  onHead(head: ResponseHead): void {
    this.#resolveHead(head);
    this.#resolveHead = ignore;
    this.#rejectHead = ignore;
  }

  /** Copies the bytes: all sockets read into the same buffer. */
  onRead(bytes: Buffer, from: number, to: number): boolean {
    if (!this.#receive(to - from)) return false;
    this.#keep(copyBytes(bytes, from, to));
    return this.#handOut();
  }

  onBytes(piece: Buffer): boolean {
    if (!this.#receive(piece.length)) return false;
    this.#keep(piece);
    return this.#handOut();
  }

  /** Wakes the reader. Returns whether the connection may read on. */
  #handOut(): boolean {
    // A paused TLS socket still passes on what it has deciphered: stays paused until the reader polls again.
    this.#isPaused ||= this.#waitingBytes >= HIGH_WATER_BYTES;
    if (this.#isPaused) this.#deadlines.pause();
    else this.#deadlines.enter('idle');
    this.#wake();
    return !this.#isPaused && this.#failure === undefined;
  }

  onEnd(piece: Buffer | undefined): void {
    // The connection may serve another exchange by now.
    this.#connection = undefined;
    if (piece !== undefined && this.#receive(piece.length)) this.#keep(piece);
    if (this.isOver) return;
    this.#ended = true;
    this.#settle();
    this.#wake();
  }

  onLost(problem: TransportProblem, isStale: boolean): void {
    this.#connection = undefined;
    this.#wasStale = isStale;
    this.#fail(problem);
  }

  onExpiry(expiry: Expiry): void {
    this.#fail(expiryProblem(expiry));
  }

  onNoConnection(): void {
    this.#fail(new TransportProblem('connect', 'connection failed'));
  }

  get sentAtMs(): number {
    return this.#sentAtMs;
  }

  /** It failed because the server had closed the reused connection before: the request was not worked on. */
  get wasStale(): boolean {
    return this.#wasStale;
  }

  get isOver(): boolean {
    return this.#ended || this.#failure !== undefined;
  }

  get hasEnded(): boolean {
    return this.#ended && this.#piece === undefined;
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
    if (this.#piece === undefined) this.#resume();
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
    this.#connection?.resume();
  }

  /** Counts received bytes; false if the exchange has failed, or fails now because they exceed the limit. */
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
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
    // Later: the reader itself may have ended the exchange, and is not ready to be called back.
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
      // Becomes an unhandled rejection: an error of the reader must not fail the connection that called.
      void Promise.reject(thrown);
    }
  }
}

function ignore(): void {}
