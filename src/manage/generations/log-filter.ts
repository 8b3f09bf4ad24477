import type { GenerationCountsQuery, GenerationsQuery } from '../../contract/generations/generation-log.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { traceIdOf } from '../../ir/trace.ts';
import { nanosOf } from '../../kit/money.ts';
import type { LogFilter } from '../../ports/events/events.ts';
import { queryMomentMs } from '../query-moment.ts';

/** Whose generations are shown: those of the account, or of one key of it. */
export interface LogViewer {
  readonly accountId: string;
  /** Null = all keys. */
  readonly keyHash: string | null;
}

const DAY_MS = 86_400_000;

type CountsFilter = Omit<GenerationCountsQuery, 'buckets' | 'within_ms' | 'counted_from'>;

/** Filters of a question to the log. */
type WantedFilter = { readonly [Name in keyof CountsFilter]?: CountsFilter[Name] | undefined };

/** The range of a question: the last day without one. Throws 400. */
export function rangeOf(
  { from, to }: Pick<GenerationsQuery, 'from' | 'to'>,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  // What came in this very moment belongs to it too.
  const toMs = to === undefined ? nowMs + 1 : queryMomentMs('to', to);
  const fromMs = from === undefined ? toMs - DAY_MS : queryMomentMs('from', from);
  if (fromMs >= toMs) throw invalidRequest([{ path: 'from', message: 'must be before `to`' }]);
  return { fromMs, toMs };
}

export function momentOrNull(path: string, text: string | undefined): number | null {
  return text === undefined ? null : queryMomentMs(path, text);
}

/** Null = the key that asks may see none of these. */
export function filterOf(
  { accountId, keyHash }: LogViewer,
  wanted: WantedFilter,
  range: Pick<LogFilter, 'fromMs' | 'toMs'>,
): LogFilter | null {
  const keys = (wanted.key ?? []).map((hash) => hash.toLowerCase());
  if (keyHash !== null && keys.length > 0 && !keys.includes(keyHash)) return null;
  return {
    accountId,
    ...range,
    endedFromMs: momentOrNull('ended_from', wanted.ended_from),
    models: wanted.model ?? [],
    providers: wanted.provider ?? [],
    keys: keyHash === null ? keys : [keyHash],
    workspaces: (wanted.workspace ?? []).map((id) => id.toLowerCase()),
    apps: wanted.app ?? [],
    sessionIds: wanted.session_id ?? [],
    externalUsers: wanted.external_user ?? [],
    states: wanted.state ?? [],
    formats: wanted.request_format ?? [],
    finishReasons: wanted.finish_reason ?? [],
    errorStatuses: (wanted.error_status ?? []).map(Number),
    isStreamed: wanted.streamed ?? null,
    minDurationMs: wanted.min_duration_ms ?? null,
    maxDurationMs: wanted.max_duration_ms ?? null,
    minNanos: wanted.min_cost === undefined ? null : nanosOf(wanted.min_cost),
    maxNanos: wanted.max_cost === undefined ? null : nanosOf(wanted.max_cost),
    traceIds: (wanted.trace_id ?? []).map(traceIdOf),
    search: wanted.search ?? null,
  };
}
