import {
  DEFAULT_LOG_ROWS,
  type GenerationCounts,
  type GenerationCountsQuery,
  type GenerationsQuery,
  type GenerationsReply,
  type LoggedGenerationObject,
} from '../../contract/generations/generation-log.ts';
import { isoTime, isoTimeOrNull } from '../../contract/values/iso-time.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { GenerationIds } from '../../ir/trace.ts';
import { usdOf } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { EventStore, LoggedGeneration, LogQuery } from '../../ports/events/events.ts';
import { cursorOf, LOG_SORTS, positionIn, positionOf } from './log-cursor.ts';
import { filterOf, type LogViewer, momentOrNull, rangeOf } from './log-filter.ts';
import { type LogNameSources, LogNames } from './log-names.ts';

export interface GenerationLogDependencies extends LogNameSources {
  readonly events: Pick<EventStore, 'log' | 'logCounts'>;
  readonly clock: Pick<Clock, 'now'>;
}

const DAY_MS = 86_400_000;
const DEFAULT_BUCKETS = 96;

/** Rows that an export reads at a time. */
const EXPORT_ROWS = 5_000;

/** Widths of buckets, milliseconds. */
const BUCKETS_MS = [
  1_000,
  5_000,
  10_000,
  30_000,
  60_000,
  120_000,
  300_000,
  600_000,
  900_000,
  1_800_000,
  3_600_000,
  7_200_000,
  10_800_000,
  21_600_000,
  43_200_000,
  DAY_MS,
  7 * DAY_MS,
  28 * DAY_MS,
  364 * DAY_MS,
];

export class GenerationLog {
  readonly #dependencies: GenerationLogDependencies;

  constructor(dependencies: GenerationLogDependencies) {
    this.#dependencies = dependencies;
  }

