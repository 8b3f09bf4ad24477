import { type Answer, EMPTY_ANSWER, hasContent, turnOf } from './answer.ts';
import type { FormatName, Turn } from './conversation.ts';
import type { Progress } from './run-answer.ts';

/** One answer of a pane, from the request on. */
export interface Run extends Progress {
  readonly id: number;
  readonly format: FormatName;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  /** Why it failed; null unless it did. */
  readonly error: unknown;
}

/** What a pane shows, in order. */
export type Entry =
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'run'; readonly run: Run };

export function newRun(id: number, format: FormatName): Run {
  return {
    id,
    format,
    state: 'running',
    error: null,
    answer: EMPTY_ANSWER,
    generationId: null,
    firstTokenMs: null,
    totalMs: 0,
  };
}

/** The conversation for the next request. Answers that brought nothing are left out, and messages that failed. */
export function turnsOf(entries: readonly Entry[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const entry of entries) {
    if (entry.kind === 'turn') {
      turns.push(entry.turn);
      continue;
    }
    const { answer, format, state } = entry.run;
    if (state === 'running') continue;
    if (hasContent(answer)) turns.push(turnOf(answer, format, state === 'done'));
    else if (state === 'failed' && turns.at(-1)?.role === 'user') turns.pop();
  }
  return turns;
}

/** The entries with one run changed. */
export function withRun(entries: readonly Entry[], id: number, change: Partial<Run>): readonly Entry[] {
  return entries.map((entry) =>
    entry.kind === 'run' && entry.run.id === id ? { kind: 'run', run: { ...entry.run, ...change } } : entry,
  );
}

/** Calls of the last answer that wait for their results. */
export function openCalls(entries: readonly Entry[]): Answer['calls'] {
  const last = entries.at(-1);
  return last?.kind === 'run' && last.run.state !== 'running' ? last.run.answer.calls : [];
}

export function lastRun(entries: readonly Entry[]): Run | undefined {
  const last = entries.findLast(({ kind }) => kind === 'run');
  return last?.kind === 'run' ? last.run : undefined;
}
