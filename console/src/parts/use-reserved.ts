import { useQuery } from '@tanstack/preact-query';
import type { RunningGenerationObject, RunningGenerationsReply } from '../api/contract.ts';
import { partMeta } from '../api/part.ts';
import { ask } from '../api/request.ts';

/** How often it is read again, milliseconds. */
const EVERY_MS = 15_000;
const MAX_ROWS = 1_000;

/** A key by its hash, or a workspace by its id. */
export type Payer = { readonly key: string } | { readonly workspace: string };

const NONE: readonly RunningGenerationObject[] = [];

/** Returns how much money is held for the running generations of a payer. One question serves a whole view. */
export function useReserved(): (payer: Payer) => number {
  const running = useQuery({
    queryKey: ['reserved'],
    meta: partMeta('What is reserved'),
    queryFn: async ({ signal }) =>
      (await ask<RunningGenerationsReply>('/generations/running', { query: { limit: MAX_ROWS }, signal }))
        .data,
    refetchInterval: EVERY_MS,
    staleTime: EVERY_MS,
  });
  return (payer) => reservedOf(running.data ?? NONE, payer);
}

/** The sum of what is held for the generations of a payer. */
export function reservedOf(running: readonly RunningGenerationObject[], payer: Payer): number {
  return running
    .filter((row) => ('key' in payer ? row.key_hash === payer.key : row.workspace_id === payer.workspace))
    .reduce((sum, { reserved }) => sum + reserved, 0);
}
