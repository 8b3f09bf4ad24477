import { GatewayError, toGatewayError } from '../../ir/errors.ts';
import { type EventBatch, terminalIndex } from '../../ir/events.ts';
import type { Flow, FlowSource } from '../../kit/frames/flow.ts';
import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { UpstreamReading } from '../leg/upstream-reading.ts';

/** Milliseconds that a stage may take to end after the caller left, the deadline passed or its answer ended. */
const GRACE_MS = 2000;

/**
 * The events of stages, made safe for settlement: exactly one terminal event unless the caller left, every failure a
 * GatewayError, and an end in bounded time even if a stage hangs.
 */
export class StagedFlow implements AsyncIterableIterator<EventBatch, void, undefined>, Flow<EventBatch> {
  readonly #source: Flow<EventBatch>;
  readonly #reading: Pick<UpstreamReading, 'signal' | 'isAbandoned'>;
  #isOver = false;
  /** Rejects the pending step. */
  #giveUp: ((reason: unknown) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = () => {
    const giveUp = this.#giveUp;
    if (giveUp === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => giveUp(this.#reading.signal.reason), GRACE_MS);
  };

  constructor(pipeline: FlowSource<EventBatch>, reading: Pick<UpstreamReading, 'signal' | 'isAbandoned'>) {
    this.#source = pipeline[Symbol.asyncIterator]();
    this.#reading = reading;
    reading.signal.addEventListener('abort', this.#onAbort);
  }

  async next(): Promise<IteratorResult<EventBatch, void>> {
    if (this.#isOver) return OVER;
    try {
      const step = await this.#step();
      if (step.done === true) return this.#endless();
      return { done: false, value: this.#upToEnd(step.value) };
    } catch (error) {
      this.#end();
      // If the caller left, the answer just ends; an error of a stage is no failure then.
      throw this.#reading.isAbandoned ? error : toGatewayError(error);
    }
  }

  poll(): EventBatch | undefined {
    const batch = this.#isOver ? undefined : this.#source.poll?.();
    return batch === undefined ? undefined : this.#upToEnd(batch);
  }

  whenReady(wake: () => void): boolean {
    return !this.#isOver && (this.#source.whenReady?.(wake) ?? false);
  }

  async return(): Promise<IteratorResult<EventBatch, void>> {
    this.#end();
    const ending = this.#source.return?.() ?? Promise.resolve();
    await isInTime(ending, GRACE_MS).catch(() => {});
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The batch without what follows its terminal event, which ends the flow. */
  #upToEnd(batch: EventBatch): EventBatch {
    const at = terminalIndex(batch);
    if (at === -1) return batch;
    this.#end();
    return batch.slice(0, at + 1);
  }

  /** The failure for a stage that ends without a terminal event: its answer is incomplete. */
  #endless(): IteratorResult<EventBatch, void> {
    this.#end();
    const { signal, isAbandoned } = this.#reading;
    if (isAbandoned) return OVER;
    const error =
      signal.reason instanceof GatewayError
        ? signal.reason
        : new GatewayError('server', 'The answer ended without a terminal event');
    return { done: false, value: [{ type: 'failure', error }] };
  }

  /** The next events, or the reason of the abort after a grace period. */
  #step(): Promise<IteratorResult<EventBatch, unknown>> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      if (this.#reading.signal.aborted) this.#onAbort();
      this.#source.next().then(
        (step) => {
          this.#settled();
          resolve(step);
        },
        (error: unknown) => {
          this.#settled();
          reject(error);
        },
      );
    });
  }

  #settled(): void {
    this.#giveUp = undefined;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** No step is pulled any more. */
  #end(): void {
    this.#isOver = true;
    this.#reading.signal.removeEventListener('abort', this.#onAbort);
  }
}

const OVER = { done: true, value: undefined } as const;
