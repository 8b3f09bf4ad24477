import type { LogCountsQuery, LogFilter, LoggedGeneration, LogSort } from '../../../ports/events/events.ts';
import { DURATION } from '../columns.ts';
import type { LogPartQuery } from '../log-parts.ts';
import { searchedTrace, type TraceTerm, traceTermOf } from '../log-traces.ts';
import { bigOf, numberOf, requireColumns } from './driver/read-fields.ts';
import { literalOf, type TextRow } from './driver/tab-separated.ts';
import { EVENTS } from './schema.ts';

/** State of events without one: imported usage. */
export const STATE = `coalesce(state, if(finish_reason = 'error', 'failed', 'answered'))`;

type Kind = 'text' | 'number' | 'amount' | 'flag';

/** Columns of a row of the log, by member, and how their texts are read. */
const LOG_COLUMNS = {
  id: ['id', 'text'],
  createdAtMs: ['created_ms', 'number'],
  workspaceId: ['workspace_id', 'text'],
  keyHash: ['key_hash', 'text'],
  app: ['app', 'text'],
  modelId: ['model_id', 'text'],
  provider: ['provider', 'text'],
  endpoint: ['endpoint', 'text'],
  finishReason: ['finish_reason', 'text'],
  externalUser: ['external_user', 'text'],
  isByok: ['is_byok', 'flag'],
  isGuarded: ['is_guarded', 'flag'],
  isFromCache: ['is_from_cache', 'flag'],
  promptTokens: ['prompt_tokens', 'number'],
  completionTokens: ['completion_tokens', 'number'],
  reasoningTokens: ['reasoning_tokens', 'number'],
  cachedTokens: ['cached_tokens', 'number'],
  latencyMs: ['latency_ms', 'number'],
  generationMs: ['generation_ms', 'number'],
  creditNanos: ['credit_nanos', 'amount'],
  byokNanos: ['byok_nanos', 'amount'],
  state: [STATE, 'text'],
  format: ['request_format', 'text'],
  sessionId: ['session_id', 'text'],
  requestId: ['request_id', 'text'],
  durationMs: [DURATION, 'number'],
  errorStatus: ['error_status', 'number'],
  errorType: ['error_type', 'text'],
  attempts: ['attempts', 'number'],
  toolCalls: ['tool_calls', 'number'],
  isStreamed: ['is_streamed', 'flag'],
  traceId: ['trace_id', 'text'],
  refusedRequests: ['refused_requests', 'number'],
} as const satisfies Record<keyof LoggedGeneration, readonly [sql: string, kind: Kind]>;

const MEMBERS = Object.entries(LOG_COLUMNS);

/** No generation lasts longer: what arrived earlier need not be looked at. */
const MAX_DURATION_MS = 86_400_000;

export function conditionsOf(filter: LogFilter, prunedBeforeMs: number): string[] {
  const isAnyOf = (column: string, values: readonly (string | number)[]): string[] => {
    const literals = values.map((value) => (typeof value === 'number' ? String(value) : literalOf(value)));
    return values.length === 0 ? [] : [`${column} IN (${literals.join(', ')})`];
  };
  const bound = (column: string, sign: '<=' | '>=', value: number | bigint | null) =>
    value === null ? [] : [`${column} ${sign} ${value}`];
  return [
    `account_id = ${literalOf(filter.accountId)}`,
    `created_ms >= ${Math.max(filter.fromMs, prunedBeforeMs)}`,
    `created_ms < ${filter.toMs}`,
    ...endConditions(filter),
    ...isAnyOf('model_id', filter.models),
    ...isAnyOf('provider', filter.providers),
    ...isAnyOf('key_hash', filter.keys),
    ...isAnyOf('workspace_id', filter.workspaces),
    ...isAnyOf('app', filter.apps),
    ...isAnyOf('session_id', filter.sessionIds),
    ...isAnyOf('external_user', filter.externalUsers),
    ...isAnyOf(STATE, filter.states),
    ...isAnyOf('request_format', filter.formats),
    ...isAnyOf('finish_reason', filter.finishReasons),
    ...isAnyOf('error_status', filter.errorStatuses),
    ...(filter.isStreamed === null ? [] : [`is_streamed = ${Number(filter.isStreamed)}`]),
    ...bound(DURATION, '>=', filter.minDurationMs),
    ...bound(DURATION, '<=', filter.maxDurationMs),
    ...bound('credit_nanos', '>=', filter.minNanos),
    ...bound('credit_nanos', '<=', filter.maxNanos),
    ...traceConditions(filter),
    ...searchConditions(filter),
  ];
}

