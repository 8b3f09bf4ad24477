import type { Flow } from '../../kit/frames/flow.ts';

/** A sequence that can be ended early. */
interface Resumable<T> extends Pick<Flow<T>, 'poll' | 'whenReady'> {
  next(): Promise<IteratorResult<T, void>>;
  return(): Promise<IteratorResult<T, void>>;
}

/**
 * A sequence whose first step was already pulled, from that step on. Ending it early ends the source, also before its
 * first step: a generator would not be notified then.
 */
export class Resumed<T> implements AsyncIterableIterator<T, void, undefined>, Flow<T> {
  #pulled: IteratorResult<T, void> | undefined;
  readonly #source: Resumable<T>;

  constructor(first: IteratorResult<T, void>, source: Resumable<T>) {
    this.#pulled = first;
    this.#source = source;
  }

  next(): Promise<IteratorResult<T, void>> {
    const step = this.#pulled;
    this.#pulled = undefined;
    return step === undefined ? this.#source.next() : Promise.resolve(step);
  }

  poll(): T | undefined {
    return this.#pulled === undefined ? this.#source.poll?.() : undefined;
  }

  whenReady(wake: () => void): boolean {
    return this.#pulled === undefined && (this.#source.whenReady?.(wake) ?? false);
  }

  return(): Promise<IteratorResult<T, void>> {
    this.#pulled = undefined;
    return this.#source.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
