import { QueryClient } from '@tanstack/preact-query';
import { ApiError, Unreachable } from './request.ts';

/** The longest pause between two tries while the gateway does not answer, milliseconds. */
export const LONGEST_PAUSE_MS = 10_000;

/** The gateway answers, and a part that it needs does not. */
function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503;
}

/**
 * When a query is asked again: at its own pace, not at all after a failure, and while a part of the gateway does not
 * answer until it does. For queries with a pace of their own, which takes the place of the default.
 */
export function askedAgain(error: unknown, everyMs: number | false): number | false {
  if (isUnavailable(error)) return LONGEST_PAUSE_MS;
  return error === null ? everyMs : false;
}

/**
 * Creates what keeps the answers of all views. Reads are tried again while the gateway does not answer, never after a
 * refusal. If only a part of it does not, the view says so after the second try and goes on asking.
 */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => error instanceof Unreachable || (isUnavailable(error) && failures < 1),
        refetchInterval: ({ state }) => askedAgain(state.error, false),
        retryDelay: (count) => Math.min(500 * 2 ** count, LONGEST_PAUSE_MS),
        staleTime: 5_000,
      },
    },
  });
}

/** Calls back with the gateway's words when an answer says that the session has ended. */
export function watchSession(queries: QueryClient, onEnded: (reason: string) => void): void {
  const check = (error: unknown): void => {
    if (error instanceof ApiError && error.status === 401) onEnded(error.message);
  };
  queries.getQueryCache().config.onError = check;
  queries.getMutationCache().config.onError = check;
}
