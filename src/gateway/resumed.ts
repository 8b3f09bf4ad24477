/**
 * A sequence whose first step was already pulled, from that step on. Ending it early ends the source, also before
 * anything was pulled from here: a generator around it would not be told then.
 */
export function resumed<T>(
  first: IteratorResult<T, void>,
  source: AsyncGenerator<T, void, void>,
): AsyncIterableIterator<T, void, void> {
  let pulled: typeof first | undefined = first;
  return {
    async next() {
      const step = pulled ?? (await source.next());
      pulled = undefined;
      return step;
    },
    return() {
      pulled = undefined;
      return source.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
