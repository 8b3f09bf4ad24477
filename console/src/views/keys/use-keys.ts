import { type InfiniteData, useInfiniteQuery } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import type { KeyObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';

/** Keys that the gateway gives at once. */
const KEYS_PER_PAGE = 100;

/** Keys that are read to sort or narrow them here; beyond that the reader has to search. */
export const MAX_COMPARED_KEYS = 1_000;

/** Which keys are shown. */
export interface KeysWanted {
  /** Null = those of every workspace. */
  readonly workspaceId: string | null;
  readonly search: string | null;
  /** They are sorted or narrowed here, so all of them are needed. */
  readonly isCompared: boolean;
}

interface KeyPage {
  readonly data: readonly KeyObject[];
}

/** The keys of the view, newest first, as far as they were read; further pages are read on demand. */
export function useKeys({ workspaceId, search, isCompared }: KeysWanted) {
  const read = useInfiniteQuery<KeyPage, Error, InfiniteData<KeyPage>, readonly unknown[], number>({
    queryKey: ['keys', workspaceId, search],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      ask<KeyPage>('/keys', {
        query: {
          offset: pageParam,
          include_disabled: true,
          include_last_used: true,
          workspace_id: workspaceId ?? undefined,
          all_workspaces: workspaceId === null ? true : undefined,
          search: search ?? undefined,
        },
        signal,
      }),
    getNextPageParam: ({ data }, pages) =>
      data.length < KEYS_PER_PAGE ? undefined : pages.length * KEYS_PER_PAGE,
  });
  const keys = read.data?.pages.flatMap(({ data }) => data) ?? [];
  const { hasNextPage, isFetching, fetchNextPage } = read;
  const isMoreNeeded = isCompared && hasNextPage && keys.length < MAX_COMPARED_KEYS;
  useEffect(() => {
    if (isMoreNeeded && !isFetching) void fetchNextPage();
  }, [isMoreNeeded, isFetching, fetchNextPage]);
  return {
    keys,
    /** There are keys that were not read yet. */
    hasMore: hasNextPage,
    readMore: hasNextPage && !isFetching ? () => void fetchNextPage() : undefined,
    isPending: read.isPending,
    error: read.error,
    retry: () => void read.refetch(),
  };
}