function endConditions({ endedFromMs }: LogFilter): string[] {
  if (endedFromMs === null) return [];
  return [
    `created_ms >= ${Math.max(0, endedFromMs - MAX_DURATION_MS)}`,
    `created_ms + coalesce(${DURATION}, 0) >= ${endedFromMs}`,
  ];
}

function traceConditions({ traceIds, accountId }: LogFilter): string[] {
  if (traceIds.length === 0) return [];
  return [`(${traceIds.flatMap((traceId) => traceFound(traceTermOf(traceId), accountId)).join(' OR ')})`];
}

/**
 * Conditions any of which finds a generation of the trace. Hashes are computed in a question of its own, for the ids of
 * one second of the account: the table is sorted by them.
 */
function traceFound({ traceId, own }: TraceTerm, accountId: string): string[] {
  const named = `coalesce(trace_id, '') = ${literalOf(traceId)}`;
  if (own === null) return [named];
  const moment = `created_ms >= ${own.fromMs} AND created_ms < ${own.beforeMs}`;
  const ids = `SELECT id FROM ${EVENTS} WHERE account_id = ${literalOf(accountId)} AND ${moment}
    AND trace_id IS NULL AND substring(lower(hex(SHA256(id))), ${own.place}, ${own.digits.length}) = ${literalOf(own.digits)}`;
  return [named, `(${moment} AND id IN (${ids}))`];
}

/** Columns that are searched for any part of them. */
const SEARCHED = ['request_id', 'session_id', 'external_user'];

/** An id is searched by its beginning. */
const GENERATION_ID = /^gen-/;

function searchConditions({ search, accountId }: LogFilter): string[] {
  if (search === null || search === '') return [];
  const wanted = literalOf(search);
  if (GENERATION_ID.test(search)) return [`position(id, ${wanted}) = 1`];
  const conditions = [
    `id = ${wanted}`,
    ...SEARCHED.map((column) => `position(coalesce(${column}, ''), ${wanted}) > 0`),
    ...traceFound(searchedTrace(search), accountId),
  ];
  return [`(${conditions.join(' OR ')})`];
}

/** What rows are in order of. */
const SORT_VALUES: Readonly<Record<LogSort, string>> = {
  arrival: 'created_ms',
  duration: `coalesce(${DURATION}, 0)`,
  'first-content': 'coalesce(latency_ms, 0)',
  cost: 'credit_nanos',
};

/** The statement of a page. Columns: those of `LOG_COLUMNS`, in their order. */
export function logSql(query: LogPartQuery, prunedBeforeMs: number): string {
  const conditions = conditionsOf(query, prunedBeforeMs);
  const isDescending = query.order === 'desc';
  const direction = isDescending ? 'DESC' : 'ASC';
  const value = SORT_VALUES[query.sort];
  if (query.after !== null) {
    const { value: at, id } = query.after;
    const sign = isDescending ? '<' : '>';
    conditions.push(`(${value} ${sign} ${at} OR (${value} = ${at} AND id ${sign} ${literalOf(id)}))`);
  }
  if (query.bound !== null) conditions.push(`${value} ${isDescending ? '>=' : '<='} ${query.bound}`);
  return `SELECT ${MEMBERS.map(([, [sql]]) => sql).join(', ')} FROM ${EVENTS} FINAL
    WHERE ${conditions.join(' AND ')} ORDER BY ${value} ${direction}, id ${direction} LIMIT ${query.limit}`;
}

/**
 * The statement that counts. Columns: begin of the bucket, rows, failed ones, those of refused requests, and how many
 * requests these are.
 */
export function logCountsSql(query: LogCountsQuery, prunedBeforeMs: number): string {
  const { bucketMs } = query;
  return `SELECT intDiv(created_ms, ${bucketMs}) * ${bucketMs} AS bucket, count(), countIf(${STATE} = 'failed'),
      countIf(isNotNull(refused_requests)), coalesce(sum(refused_requests), 0)
    FROM ${EVENTS} FINAL WHERE ${conditionsOf(query, prunedBeforeMs).join(' AND ')} GROUP BY bucket ORDER BY bucket`;
}

/** A row of `logSql`. */
export function loggedGeneration(row: TextRow): LoggedGeneration {
  requireColumns(row, MEMBERS.length);
  const members = MEMBERS.map(([name, [, kind]], place) => [name, memberOf(kind, row[place] ?? null)]);
  return Object.fromEntries(members) as LoggedGeneration;
}

function memberOf(kind: Kind, text: string | null): unknown {
  if (text === null || kind === 'text') return text;
  if (kind === 'flag') return text === '1';
  return kind === 'amount' ? bigOf(text) : numberOf(text);
}
