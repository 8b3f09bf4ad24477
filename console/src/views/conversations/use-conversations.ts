import { useInfiniteQuery } from '@tanstack/preact-query';
import type { ConversationsReply } from '../../api/contract.ts';
import { askedAgain } from '../../api/queries.ts';
import { ask } from '../../api/request.ts';
import { knownMomentsOf, type Range } from '../../parts/range/range.ts';
import type { Sort } from '../../parts/table/sort.ts';

/** Conversations of a page. */
const PAGE_ROWS = 50;

/** How often the first page is read again, milliseconds, while the range goes on. */
const EVERY_MS = 15_000;

interface PageStart {
  readonly after: string | undefined;
  readonly from: string;
  readonly to: string;
}

interface Page extends ConversationsReply, Pick<PageStart, 'from' | 'to'> {}

/** The conversations of a range, as far as they were read. All pages are of the range as it was for the first. */
export function useConversations(
  range: Range,
  parameters: Readonly<Record<string, string>>,
  { by, isDescending }: Sort,
) {
  const read = useInfiniteQuery({
    queryKey: ['conversations', range, parameters, by, isDescending],
    initialPageParam: null as PageStart | null,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const { after, from, to } = pageParam ?? startOf(range);
      const order = isDescending ? 'desc' : 'asc';
      const query = { ...parameters, sort: by, order, from, to, limit: PAGE_ROWS, after };
      return {
        ...(await ask<ConversationsReply>('/generations/conversations', { query, signal })),
        from,
        to,
      };
    },
    getNextPageParam: ({ next, from, to }: Page): PageStart | null =>
      next === null ? null : { after: next, from, to },
    // A reader of further pages must not lose them.
    refetchInterval: ({ state }) =>
      askedAgain(state.error, range.to === 'now' && state.data?.pages.length === 1 ? EVERY_MS : false),
  });
  const pages = read.data?.pages ?? [];
  return {
    conversations: pages.flatMap(({ data }) => data),
    missingBefore: pages[0]?.missing_before ?? null,
    hasMore: read.hasNextPage,
    readMore: read.hasNextPage && !read.isFetching ? () => void read.fetchNextPage() : undefined,
    isPending: read.isPending,
    isReadingMore: read.isFetchingNextPage,
    error: read.error,
    retry: () => void read.refetch(),
  };
}

function startOf(range: Range): PageStart {
  const { fromMs, toMs } = knownMomentsOf(range, Date.now());
  return { after: undefined, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
