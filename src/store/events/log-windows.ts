import type { LogQuery } from '../../ports/events.ts';

/** Length of the first part of a range that is searched for a page, and by how much each further one is longer. */
const FIRST_WINDOW_MS = 3_600_000;
const WINDOW_GROWTH = 6;

/**
 * The range of a page in parts, in its order. Nearly always the first parts have enough rows; only a filter that
 * hardly anything matches needs them all. So the time of a page hardly depends on the size of the history. In another
 * order than that of arrival, rows of any time may come first: there is one part.
 */
export function* logWindows(query: LogQuery): Generator<LogQuery> {
  if (query.sort !== 'arrival') {
    yield query;
    return;
  }
  const isDescending = query.order === 'desc';
  const { after } = query;
  const fromMs = after === null || isDescending ? query.fromMs : Math.max(query.fromMs, Number(after.value));
  const toMs = after === null || !isDescending ? query.toMs : Math.min(query.toMs, Number(after.value) + 1);
  let done = 0;
  for (let length = FIRST_WINDOW_MS; done < toMs - fromMs; length *= WINDOW_GROWTH) {
    const next = Math.min(done + length, toMs - fromMs);
    yield isDescending
      ? { ...query, fromMs: toMs - next, toMs: toMs - done }
      : { ...query, fromMs: fromMs + done, toMs: fromMs + next };
    done = next;
  }
}
