import type { Clock } from './ids.ts';

/**
 * Work that is done in slices of a millisecond or so: yields after each, and returns what came of it. Pure: whoever runs
 * it decides what happens between the slices.
 */
export type Sliced<T> = Generator<void, T, void>;

/** Runs work in slices, each in a turn of the event loop of its own. Work of a single slice is done at once. */
export async function runInTurns<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const slice = work.next();
    if (slice.done === true) return slice.value;
    await nextTurn();
  }
}

/** Milliseconds that a step may take without others having their turn after it. */
const LONG_STEP_MS = 2;

/** Does one step of the work on a request; after a long one, what follows waits for the next turn of the event loop. */
export async function inTurn<T>(clock: Pick<Clock, 'monotonic'>, step: () => T): Promise<T> {
  const started = clock.monotonic();
  const result = step();
  if (clock.monotonic() - started > LONG_STEP_MS) await nextTurn();
  return result;
}

/** Resolves in the next turn of the event loop. Promises that are already settled never let it turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
