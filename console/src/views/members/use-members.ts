import { type InfiniteData, useInfiniteQuery } from '@tanstack/preact-query';
import type { MemberObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';

export const MEMBERS_PATH = '/organization/members';

export const MEMBERS_QUERY = ['members'];

const PER_PAGE = 100;

interface MemberPage {
  readonly data: readonly MemberObject[];
  readonly total_count: number;
}

/** The members of the account, oldest first, as far as they were read; further pages are read on demand. */
export function useMembers(search: string | null) {
  const read = useInfiniteQuery<MemberPage, Error, InfiniteData<MemberPage>, readonly unknown[], number>({
    queryKey: [...MEMBERS_QUERY, search],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      ask<MemberPage>(MEMBERS_PATH, {
        query: { offset: pageParam, limit: PER_PAGE, search: search ?? undefined },
        signal,
      }),
    getNextPageParam: ({ total_count: total }, pages) =>
      pages.length * PER_PAGE < total ? pages.length * PER_PAGE : undefined,
  });
  const { hasNextPage, isFetching, fetchNextPage } = read;
  return {
    members: read.data?.pages.flatMap(({ data }) => data) ?? [],
    total: read.data?.pages[0]?.total_count,
    readMore: hasNextPage && !isFetching ? () => void fetchNextPage() : undefined,
    isPending: read.isPending,
    error: read.error,
    retry: () => void read.refetch(),
  };
}
