import type { LoggedGenerationObject, RunningGenerationObject } from '../../api/contract.ts';

/** A generation as the log shows it: one that has ended, or one that is running. */
export type ShownGeneration = Omit<LoggedGenerationObject, 'state'> & {
  readonly state: LoggedGenerationObject['state'] | 'running';
  /** Of one that is running: the most that it may cost, USD. */
  readonly reserved?: number;
};

/** A running generation as a row, with what is known of it at a moment. */
export function shownRunning(running: RunningGenerationObject, nowMs: number): ShownGeneration {
  return {
    ...running,
    state: 'running',
    endpoint: null,
    finish_reason: null,
    error_status: null,
    error_type: null,
    refused_requests: null,
    tokens_reasoning: 0,
    tokens_cached: 0,
    latency: null,
    duration_ms: Math.max(0, nowMs - Date.parse(running.created_at)),
    byok_cost: 0,
    is_byok: false,
    is_guarded: false,
    is_from_cache: false,
    attempts: null,
  };
}

/** A running generation, and when the gateway last said that it runs. */
export interface SeenRunning {
  readonly row: RunningGenerationObject;
  readonly seenMs: number;
}

/** How long a generation that has ended stays in the list if its row does not come, milliseconds. */
export const ENDING_MS = 10_000;

/** What is known after another look: all that run, and those that ended a moment ago and have no row yet. */
export function afterLook(
  before: readonly SeenRunning[],
  found: readonly RunningGenerationObject[],
  nowMs: number,
): readonly SeenRunning[] {
  const running = new Set(found.map(({ id }) => id));
  const ending = before.filter(({ row, seenMs }) => !running.has(row.id) && nowMs - seenMs < ENDING_MS);
  return [...found.map((row) => ({ row, seenMs: nowMs })), ...ending];
}
