import { useQuery } from '@tanstack/preact-query';
import type { LoggedGenerationObject } from './contract.ts';
import { partMeta } from './part.ts';
import { ask } from './request.ts';

/** Requests that were refused within this time count as refused now, milliseconds. */
export const REFUSED_NOW_MS = 15 * 60_000;

/** Rows that are looked at: a row of a flood stands for many requests. */
const REFUSED_ROWS = 200;

const EVERY_MS = 60_000;

/** The newest rows of requests that were refused before any provider was called; empty until they are known. */
export function useRefusedNow(): readonly LoggedGenerationObject[] {
  const refused = useQuery({
    queryKey: ['refused-now'],
    meta: partMeta('Requests that are refused'),
    queryFn: () =>
      ask<{ data: LoggedGenerationObject[] }>('/generations', {
        query: {
          state: 'refused',
          from: new Date(Date.now() - REFUSED_NOW_MS).toISOString(),
          limit: REFUSED_ROWS,
        },
      }),
    refetchInterval: EVERY_MS,
  });
  return refused.data?.data ?? NONE;
}

const NONE: readonly LoggedGenerationObject[] = [];
