import { useQueryClient } from '@tanstack/preact-query';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../api/request.ts';
import type { Draft, Turn } from './conversation.ts';
import type { Format } from './format.ts';
import { type Entry, lastRun, newRun, turnsOf, withRun } from './pane-state.ts';
import { runAnswer } from './run-answer.ts';
import { useKept } from './use-kept.ts';

/** What a request needs besides the conversation of its pane. */
export interface Asking {
  readonly format: Format;
  readonly draft: Omit<Draft, 'turns'>;
  readonly actAs: string | null;
}

export interface PaneControl {
  readonly entries: readonly Entry[];
  readonly isRunning: boolean;
  /** Adds turns to the conversation and asks for the next answer. */
  ask(turns: readonly Turn[], asking: Asking): void;
  /** Asks again for the last answer. */
  retry(asking: Asking): void;
  stop(): void;
  /** Replaces the conversation. */
  load(turns: readonly Turn[]): void;
}

let lastId = 0;

/** The conversation of one pane. It is kept while another view is open; an answer that runs then is stopped. */
export function usePane(name: string): PaneControl {
  const queries = useQueryClient();
  const [entries, setEntries] = useKept<readonly Entry[]>(`pane-${name}`, []);
  const running = useRef<AbortController | null>(null);
  const stop = useCallback(() => running.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const start = (before: readonly Entry[], { format, draft, actAs }: Asking): void => {
    stop();
    const controller = new AbortController();
    running.current = controller;
    const id = ++lastId;
    const run = newRun(id, format.name);
    const change = (part: Parameters<typeof withRun>[2]): void =>
      setEntries((current) => withRun(current, id, part));
    setEntries(() => [...before, { kind: 'run', run }]);
    runAnswer({
      format,
      body: format.body({ ...draft, turns: turnsOf(before) }),
      actAs,
      signal: controller.signal,
      onProgress: change,
    })
      .then(
        () => change({ state: 'done' }),
        (error: unknown) => {
          if (controller.signal.aborted) return change({ state: 'stopped' });
          const generationId = loggedId(error);
          change({ state: 'failed', error, ...(generationId !== null && { generationId }) });
          // A session that ended shows in every read.
          if (error instanceof ApiError && error.status === 401) void queries.invalidateQueries();
        },
      )
      .finally(() => {
        if (running.current === controller) running.current = null;
        void queries.invalidateQueries({ queryKey: ['explain'] });
      });
  };

  return {
    entries,
    isRunning: lastRun(entries)?.state === 'running',
    ask: (turns, asking) =>
      start([...entries, ...turns.map((turn): Entry => ({ kind: 'turn', turn }))], asking),
    retry: (asking) => start(entries.slice(0, -1), asking),
    stop,
    load(turns) {
      stop();
      setEntries(() => turns.map((turn) => ({ kind: 'turn', turn })));
    },
  };
}

/** The id under which the log has a refused request; null = it has none. Without money nothing begins. */
function loggedId(error: unknown): string | null {
  return error instanceof ApiError && error.status !== 402 ? error.requestId : null;
}
