import { forEachSliced, type Sliced } from '../../../kit/loop/turns.ts';
import type {
  LogCountsQuery,
  LogFilter,
  LoggedGeneration,
  LogQuery,
  LogSort,
} from '../../../ports/events/events.ts';
import { DURATION } from '../columns.ts';
import { DAY_MS } from '../daily-sums.ts';
import type { LogPartQuery } from '../log-parts.ts';
import { searchedTrace, type TraceTerm, traceTermOf } from '../log-traces.ts';
import type { DuckdbColumns } from './driver/duckdb-thread.ts';
import { type Bind, binder, type Statement } from './driver/statement.ts';
import { isSearchedEverywhere, type LogTerms, ownTraceCondition, seriesConditions } from './log-terms.ts';

/**
 * State of events from before states were stored. Imported usage has no endpoint, and its finish reason may be
 * unknown.
 */
const STATE = `coalesce(state, CASE WHEN finish_reason = 'error' THEN 'failed'
  WHEN finish_reason IS NULL AND endpoint IS NOT NULL THEN 'cancelled' ELSE 'answered' END)`;

/** Whether an event failed: the same for one state, without the text of most. */
export const FAILED = "coalesce(state = 'failed', finish_reason = 'error', false)";

/** Columns of a row of the log, by member. */
const LOG_COLUMNS = {
  id: 'id',
  createdAtMs: 'created_ms',
  workspaceId: 'workspace_id',
  keyHash: 'key_hash',
  app: 'app',
  modelId: 'model_id',
  provider: 'provider',
  endpoint: 'endpoint',
  finishReason: 'finish_reason',
  externalUser: 'external_user',
  isByok: 'is_byok',
  isGuarded: 'is_guarded',
  isFromCache: 'is_from_cache',
  promptTokens: 'prompt_tokens',
  completionTokens: 'completion_tokens',
  reasoningTokens: 'reasoning_tokens',
  cachedTokens: 'cached_tokens',
  latencyMs: 'latency_ms',
  generationMs: 'generation_ms',
  creditNanos: 'credit_nanos',
  byokNanos: 'byok_nanos',
  state: STATE,
  format: 'request_format',
  sessionId: 'session_id',
  requestId: 'request_id',
  durationMs: DURATION,
  errorStatus: 'error_status',
  errorType: 'error_type',
  attempts: 'attempts',
  toolCalls: 'tool_calls',
  isStreamed: 'is_streamed',
  traceId: 'trace_id',
  refusedRequests: 'refused_requests',
} as const satisfies Record<keyof LoggedGeneration, string>;

const MEMBERS = Object.keys(LOG_COLUMNS) as readonly (keyof LoggedGeneration)[];

/** Members that are amounts of money. */
const AMOUNTS: ReadonlySet<keyof LoggedGeneration> = new Set<keyof LoggedGeneration>([
  'creditNanos',
  'byokNanos',
]);

/**
 * Conditions of a filter on events. Those on series select their numbers first: there are few of them, and an event
 * has only a number to compare.
 */
export function conditionsOf(filter: LogFilter, terms: LogTerms | null, bind: Bind): string[] {
  const isAnyOf = (column: string, values: readonly (string | number)[]): string[] =>
    values.length === 0
      ? []
      : [
          `${column} IN (${values.map((value) => bind(typeof value === 'number' ? BigInt(value) : value)).join(', ')})`,
        ];
  const atLeast = (column: string, value: number | bigint | null) =>
    value === null ? [] : [`${column} >= ${bind(BigInt(value))}`];
  const atMost = (column: string, value: number | bigint | null) =>
    value === null ? [] : [`${column} <= ${bind(BigInt(value))}`];
  return [
    `created_ms >= ${bind(BigInt(filter.fromMs))}`,
    `created_ms < ${bind(BigInt(filter.toMs))}`,
    seriesCondition(filter, terms, bind),
    ...endConditions(filter, bind),
    ...stateConditions(filter, bind),
    ...isAnyOf('session_id', filter.sessionIds),
    ...isAnyOf('external_user', filter.externalUsers),
    ...isAnyOf('request_format', filter.formats),
    ...isAnyOf('finish_reason', filter.finishReasons),
    ...isAnyOf('error_status', filter.errorStatuses),
    ...(filter.isStreamed === null ? [] : [`is_streamed = ${filter.isStreamed}`]),
    ...durationConditions('>=', filter.minDurationMs, bind),
    ...durationConditions('<=', filter.maxDurationMs, bind),
    ...atLeast('credit_nanos', filter.minNanos),
    ...atMost('credit_nanos', filter.maxNanos),
    ...traceConditions(filter, terms, bind),
    ...searchConditions(filter.search, terms, bind),
  ];
}

