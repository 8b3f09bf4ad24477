import {
  LOG_SORT_VALUES,
  type LogCounts,
  type LogCountsQuery,
  type LogFilter,
  type LoggedGeneration,
  type LogPage,
  type LogQuery,
} from '../../ports/events/events.ts';

/** Length of the first part of a range that is searched for a page, and by how much each further one is longer. */
export const FIRST_SEARCHED_MS = 3_600_000;
const PART_GROWTH = 6;

/** Length of the first part that is counted, if counting may stop: shorter ones cost as much. */
const FIRST_COUNTED_MS = 86_400_000;

/** Share of the time below which no further part is begun. */
const LEAST_TIME_LEFT = 0.1;

type Range = Pick<LogFilter, 'fromMs' | 'toMs'>;

interface Reading {
  readonly isNewestFirst: boolean;
  /** Length of the first part. */
  readonly firstMs: number;
  /** Ends of parts inside the range are multiples of this. */
  readonly alignedMs: number;
  /** See `LogQuery`. */
  readonly stopAfterMs: number | null;
}

/**
 * The parts of a range in the order of reading. A part is longer than the one before, but not longer than the time left
 * allows at the pace of that one. Returns where reading stopped for lack of time; null = nowhere.
 */
export function* partsOf({ fromMs, toMs }: Range, reading: Reading): Generator<Range, number | null> {
  const { isNewestFirst, firstMs, alignedMs, stopAfterMs } = reading;
  const begunMs = performance.now();
  let edgeMs = isNewestFirst ? toMs : fromMs;
  let length = firstMs;
  for (;;) {
    const partBegunMs = performance.now();
    const part = isNewestFirst
      ? { fromMs: Math.max(fromMs, floorTo(edgeMs - length, alignedMs)), toMs: edgeMs }
      : { fromMs: edgeMs, toMs: Math.min(toMs, floorTo(edgeMs + length + alignedMs - 1, alignedMs)) };
    if (part.fromMs >= part.toMs) return null;
    yield part;
    edgeMs = isNewestFirst ? part.fromMs : part.toMs;
    const now = performance.now();
    const leftMs = stopAfterMs === null ? Number.POSITIVE_INFINITY : begunMs + stopAfterMs - now;
    const isDone = edgeMs === (isNewestFirst ? fromMs : toMs);
    if (!isDone && leftMs < (stopAfterMs ?? 0) * LEAST_TIME_LEFT) return edgeMs;
    length = Math.ceil(length * Math.min(PART_GROWTH, leftMs / Math.max(now - partBegunMs, 0.1)));
  }
}

function floorTo(value: number, multiple: number): number {
  return Math.floor(value / multiple) * multiple;
}

export interface LogPartQuery extends LogQuery {
  /** Rows beyond this value, in the order of the page, do not belong to the page; null = unknown. */
  readonly bound: bigint | null;
}

type ReadPart = (part: LogPartQuery) => Promise<readonly LoggedGeneration[]>;

/**
 * Reads a page part by part. Nearly always the first parts have enough rows; only a filter that hardly anything matches
 * needs them all. So the time of a page hardly depends on the size of the history.
 */
export async function readLogPage(query: LogQuery, read: ReadPart): Promise<LogPage> {
  if (query.sort !== 'arrival') return readSortedPage(query, read);
  const isNewestFirst = query.order === 'desc';
  const { after, stopAfterMs } = query;
  const range = {
    fromMs: after === null || isNewestFirst ? query.fromMs : Math.max(query.fromMs, Number(after.value)),
    toMs: after === null || !isNewestFirst ? query.toMs : Math.min(query.toMs, Number(after.value) + 1),
  };
  const parts = partsOf(range, { isNewestFirst, firstMs: FIRST_SEARCHED_MS, alignedMs: 1, stopAfterMs });
  const rows: LoggedGeneration[] = [];
  for (;;) {
    const part = parts.next();
    if (part.done === true) return { rows, searchedToMs: part.value };
    const limit = query.limit - rows.length;
    for (const row of await read({ ...query, ...part.value, limit, bound: null })) rows.push(row);
    if (rows.length >= query.limit) return { rows, searchedToMs: null };
  }
}

/**
 * Reads a page in another order than that of arrival, the newest part of the range first. Rows of any time may belong
 * to it, but once the page is full, few of a further part do: only those are read.
 */
async function readSortedPage(query: LogQuery, read: ReadPart): Promise<LogPage> {
  const { stopAfterMs, limit } = query;
  const parts = partsOf(query, {
    isNewestFirst: true,
    firstMs: FIRST_SEARCHED_MS,
    alignedMs: 1,
    stopAfterMs,
  });
  const sortValue = LOG_SORT_VALUES[query.sort];
  const sign = query.order === 'desc' ? -1 : 1;
  const inOrder = (one: LoggedGeneration, other: LoggedGeneration): number => {
    const [first, second] = [sortValue(one), sortValue(other)];
    if (first !== second) return first < second ? -sign : sign;
    return one.id < other.id ? -sign : sign;
  };
  let rows: readonly LoggedGeneration[] = [];
  for (;;) {
    const part = parts.next();
    if (part.done === true) return { rows, searchedToMs: part.value };
    const last = rows.length < limit ? undefined : rows.at(-1);
    const found = await read({
      ...query,
      ...part.value,
      bound: last === undefined ? null : sortValue(last),
    });
    rows = [...rows, ...found].sort(inOrder).slice(0, limit);
  }
}

/** Counts part by part, the newest first, or all at once if there is time. */
export async function readLogCounts(
  query: LogCountsQuery,
  count: (part: LogCountsQuery) => Promise<LogCounts['buckets']>,
): Promise<Pick<LogCounts, 'buckets' | 'countedFromMs'>> {
  const { fromMs, toMs, bucketMs, stopAfterMs } = query;
  if (stopAfterMs === null) return { buckets: await count(query), countedFromMs: null };
  const parts = partsOf(
    { fromMs, toMs },
    { isNewestFirst: true, firstMs: FIRST_COUNTED_MS, alignedMs: bucketMs, stopAfterMs },
  );
  const counted: LogCounts['buckets'][] = [];
  for (;;) {
    const part = parts.next();
    if (part.done === true) return { buckets: counted.reverse().flat(), countedFromMs: part.value };
    counted.push(await count({ ...query, ...part.value }));
  }
}
