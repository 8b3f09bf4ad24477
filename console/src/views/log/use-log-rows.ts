import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { GenerationsReply, LoggedGenerationObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { knownMomentsOf, type Range } from '../../parts/range/range.ts';
import { type LogOrder, orderParameters } from './log-order.ts';
import { mergedRows } from './merge-rows.ts';

/** Rows of a page. */
const PAGE_ROWS = 200;

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
}

interface Page extends GenerationsReply {
  readonly from: string;
  readonly to: string;
}

/** The rows of the log as far as they are loaded, and new ones while it is live. */
export function useLogRows(
  range: Range,
  parameters: Readonly<Record<string, string>>,
  { order, isLive, isHeld }: { readonly order: LogOrder; readonly isLive: boolean; readonly isHeld: boolean },
) {
  const pages = useInfiniteQuery({
    queryKey: ['log', range, parameters, order],
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const { after, from, to } = pageParam ?? startOf(range);
      const page = await ask<GenerationsReply>('/generations', {
        query: { ...parameters, ...orderParameters(order), from, to, limit: PAGE_ROWS, after },
        signal,
      });
      return { ...page, from, to };
    },
    initialPageParam: null as PageStart | null,
    getNextPageParam: ({ next, from, to }: Page): PageStart | null =>
      next === null ? null : { after: next, from, to },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // Rows of pages never change: comparing all that were loaded, with every further page, takes longer and longer.
    structuralSharing: false,
  });
  const first = pages.data?.pages[0];
  const fresh = useFreshRows(range, parameters, isLive ? first : undefined);
  const [shown, setShown] = useState(0);
  useEffect(() => {
    if (!isHeld) setShown(fresh.length);
  }, [isHeld, fresh.length]);
  const loaded = useMemo(() => pages.data?.pages.flatMap(({ data }) => data) ?? NO_ROWS, [pages.data]);
  const visible = isHeld ? fresh.slice(0, shown) : fresh;
  const rows = mergedRows(visible, loaded);
  return {
    rows,
    newer: mergedRows(fresh, loaded).length - rows.length,
    showNewer: () => setShown(fresh.length),
    isPending: pages.isPending,
    error: pages.error,
    retry: () => void pages.refetch(),
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    loadMore: () => {
      if (pages.hasNextPage && !pages.isFetchingNextPage) void pages.fetchNextPage();
    },
  };
}

const NO_ROWS: readonly LoggedGenerationObject[] = [];

function startOf(range: Range): PageStart {
  const { fromMs, toMs } = knownMomentsOf(range, Date.now());
  return { after: undefined, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
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
  const found = look.data;
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