function seriesCondition(filter: LogFilter, terms: LogTerms | null, bind: Bind): string {
  const series = terms?.series ?? { kind: 'many' };
  switch (series.kind) {
    case 'all':
      return `series <= ${series.last}`;
    case 'listed':
      return series.places.length === 0 ? 'false' : `series IN (${series.places.join(', ')})`;
    case 'many':
      return `series IN (SELECT place FROM series WHERE ${seriesConditions(filter, bind)})`;
  }
}

/**
 * Compares durations. The column by itself, not inside `DURATION`: DuckDB then skips blocks by their extremes, and
 * reads the other columns of the rows that are left only.
 */
function durationConditions(comparison: '>=' | '<=', ms: number | null, bind: Bind): string[] {
  if (ms === null) return [];
  const bound = bind(BigInt(ms));
  const older = `duration_ms IS NULL AND greatest(latency_ms, generation_ms) ${comparison} ${bound}`;
  return [`(duration_ms ${comparison} ${bound} OR (${older}))`];
}

/** No generation lasts longer: what arrived earlier need not be looked at. */
const MAX_DURATION_MS = DAY_MS;

function endConditions({ endedFromMs }: LogFilter, bind: Bind): string[] {
  if (endedFromMs === null) return [];
  return [
    `created_ms >= ${bind(BigInt(Math.max(0, endedFromMs - MAX_DURATION_MS)))}`,
    `created_ms + coalesce(${DURATION}, 0) >= ${bind(BigInt(endedFromMs))}`,
  ];
}

/** The endpoint that older events' states depend on is a member of their series. */
function stateConditions({ states }: LogFilter, bind: Bind): string[] {
  if (states.length === 0) return [];
  const stateOfEvent = STATE.replace(
    'endpoint IS NOT NULL',
    'series IN (SELECT place FROM series WHERE endpoint IS NOT NULL)',
  );
  return [`${stateOfEvent} IN (${states.map(bind).join(', ')})`];
}

function traceConditions({ traceIds }: LogFilter, terms: LogTerms | null, bind: Bind): string[] {
  if (traceIds.length === 0) return [];
  const found = traceIds.flatMap((traceId) => traceFound(traceTermOf(traceId), terms, bind));
  return [`(${found.join(' OR ')})`];
}

/** Conditions any of which finds a generation of the trace. */
function traceFound({ traceId, own }: TraceTerm, terms: LogTerms | null, bind: Bind): string[] {
  const named = `trace_id = ${bind(traceId)}`;
  return own === null || terms?.hasOwnTrace === false ? [named] : [named, ownTraceCondition(own, bind)];
}

/** Columns that are searched for any part of them. */
const SEARCHED = ['request_id', 'session_id', 'external_user'];

function searchConditions(search: string | null, terms: LogTerms | null, bind: Bind): string[] {
  if (search === null || search === '') return [];
  const wanted = bind(search);
  if (!isSearchedEverywhere(search)) return [`starts_with(id, ${wanted})`];
  const conditions = SEARCHED.map((column) => `contains(${column}, ${wanted})`);
  if (terms === null || terms.isId) conditions.push(`id = ${wanted}`);
  conditions.push(...traceFound(searchedTrace(search), terms, bind));
  return [`(${conditions.join(' OR ')})`];
}

/** What rows are in order of. */
const SORT_VALUES: Readonly<Record<LogSort, string>> = {
  arrival: 'created_ms',
  duration: `coalesce(${DURATION}, 0)`,
  'first-content': 'coalesce(latency_ms, 0)',
  cost: 'credit_nanos',
};

/**
 * Leaves out rows that come behind a value. Compares columns by themselves where that is possible: see
 * `durationConditions`.
 */
function boundCondition({ sort, order }: LogQuery, bound: string): string {
  const comparison = order === 'desc' ? '>=' : '<=';
  if (sort === 'duration') {
    const older = `duration_ms IS NULL AND ${SORT_VALUES.duration} ${comparison} ${bound}`;
    return `(duration_ms ${comparison} ${bound} OR (${older}))`;
  }
  if (sort === 'first-content') {
    return `(latency_ms ${comparison} ${bound} OR (latency_ms IS NULL AND 0 ${comparison} ${bound}))`;
  }
  return `${SORT_VALUES[sort]} ${comparison} ${bound}`;
}

