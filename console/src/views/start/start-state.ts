import { type QueryClient, useQuery, useQueryClient } from '@tanstack/preact-query';
import type { CurrentKey, LoggedGenerationObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';
import { CONSOLE_REQUEST_ID } from '../playground/run-answer.ts';

/** Which of the three steps are done. */
export interface StartState {
  /** Any request was answered. */
  readonly isAsked: boolean;
  /** A provider other than the simulator serves a model. */
  readonly hasProvider: boolean;
  /** A request came from elsewhere than this console. */
  readonly hasClient: boolean;
}

/** Rows that are looked at for a request of a client. */
const ROWS = 100;

/** How long the question for them waits at most while the view that was opened reads its own answers. */
const PATIENCE_MS = 2_000;
const PAUSE_MS = 100;

const BEFORE_ALL = '2020-01-01T00:00:00Z';

export function startStateOf(
  rows: readonly Pick<LoggedGenerationObject, 'request_id'>[],
  modelIds: readonly string[],
): StartState {
  return {
    isAsked: rows.length > 0,
    hasProvider: modelIds.some((id) => !id.startsWith('simulator/')),
    hasClient: rows.some(({ request_id: id }) => id !== CONSOLE_REQUEST_ID),
  };
}

/** The state of the steps; undefined = not known yet, or not for this key. */
export function useStartState(key: CurrentKey, everyMs: number | false = false): StartState | undefined {
  const isEnabled = key.is_management_key && !isStartSkipped();
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ['start'],
    meta: partMeta('Which steps are done', { onlyAt: '/start' }),
    queryFn: async () => {
      await untilQuiet(client);
      const [{ data: rows }, { data: models }] = await Promise.all([
        ask<{ data: LoggedGenerationObject[] }>('/generations', { query: { from: BEFORE_ALL, limit: ROWS } }),
        ask<{ data: { id: string }[] }>('/models'),
      ]);
      return startStateOf(
        rows,
        models.map(({ id }) => id),
      );
    },
    enabled: isEnabled,
    staleTime: 60_000,
    refetchInterval: ({ state }) => (isDone(state.data) ? false : everyMs),
  });
  return isEnabled ? data : undefined;
}

/** Resolves once no other question is open. */
async function untilQuiet(client: QueryClient): Promise<void> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += PAUSE_MS) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (client.isFetching() <= 1) return;
  }
}

export function isDone(state: StartState | undefined): boolean {
  return state?.isAsked === true && state.hasProvider && state.hasClient;
}

/** A choice of this browser, as the theme is. */
const SKIPPED_AS = 'signalbox-start-skipped';

export function isStartSkipped(): boolean {
  return localStorage.getItem(SKIPPED_AS) === '1';
}

export function skipStart(): void {
  localStorage.setItem(SKIPPED_AS, '1');
}
