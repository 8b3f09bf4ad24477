import {
  CONTEXT_LENGTH_BUCKETS,
  type DimensionName,
  type Granularity,
  METRICS,
  type MetricName,
  type Operator,
} from '../../../ports/events/event-names.ts';
import type { EventFilter, EventOrder, EventQuery, TagQuery } from '../../../ports/events/events.ts';
import { DIMENSION_COLUMNS, DURATION } from '../columns.ts';
import { countsRefused, DAILY_SUMS, DAY_MS, fitsDailySums } from '../daily-sums.ts';
import { dimensionColumns, orderedPlace } from '../tag-columns.ts';
import { literalOf } from './driver/tab-separated.ts';
import { DAILY, EVENT_COLUMNS, EVENTS, SERIES_COLUMNS } from './schema.ts';
import { type TagsSql, withTags } from './tags-sql.ts';

/** A sum of values that may be unknown: NULL if none is known. Servers differ in what a sum of nothing is. */
const knownSum = (value: string, condition = '1') =>
  `if(countIf(${condition} AND isNotNull(${value})) = 0, NULL, sumIf(${value}, ${condition}))`;

const THROUGHPUT = 'if(generation_ms > 0, completion_tokens * 1000 / generation_ms, NULL)';

/** By nearest rank, in whole numbers: `quantileExact` rounds the rank otherwise. Equal parts are computed once. */
function percentile(percent: number, value: string): string {
  const sorted = `arraySort(groupArray(${value}))`;
  return `if(empty(${sorted}), NULL, arrayElement(${sorted}, intDiv(length(${sorted}) * ${percent} + 99, 100)))`;
}

/** Refused requests have none. */
const SERVED_DURATION = `if(isNull(refused_requests), ${DURATION}, NULL)`;

const share = (part: string, whole: string) => `if(${whole} = 0, NULL, ${part} / ${whole})`;

const NO_SOURCE = 'NULL';

/** SQL of each metric. The first part works on daily sums as well, where a row stands for `requests` events. */
const METRIC_SQL: Readonly<Record<MetricName, string>> = {
  request_count: 'sum(requests)',
  tokens_total: 'sum(prompt_tokens) + sum(completion_tokens)',
  tokens_prompt: 'sum(prompt_tokens)',
  tokens_completion: 'sum(completion_tokens)',
  reasoning_tokens: 'sum(reasoning_tokens)',
  cached_tokens: 'sum(cached_tokens)',
  byok_request_count: 'sumIf(requests, is_byok = 1)',
  total_usage: 'sum(credit_nanos) + sum(byok_nanos)',
  byok_usage: 'sum(byok_nanos)',
  credits_usage: 'sum(credit_nanos)',
  own_usage: knownSum('credit_nanos', 'is_byok = 0'),
  byok_fees: knownSum('credit_nanos', 'is_byok = 1'),
  usage_upstream: 'sum(upstream_nanos)',
  usage_cache: knownSum('cache_nanos'),
  usage_data: NO_SOURCE,
  usage_web: knownSum('web_nanos', 'is_byok = 0'),
  usage_upstream_web: knownSum('web_nanos'),
  cache_hit_rate: share('sum(cached_tokens)', 'sum(prompt_tokens)'),

  guardrail_invoked_count: 'countIf(is_guarded = 1)',
  response_cached_count: 'countIf(is_from_cache = 1)',
  usage_file: NO_SOURCE,
  usage_upstream_file: NO_SOURCE,
  usage_web_fetch: NO_SOURCE,
  usage_upstream_web_fetch: NO_SOURCE,
  avg_latency: 'avg(latency_ms)',
  p50_latency: percentile(50, 'latency_ms'),
  p90_latency: percentile(90, 'latency_ms'),
  p99_latency: percentile(99, 'latency_ms'),
  avg_throughput: `avg(${THROUGHPUT})`,
  p50_throughput: percentile(50, THROUGHPUT),
  p90_throughput: percentile(90, THROUGHPUT),
  p99_throughput: percentile(99, THROUGHPUT),
  guardrail_invoked_rate: share('countIf(is_guarded = 1)', 'sum(requests)'),
  response_cached_rate: share('countIf(is_from_cache = 1)', 'sum(requests)'),
  error_count: "countIf(coalesce(finish_reason, '') = 'error')",
  refused_count: 'coalesce(sum(refused_requests), 0)',
  p50_duration: percentile(50, SERVED_DURATION),
  p90_duration: percentile(90, SERVED_DURATION),
  p99_duration: percentile(99, SERVED_DURATION),
  newest_ms: 'max(at_ms)',
};

