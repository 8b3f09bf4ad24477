import type { Flow, Polling } from '../kit/flow.ts';

/** A sequence that can be ended early. */
interface Resumable<T> extends Partial<Polling<T>> {
  next(): Promise<IteratorResult<T, void>>;
  return(): Promise<IteratorResult<T, void>>;
}

/**
 * A sequence whose first step was already pulled, from that step on. Ending it early ends the source, also before
 * anything was pulled from here: a generator around it would not be told then.
 */
export function resumed<T>(
  first: IteratorResult<T, void>,
  source: Resumable<T>,
): AsyncIterableIterator<T, void, undefined> & Flow<T> {
  let pulled: typeof first | undefined = first;
  return {
    next() {
      const step = pulled;
      pulled = undefined;
      return step === undefined ? source.next() : Promise.resolve(step);
    },
    poll: () => (pulled === undefined ? source.poll?.() : undefined),
    whenReady: (wake) => pulled === undefined && (source.whenReady?.(wake) ?? false),
    return() {
      pulled = undefined;
      return source.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