  /** A page of rows. Throws 400. */
  async list(viewer: LogViewer, wanted: GenerationsQuery, signal: AbortSignal): Promise<GenerationsReply> {
    const query = this.#queryOf(viewer, wanted);
    if (query === null) return { data: [], next: null, previous: null, searched_to: null };
    const isBackwards = wanted.before !== undefined;
    // One more row shows whether there is a further page.
    const found = await this.#dependencies.events.log({ ...query, limit: query.limit + 1 }, signal);
    const { searchedToMs } = found;
    const hasMore = found.rows.length > query.limit;
    const page = found.rows.slice(0, query.limit);
    const rows = isBackwards ? page.reverse() : page;
    const cursorAt = (row: LoggedGeneration | undefined): string | null =>
      row === undefined ? null : cursorOf(positionIn(query.sort, row));
    // No row has an empty id: what follows is all that was not searched, in either order of arrival.
    const stopped =
      searchedToMs === null || query.sort !== 'arrival'
        ? null
        : cursorOf({ value: BigInt(searchedToMs), id: '' });
    const isFinal = searchedToMs === null;
    const last = isFinal && (hasMore || isBackwards) ? cursorAt(rows.at(-1)) : null;
    return {
      data: await named(rows, this.#names(viewer)),
      next: isBackwards ? last : (stopped ?? last),
      previous: (isBackwards ? stopped : null) ?? cursorAt(rows[0]),
      searched_to: isoTimeOrNull(searchedToMs),
    };
  }

  /** All rows, a part at a time: memory does not grow with their number. Throws 400. */
  async *export(
    viewer: LogViewer,
    wanted: GenerationsQuery,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LoggedGenerationObject[]> {
    const query = this.#queryOf(viewer, wanted);
    if (query !== null && query.sort !== 'arrival' && wanted.limit === undefined) {
      throw invalidRequest([{ path: 'sort', message: 'needs a `limit` in an export' }]);
    }
    const names = this.#names(viewer);
    let left = wanted.limit ?? Number.POSITIVE_INFINITY;
    let after = query?.after ?? null;
    while (query !== null && left > 0) {
      const limit = Math.min(EXPORT_ROWS, left);
      const { rows } = await this.#dependencies.events.log(
        { ...query, after, limit, stopAfterMs: null },
        signal,
      );
      if (rows.length > 0) yield await named(rows, names);
      const last = rows.at(-1);
      left -= rows.length;
      if (last === undefined || rows.length < limit) return;
      after = positionIn(query.sort, last);
    }
  }

  /** How many rows there are, over time. Throws 400. */
  async counts(
    viewer: LogViewer,
    wanted: GenerationCountsQuery,
    signal: AbortSignal,
  ): Promise<GenerationCounts> {
    const { fromMs, toMs } = rangeOf(wanted, this.#dependencies.clock.now());
    const countedFromMs = momentOrNull('counted_from', wanted.counted_from) ?? toMs;
    const filter = filterOf(viewer, wanted, { fromMs, toMs: Math.min(toMs, countedFromMs) });
    const most = wanted.buckets ?? DEFAULT_BUCKETS;
    const bucketMs = BUCKETS_MS.find((width) => (toMs - fromMs) / width <= most) ?? 3_640 * DAY_MS;
    const stopAfterMs = wanted.within_ms ?? null;
    const counts =
      filter === null
        ? { buckets: [], countedFromMs: null, missingBeforeMs: null }
        : await this.#dependencies.events.logCounts({ ...filter, bucketMs, stopAfterMs }, signal);
    const { buckets } = counts;
    return {
      total: buckets.reduce((sum, { count }) => sum + count, 0),
      failed: buckets.reduce((sum, { failed }) => sum + failed, 0),
      refused: buckets.reduce((sum, { refused }) => sum + refused, 0),
      refused_requests: buckets.reduce((sum, { refusedRequests }) => sum + refusedRequests, 0),
      from: isoTime(fromMs),
      to: isoTime(toMs),
      bucket_ms: bucketMs,
      buckets: buckets.map(({ startMs, count, failed, refused }) => ({
        start: isoTime(startMs),
        count,
        failed,
        refused,
      })),
      counted_from: isoTimeOrNull(counts.countedFromMs),
      missing_before: isoTimeOrNull(counts.missingBeforeMs),
    };
  }

  /** Null = there can be no rows. */
  #queryOf(viewer: LogViewer, wanted: GenerationsQuery): LogQuery | null {
    const filter = filterOf(viewer, wanted, rangeOf(wanted, this.#dependencies.clock.now()));
    if (wanted.after !== undefined && wanted.before !== undefined) {
      throw invalidRequest([{ path: 'before', message: 'cannot be given together with `after`' }]);
    }
    const order = wanted.order ?? 'desc';
    return (
      filter && {
        ...filter,
        sort: LOG_SORTS[wanted.sort ?? 'created_at'],
        order: wanted.before === undefined ? order : order === 'desc' ? 'asc' : 'desc',
        after: positionOf(wanted.after ?? wanted.before),
        limit: wanted.limit ?? DEFAULT_LOG_ROWS,
        stopAfterMs: wanted.within_ms ?? null,
      }
    );
  }

  #names({ accountId }: LogViewer): LogNames {
    return new LogNames(this.#dependencies, accountId);
  }
}

async function named(rows: readonly LoggedGeneration[], names: LogNames): Promise<LoggedGenerationObject[]> {
  await names.learn(rows);
  return rows.map((row) => rowObject(row, names));
}

function rowObject(row: LoggedGeneration, names: LogNames): LoggedGenerationObject {
  return {
    id: row.id,
    state: row.state,
    created_at: isoTime(row.createdAtMs),
    model: row.modelId,
    provider_name: row.provider,
    endpoint: row.endpoint,
    workspace_id: row.workspaceId,
    workspace_name: names.workspace(row.workspaceId),
    key_hash: row.keyHash,
    key_name: row.keyHash === null ? null : names.key(row.keyHash),
    app: row.app,
    request_format: row.format,
    streamed: row.isStreamed,
    finish_reason: row.finishReason,
    error_status: row.errorStatus,
    error_type: row.errorType,
    refused_requests: row.refusedRequests,
    tokens_prompt: row.promptTokens,
    tokens_completion: row.completionTokens,
    tokens_reasoning: row.reasoningTokens,
    tokens_cached: row.cachedTokens,
    latency: row.latencyMs,
    duration_ms: row.durationMs,
    cost: usdOf(row.creditNanos),
    byok_cost: usdOf(row.byokNanos),
    is_byok: row.isByok,
    is_guarded: row.isGuarded,
    is_from_cache: row.isFromCache,
    attempts: row.attempts,
    tool_calls: row.toolCalls,
    session_id: row.sessionId,
    request_id: row.requestId,
    external_user: row.externalUser,
    trace_id: row.traceId ?? ownTraceIdOf(row),
  };
}

/** Imported usage and refused requests have neither upstream calls nor spans. */
function ownTraceIdOf({ id, attempts, refusedRequests }: LoggedGeneration): string | null {
  return attempts === null || refusedRequests !== null ? null : new GenerationIds(id).ownTraceId;
}
