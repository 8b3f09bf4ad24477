import type { Flow, Polling } from '../kit/flow.ts';

/**
 * A sequence whose first step was already pulled, from that step on. Ending it early ends the source, also before
 * anything was pulled from here: a generator around it would not be told then.
 */
export function resumed<T>(
  first: IteratorResult<T, void>,
  source: AsyncGenerator<T, void, void> & Partial<Polling<T>>,
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
