import type { Dispatcher } from 'undici';
import type { Flow } from '../kit/flow.ts';
import { Deadlines } from './deadlines.ts';
import { expiryProblem, socketProblem } from './socket-problem.ts';
import { isOfReusedConnection } from './stale-connection.ts';
import { type TransportCall, TransportProblem } from './upstream.ts';

/** Bytes that may wait for the reader before the socket is paused: less than one full read from the socket. */
const HIGH_WATER_BYTES = 16 * 1024;

/** A connection that was closed before it was used says so by then; later, somebody may have worked on the request. */
const STALE_WITHIN_MS = 1000;

/** Head of an answer. */
export interface Head {
  readonly status: number;
  /** Lower-case names; repeated headers joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One request and its answer on one connection: takes what undici delivers and hands it out as an async iterator
 * of chunks, one per turn of the socket. Above the high-water mark the socket is paused until the reader comes
 * back. Returning early, the abort signal and every time limit close the connection.
 */
export class Exchange
  implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array>, Flow<Uint8Array>
{
  readonly #signal: AbortSignal;
  readonly #maxBodyBytes: number;
  readonly #deadlines: Deadlines;
  /** Resolves with the head of the answer; rejects with a TransportProblem or the signal's reason. */
  readonly head: Promise<Head>;
  #resolveHead: (head: Head) => void = () => {};
  #rejectHead: (reason: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #receivedBytes = 0;
  #wakeReader: (() => void) | undefined;
  #ended = false;
  #sentAtMs = 0;
  #hasHead = false;
  #wasStale = false;
  #failure: { readonly reason: unknown } | undefined;

  constructor(call: Pick<TransportCall, 'signal' | 'timeouts'>, maxBodyBytes: number) {
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
    this.#signal = call.signal;
    this.#maxBodyBytes = maxBodyBytes;
    this.#deadlines = new Deadlines(call.timeouts, (expiry) => this.#fail(expiryProblem(expiry)));
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#sentAtMs = performance.now();
    if (this.#failure !== undefined) controller.abort(new Error('given up'));
    else this.#deadlines.enter('firstByte');
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#hasHead = true;
    if (status >= 200) this.#resolveHead({ status, headers: joined(headers) });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#maxBodyBytes) {
      this.#fail(new TransportProblem('too-large', `the answer is larger than ${this.#maxBodyBytes} bytes`));
      return;
    }
    if (this.#queuedBytes >= HIGH_WATER_BYTES) {
      controller.pause();
      this.#deadlines.pause();
    } else {
      this.#deadlines.enter('idle');
    }
    this.#wake();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#settle();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#wasStale = !this.#hasHead && this.#isFresh() && isOfReusedConnection(error);
    this.#fail(socketProblem(error, this.#controller !== undefined));
  }

  /** The connection was a kept one and closed as soon as it was used: nobody has seen the request. */
  get wasStale(): boolean {
    return this.#wasStale;
  }

  #isFresh(): boolean {
    return performance.now() - this.#sentAtMs < STALE_WITHIN_MS;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      if (this.#queue.length === 0) this.#resume();
      if (this.#queue.length > 0) return { done: false, value: this.#take() };
      if (this.#failure !== undefined) throw this.#failure.reason;
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  poll(): Uint8Array | undefined {
    if (this.#queue.length === 0) this.#resume();
    return this.#queue.length > 0 ? this.#take() : undefined;
  }

  whenReady(wake: () => void): boolean {
    if (this.#queue.length > 0 || this.#ended || this.#failure !== undefined) return false;
    this.#wakeReader = wake;
    return true;
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#queue = [];
    if (!this.#ended) this.#fail(new TransportProblem('reset', 'closed by the reader'));
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #onAbort = (): void => {
    this.#queue = [];
    this.#fail(this.#signal.reason);
  };

  #resume(): void {
    if (this.#controller?.paused !== true || this.#failure !== undefined) return;
    this.#deadlines.enter('idle');
    this.#controller.resume();
  }

  #take(): Buffer {
    const queue = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    const [only] = queue;
    return only !== undefined && queue.length === 1 ? only : Buffer.concat(queue);
  }

  /** Ends the exchange. What arrived before is still handed out, unless the reader does not want it. */
  #fail(reason: unknown): void {
    if (this.#ended || this.#failure !== undefined) return;
    this.#failure = { reason };
    this.#controller?.abort(new Error('given up'));
    this.#rejectHead(reason);
    this.#settle();
  }

  #settle(): void {
    this.#deadlines.stop();
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#wake();
  }

  #wake(): void {
    const wake = this.#wakeReader;
    this.#wakeReader = undefined;
    // One read from the socket may bring many chunks: whoever waits takes them together.
    if (wake !== undefined) void AT_ONCE.then(wake);
  }
}

const AT_ONCE = Promise.resolve();

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}