const flagText = (column: string) => `if(${column} = 1, 'true', 'false')`;

/** SQL of each dimension: a text or NULL. */
const DIMENSION_SQL: Readonly<Record<DimensionName, string>> = {
  ...DIMENSION_COLUMNS,
  zdr: flagText('is_zdr'),
  error_status: 'toString(error_status)',
  imported: flagText('is_imported'),
};

/** The day on which 1970 began was a Thursday, three days after a Monday. */
const WEEKDAY = `(intDiv(at_ms, ${DAY_MS}) + 3) % 7`;

/** Begin of the bucket of a moment, by numbers: the time zone of the server plays no part. */
const BUCKET_SQL: Readonly<Record<Granularity, string>> = {
  minute: 'intDiv(at_ms, 60000) * 60000',
  hour: 'intDiv(at_ms, 3600000) * 3600000',
  day: `intDiv(at_ms, ${DAY_MS}) * ${DAY_MS}`,
  week: `(intDiv(at_ms, ${DAY_MS}) - ${WEEKDAY}) * ${DAY_MS}`,
  month: `toInt64(toUInt16(toStartOfMonth(toDateTime(intDiv(at_ms, 1000), 'UTC')))) * ${DAY_MS}`,
};

const COMPARISONS: Readonly<Partial<Record<Operator, string>>> = {
  eq: '=',
  neq: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

/** What the SQL of metrics calls columns of daily sums, for events. */
const OF_EVENTS = 'WITH created_ms AS at_ms, toUInt64(isNull(refused_requests)) AS requests';

/** Events of refused requests, for queries that do not count them. */
const NOT_REFUSED = 'isNull(refused_requests)';

/** A range of moments, and the moment before which events were pruned. */
export interface Range {
  readonly startMs: number;
  readonly endMs: number;
  readonly prunedBeforeMs: number;
}

/** Single events of a range. */
function eventsIn({ startMs, endMs, prunedBeforeMs }: Range): string {
  return `${EVENTS} FINAL WHERE at_ms >= ${Math.max(startMs, prunedBeforeMs)} AND at_ms < ${endMs}`;
}

/** Single events of a range with columns of tags. */
function taggedEventsIn(query: EventQuery, prunedBeforeMs: number, tags: TagQuery): TagsSql {
  const { startMs, endMs, accountId } = query;
  const own = accountId === null ? '' : `AND account_id = ${literalOf(accountId)}`;
  const events = `(SELECT ${EVENT_COLUMNS.join(', ')} FROM ${EVENTS} FINAL
    WHERE created_ms >= ${Math.max(startMs, prunedBeforeMs)} AND created_ms < ${endMs} ${own})`;
  const tagged = withTags(events, tags, query);
  return { ...tagged, source: `${tagged.source} WHERE 1` };
}

/** Daily sums of a range of whole days: of stored sums for pruned days, of events for the others. */
export function dailySumsIn({ startMs, endMs, prunedBeforeMs }: Range): string {
  const columns = [...SERIES_COLUMNS, ...DAILY_SUMS].join(', ');
  const firstMs = Math.max(startMs, prunedBeforeMs);
  return `(SELECT day * ${DAY_MS} AS at_ms, toUInt64(requests) AS requests, ${columns} FROM ${DAILY} FINAL
      WHERE day >= ${startMs / DAY_MS} AND day < ${Math.min(endMs, prunedBeforeMs) / DAY_MS}
    UNION ALL SELECT created_ms AS at_ms, toUInt64(1) AS requests, ${columns} FROM ${EVENTS} FINAL
      WHERE created_ms >= ${firstMs} AND created_ms < ${endMs} AND ${NOT_REFUSED}) WHERE 1`;
}

/** The statements of a query. */
export interface QuerySql {
  /** Columns: bucket, dimensions, metrics, the metric of the order. */
  readonly rows: string;
  /** How many rows there are without limits. */
  readonly totalRows: string;
}

export function querySql(query: EventQuery, prunedBeforeMs: number): QuerySql {
  const range = { startMs: query.startMs, endMs: query.endMs, prunedBeforeMs };
  const isDaily = fitsDailySums(query);
  const tagged = query.tags && taggedEventsIn(query, prunedBeforeMs, query.tags);
  const dimensions = dimensionColumns(query);
  const keys = [...(query.granularity === null ? [] : ['bucket']), ...dimensions];
  const selectedKeys = [
    `${query.granularity === null ? 'NULL' : BUCKET_SQL[query.granularity]} AS bucket`,
    ...query.dimensions.map((name, index) => `${DIMENSION_SQL[name]} AS d${index}`),
    ...(tagged?.grouped ?? []).map((column, index) => `${column} AS d${query.dimensions.length + index}`),
  ];
  const metrics = [
    ...query.metrics.map((name, index) => `${METRIC_SQL[name]} AS m${index}`),
    `${orderedMetricSql(query)} AS ordered`,
  ];
  const conditions = [
    ...(isDaily || countsRefused(query) ? [] : [NOT_REFUSED]),
    ...(query.accountId === null ? [] : [`account_id = ${literalOf(query.accountId)}`]),
    ...query.filters.map(conditionSql),
    ...(tagged?.conditions ?? []),
  ];
  const rowsOfRange = tagged?.source ?? (isDaily ? dailySumsIn(range) : eventsIn(range));
  const source = [rowsOfRange, ...conditions].join(' AND ');
  const grouped = (selected: readonly string[], by: readonly string[]) =>
    `${isDaily ? '' : OF_EVENTS} SELECT ${selected.join(', ')} FROM ${source}
      ${by.length === 0 ? '' : `GROUP BY ${by.join(', ')}`} HAVING count() > 0`;
  const limitBy =
    query.groupLimit === null || dimensions.length === 0
      ? ''
      : `LIMIT ${query.groupLimit} BY ${dimensions.join(', ')}`;
  return {
    rows: `SELECT ${['bucket', ...dimensions, ...query.metrics.map((_, index) => `m${index}`)].join(', ')}
      FROM (${grouped([...selectedKeys, ...metrics], keys)})
      ${orderSql(query)} ${limitBy} LIMIT ${query.limit}`,
    totalRows: `SELECT count() FROM (${grouped([...selectedKeys, 'count()'], keys)})`,
  };
}

/** The clause that sorts rows; empty where there is at most one. */
function orderSql(query: EventQuery): string {
  const { order, granularity } = query;
  const terms = dimensionColumns(query).map((column) => `${column} ASC NULLS LAST`);
  if (granularity !== null) terms.unshift('bucket DESC');
  if (order !== null && terms.length > 0) {
    const first = orderedBy(order.field, orderedPlace(query, order.field), granularity);
    terms.unshift(`${first} ${order.direction === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`);
  }
  return terms.length === 0 ? '' : `ORDER BY ${terms.join(', ')}`;
}

/** Sorts buckets of prompt length by size, everything else by its value. */
function orderedBy(field: EventOrder['field'], place: number, granularity: Granularity | null): string {
  if (field === 'date') return granularity === null ? 'ordered' : 'bucket';
  if (place === -1) return 'ordered';
  if (field !== 'context_length_bucket') return `d${place}`;
  const names = CONTEXT_LENGTH_BUCKETS.map(([, name]) => `'${name}'`);
  return `indexOf([${names.join(', ')}], d${place})`;
}

function orderedMetricSql({ order }: EventQuery): string {
  return order !== null && order.field in METRICS ? METRIC_SQL[order.field as MetricName] : 'NULL';
}

function conditionSql({ field, operator, values, includesUnset }: EventFilter): string {
  const column = DIMENSION_SQL[field];
  const comparison = COMPARISONS[operator];
  const literals = values.map(literalOf);
  const condition =
    comparison === undefined
      ? listConditionSql(column, operator === 'in', literals)
      : literals.map((value) => `${column} ${comparison} ${value}`).join(' AND ');
  const isSet = `isNotNull(${column}) AND (${condition})`;
  return includesUnset ? `(isNull(${column}) OR (${isSet}))` : `(${isSet})`;
}

/** SQL has no empty lists. */
function listConditionSql(column: string, isWithin: boolean, literals: readonly string[]): string {
  if (literals.length === 0) return isWithin ? '0' : '1';
  return `${column} ${isWithin ? 'IN' : 'NOT IN'} (${literals.join(', ')})`;
}
