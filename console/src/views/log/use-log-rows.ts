import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { GenerationsReply, LoggedGenerationObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';
import { knownMomentsOf, type Range } from '../../parts/range/range.ts';
import { type LogOrder, orderParameters } from './log-order.ts';
import { mergedRows } from './merge-rows.ts';

/** Rows of a page. */
const PAGE_ROWS = 200;

/** Milliseconds after which a search first answers with what it has found, and the most after which it does later. */
const FIRST_WITHIN_MS = 150;
const MAX_WITHIN_MS = 1_200;

/** How long a search may take that has stopped so many times: the longer it is, the less often it is asked to go on. */
export function searchWithinMs(stops: number): number {
  return Math.min(MAX_WITHIN_MS, FIRST_WITHIN_MS * 2 ** stops);
}

/** How often a live log looks for new rows and for running ones, milliseconds. Not while the page is hidden. */
export const LIVE_EVERY_MS = 3_000;

/** How far a look goes back behind the latest end that is known: rows of other gateways come late. */
const OVERLAP_MS = 10_000;

/** New rows that are kept; beyond that the oldest are dropped, until the log is loaded again. */
const MAX_FRESH_ROWS = 2_000;

interface PageStart {
  readonly after: string | undefined;
  readonly from: string;
  readonly to: string;
  /** How many times the search has stopped since the last full page. */
  readonly stops: number;
}

interface Page extends GenerationsReply, Pick<PageStart, 'from' | 'to' | 'stops'> {}

/** The rows of the log as far as they are loaded, and new ones while it is live. */
export function useLogRows(
  range: Range,
  parameters: Readonly<Record<string, string>>,
  { order, isLive, isHeld }: { readonly order: LogOrder; readonly isLive: boolean; readonly isHeld: boolean },
) {
  const isByTime = order.by === 'created_at';
  const early = useEarlyRows(range, parameters, order);
  const pages = useInfiniteQuery({
    queryKey: ['log', range, parameters, order],
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const { after, from, to, stops } = pageParam ?? startOf(range);
      const page = await ask<GenerationsReply>('/generations', {
        query: {
          ...parameters,
          ...orderParameters(order),
          from,
          to,
          limit: PAGE_ROWS,
          after,
          ...(isByTime && { within_ms: searchWithinMs(stops) }),
        },
        signal,
      });
      return { ...page, from, to, stops };
    },
    initialPageParam: null as PageStart | null,
    getNextPageParam: ({ next, from, to, stops, searched_to: searchedTo }: Page): PageStart | null =>
      next === null ? null : { after: next, from, to, stops: searchedTo === null ? 0 : stops + 1 },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // Rows of pages never change: comparing all that were loaded, with every further page, takes longer and longer.
    structuralSharing: false,
  });
  const first = pages.data?.pages[0];
  const isEarly = pages.isPending && early !== undefined;
  const searchedTo = (isEarly ? early : pages.data?.pages.at(-1))?.searched_to ?? null;
  // A search that stopped goes on until there is a page of rows.
  const isToGoOn = isByTime && searchedTo !== null && !pages.isFetching && !pages.isError;
  useEffect(() => {
    if (isToGoOn) void pages.fetchNextPage();
  }, [isToGoOn]);
  const fresh = useFreshRows(range, parameters, isLive ? first : undefined);
  const [shown, setShown] = useState(0);
  useEffect(() => {
    if (!isHeld) setShown(fresh.length);
  }, [isHeld, fresh.length]);
  const loaded = useMemo(
    () => (isEarly ? early.data : (pages.data?.pages.flatMap(({ data }) => data) ?? NO_ROWS)),
    [pages.data, isEarly],
  );
  const visible = isHeld ? fresh.slice(0, shown) : fresh;
  const rows = mergedRows(visible, loaded);
  return {
    rows,
    newer: mergedRows(fresh, loaded).length - rows.length,
    showNewer: () => setShown(fresh.length),
    isPending: pages.isPending && !isEarly,
    error: pages.error,
    retry: () => void pages.refetch(),
    /** The moment that a search has come to that still goes on; null = none does. */
    searchedTo,
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    loadMore: () => {
      if (pages.hasNextPage && !pages.isFetchingNextPage) void pages.fetchNextPage();
    },
  };
}

/**
 * The first rows of the newest part of the range, in another order than that of time: any row may be the first of all,
 * so the final page takes longer. Undefined if there is no need, or until they are there.
 */
function useEarlyRows(
  range: Range,
  parameters: Readonly<Record<string, string>>,
  order: LogOrder,
): GenerationsReply | undefined {
  const { from, to } = useMemo(() => startOf(range), [range.from, range.to]);
  const read = useQuery({
    queryKey: ['log-early', range, parameters, order],
    enabled: order.by !== 'created_at',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // Whatever is wrong, the question for the final page says it.
    retry: false,
    queryFn: ({ signal }) =>
      ask<GenerationsReply>('/generations', {
        query: {
          ...parameters,
          ...orderParameters(order),
          from,
          to,
          limit: PAGE_ROWS,
          within_ms: searchWithinMs(0),
        },
        signal,
      }),
  });
  return read.data;
}

const NO_ROWS: readonly LoggedGenerationObject[] = [];

/** The moments of a range by now, for the first page of it. */
export function startOf(range: Range) {
  const { fromMs, toMs } = knownMomentsOf(range, Date.now());
  return {
    after: undefined,
    countedFrom: undefined,
    stops: 0,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  };
}

/** The latest end of rows by the gateway's clock, which the browser's may differ from; null without rows. */
function latestEnd(rows: readonly LoggedGenerationObject[]): number | null {
  const ends = rows.map(({ created_at, duration_ms }) => Date.parse(created_at) + (duration_ms ?? 0));
  return ends.length === 0 ? null : ends.reduce((latest, end) => Math.max(latest, end));
}

/** Rows that ended since the first page was read, in the order in which they came. No first page = not live. */
function useFreshRows(
  range: Range,
  parameters: Readonly<Record<string, string>>,
  first: Page | undefined,
): readonly LoggedGenerationObject[] {
  const [fresh, setFresh] = useState(NO_ROWS);
  const look = useQuery({
    queryKey: ['log-fresh', range, parameters],
    meta: partMeta('What is new'),
    enabled: first !== undefined,
    refetchInterval: LIVE_EVERY_MS,
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const { from } = startOf(range);
      const latest = latestEnd([...(first?.data ?? []), ...fresh]) ?? Date.parse(from);
      const since = new Date(Math.max(0, latest - OVERLAP_MS)).toISOString();
      const query = { ...parameters, from, ended_from: since, limit: 1_000 };
      return (await ask<GenerationsReply>('/generations', { query, signal })).data;
    },
  });
  // What a live list of before has found does not belong into one of another order.
  const found = first === undefined ? undefined : look.data;
  useEffect(() => {
    if (found === undefined) return;
    setFresh((before) => {
      const known = new Set(before.map(({ id }) => id));
      const added = found.filter(({ id }) => !known.has(id));
      return added.length === 0 ? before : [...before, ...added].slice(-MAX_FRESH_ROWS);
    });
  }, [found]);
  return fresh;
}