/** The statement of a part of a page. Columns: those of `LOG_COLUMNS`, in their order. */
export function logSql(query: LogPartQuery, terms: LogTerms | null): Statement {
  const { bind, parameters } = binder();
  const conditions = conditionsOf(query, terms, bind);
  const isDescending = query.order === 'desc';
  const direction = isDescending ? 'DESC' : 'ASC';
  const value = SORT_VALUES[query.sort];
  if (query.after !== null) {
    const at = bind(query.after.value);
    const id = bind(query.after.id);
    const sign = isDescending ? '<' : '>';
    conditions.push(`(${value} ${sign} ${at} OR (${value} = ${at} AND id ${sign} ${id}))`);
  }
  if (query.bound !== null) conditions.push(boundCondition(query, bind(query.bound)));
  const order = `${value} ${direction}, id ${direction}`;
  const limit = bind(BigInt(query.limit));
  const columns = MEMBERS.map((name) => `${LOG_COLUMNS[name]} AS "${name}"`).join(', ');
  const matching = `events WHERE ${conditions.join(' AND ')}`;
  const isSparse = terms !== null && query.sort === 'arrival' && readsLongTexts(query);
  return {
    sql: `WITH page AS MATERIALIZED (SELECT * FROM ${isSparse ? rowsFirst(matching, direction, limit) : matching}
        ORDER BY ${order} LIMIT ${limit})
      SELECT ${columns} FROM page JOIN series ON series.place = page.series ORDER BY ${order}`,
    parameters,
  };
}

/** Whether texts that hardly two events share must be read of every event: they are most of what is stored. */
function readsLongTexts({ search, traceIds, sessionIds, externalUsers }: LogFilter): boolean {
  const isAsked = [traceIds, sessionIds, externalUsers].some(({ length }) => length > 0);
  return isAsked || isSearchedEverywhere(search);
}

/**
 * The events that come first in the order of arrival, and those that arrived at the same time as the last of them.
 * Their row numbers are found first: of all events only the columns that are searched are read, not their ids.
 */
function rowsFirst(matching: string, direction: 'ASC' | 'DESC', limit: string): string {
  return `events SEMI JOIN (SELECT rowid AS found FROM ${matching}
    QUALIFY rank() OVER (ORDER BY created_ms ${direction}) <= ${limit}) AS first ON events.rowid = first.found`;
}

/**
 * The statement that counts. Columns: begin of the bucket, rows, failed ones, those of refused requests, and how many
 * requests these are. Failed ones are counted by themselves, because their states are read without the text of every
 * other event; a search, which takes longer than that, is made once for all.
 */
export function logCountsSql(query: LogCountsQuery, terms: LogTerms | null): Statement {
  const { bucketMs, search, states } = query;
  const { bind, parameters } = binder();
  const conditions = conditionsOf(query, terms, bind).join(' AND ');
  const bucket = `created_ms // ${BigInt(bucketMs)} * ${BigInt(bucketMs)} AS bucket`;
  const grouped = (counts: string, more = '') =>
    `SELECT ${bucket}, ${counts} FROM events WHERE ${conditions} ${more} GROUP BY bucket`;
  if (search !== null || readsLongTexts(query) || states.length > 0) {
    const failed = `count(*) FILTER (${FAILED})`;
    return { sql: `${grouped(`count(*), ${failed}, ${REFUSED_COUNTS}`)} ORDER BY bucket`, parameters };
  }
  const parts = [
    grouped(`count(*) AS generations, 0 AS failed, ${REFUSED_COUNTS}`),
    grouped('0, count(*), 0, 0', "AND state = 'failed'"),
    grouped('0, count(*), 0, 0', "AND state IS NULL AND finish_reason = 'error'"),
  ];
  return {
    sql: `SELECT bucket, sum(generations), sum(failed), sum(refused), sum(refused_all) FROM (${parts.join(' UNION ALL ')})
      GROUP BY bucket ORDER BY bucket`,
    parameters,
  };
}

const REFUSED_COUNTS =
  'count(refused_requests) AS refused, coalesce(sum(refused_requests), 0) AS refused_all';

/** The rows of `logSql`, from its columns. Yields to the event loop. */
export function* loggedGenerations(columns: DuckdbColumns): Sliced<LoggedGeneration[]> {
  const rows: LoggedGeneration[] = [];
  const [ids = []] = columns;
  yield* forEachSliced(ids, (_, row) => {
    const members: Record<string, unknown> = {};
    MEMBERS.forEach((name, place) => {
      members[name] = memberOf(name, columns[place]?.[row]);
    });
    rows.push(members as unknown as LoggedGeneration);
  });
  return rows;
}

/** Packed columns have NaN for null. */
function memberOf(name: keyof LoggedGeneration, value: unknown): unknown {
  if (value === undefined || value === null || Number.isNaN(value)) return null;
  if (AMOUNTS.has(name)) return BigInt(value as number | bigint);
  return typeof value === 'bigint' ? Number(value) : value;
}
