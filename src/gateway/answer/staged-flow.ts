import { GatewayError, toGatewayError } from '../../ir/errors.ts';
import { type EventBatch, terminalIndex } from '../../ir/events.ts';
import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { UpstreamReading } from '../leg/upstream-reading.ts';

/** Milliseconds that a stage may take to end after the caller left, the deadline passed or its answer ended. */
const GRACE_MS = 2000;

/**
 * The events of stages, made safe for settlement: exactly one terminal event unless the caller left, every failure a
 * GatewayError, and an end in bounded time even if a stage hangs.
 */
export class StagedFlow implements AsyncIterableIterator<EventBatch, void, undefined> {
  readonly #source: AsyncIterator<EventBatch, unknown, undefined>;
  readonly #reading: Pick<UpstreamReading, 'signal' | 'isAbandoned'>;
  #isOver = false;

  constructor(pipeline: AsyncIterable<EventBatch>, reading: Pick<UpstreamReading, 'signal' | 'isAbandoned'>) {
    this.#source = pipeline[Symbol.asyncIterator]();
    this.#reading = reading;
  }

  async next(): Promise<IteratorResult<EventBatch, void>> {
    if (this.#isOver) return OVER;
    try {
      const step = await this.#step();
      if (step.done === true) return this.#endless();
      const at = terminalIndex(step.value);
      if (at === -1) return step;
      this.#isOver = true;
      return { done: false, value: step.value.slice(0, at + 1) };
    } catch (error) {
      this.#isOver = true;
      // If the caller left, the answer just ends; an error of a stage is no failure then.
      throw this.#reading.isAbandoned ? error : toGatewayError(error);
    }
  }

  async return(): Promise<IteratorResult<EventBatch, void>> {
    this.#isOver = true;
    const ending = this.#source.return?.() ?? Promise.resolve();
    await isInTime(ending, GRACE_MS).catch(() => {});
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The failure for a stage that ends without a terminal event: its answer is incomplete. */
  #endless(): IteratorResult<EventBatch, void> {
    this.#isOver = true;
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
    const { signal } = this.#reading;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const onAbort = () => {
        timer = setTimeout(() => reject(signal.reason), GRACE_MS);
      };
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort);
      this.#source.next().then(
        (step) => {
          done();
          resolve(step);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
    });
  }
}

const OVER = { done: true, value: undefined } as const;
