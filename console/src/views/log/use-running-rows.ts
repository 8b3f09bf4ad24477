import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import type { RunningGenerationObject, RunningGenerationsReply } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';
import { canFilterRunning } from './log-fields.ts';
import { afterLook, type SeenRunning, type ShownGeneration, shownRunning } from './shown-generation.ts';
import { LIVE_EVERY_MS } from './use-log-rows.ts';

/** Running generations that are shown; beyond that the oldest are left out. */
const MAX_RUNNING_ROWS = 200;

const NONE: readonly SeenRunning[] = [];
const NO_ROWS: readonly ShownGeneration[] = [];

/** Generations that run now, as rows. */
export interface RunningRows {
  /** All that match; null = unknown, because the log is not live or a filter concerns the end. */
  readonly total: number | null;
  readonly rows: readonly ShownGeneration[];
  /** Those that the gateway listed at the last look: they have no record yet. */
  readonly isRunning: (id: string) => boolean;
}

/** Looks for running generations while the log is live. */
export function useRunningRows(parameters: Readonly<Record<string, string>>, isLive: boolean): RunningRows {
  const isAsked = isLive && canFilterRunning(parameters);
  const look = useQuery({
    queryKey: ['log-running', parameters],
    meta: partMeta('What is running'),
    enabled: isAsked,
    refetchInterval: LIVE_EVERY_MS,
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const query = { ...parameters, limit: MAX_RUNNING_ROWS };
      const reply = await ask<RunningGenerationsReply>('/generations/running', { query, signal });
      return { ...reply, atMs: Date.now() };
    },
  });
  const found = isAsked ? look.data : undefined;
  const [seen, setSeen] = useState(NONE);
  useEffect(() => {
    setSeen((before) => (found === undefined ? NONE : afterLook(before, found.data, found.atMs)));
  }, [found]);
  if (found === undefined) return { total: null, rows: NO_ROWS, isRunning: () => false };
  const listed = new Set(found.data.map(({ id }: RunningGenerationObject) => id));
  return {
    total: found.total_count,
    rows: seen.map(({ row, seenMs }) => shownRunning(row, seenMs)),
    isRunning: (id) => listed.has(id),
  };
}
