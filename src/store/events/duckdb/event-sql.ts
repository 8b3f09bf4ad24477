import type { DimensionName, Granularity, MetricName, Operator } from '../../../ports/events/event-names.ts';
import type { EventFilter, EventQuery } from '../../../ports/events/events.ts';
import { DIMENSION_COLUMNS, DURATION } from '../columns.ts';
import { DAY_MS } from '../daily-sums.ts';
import type { Bind } from './driver/statement.ts';
import { ALL_DAILY } from './schema.ts';

const THROUGHPUT = 'completion_tokens * 1000.0::DOUBLE / nullif(generation_ms, 0)';

/**
 * Percentiles by nearest rank of a value, as a list. DuckDB computes equal expressions of a statement once, so three
 * percentiles cost one sort.
 */
const percentiles = (value: string) => `quantile_disc(${value}, [0.5, 0.9, 0.99])`;

/** Of milliseconds: 32 bits hold 24 days, and take half the memory and three quarters of the time of 64. */
const percentilesOfMs = (value: string) => percentiles(`(${value})::INTEGER`);

/** No data source yet. */
const NO_SOURCE = 'NULL::HUGEINT';

/** SQL of each metric, for events and daily sums alike: an event has `requests` = 1. */
export const METRIC_SQL: Readonly<Record<MetricName, string>> = {
  request_count: 'sum(requests)',
  tokens_total: 'sum(prompt_tokens + completion_tokens)',
  tokens_prompt: 'sum(prompt_tokens)',
  tokens_completion: 'sum(completion_tokens)',
  reasoning_tokens: 'sum(reasoning_tokens)',
  cached_tokens: 'sum(cached_tokens)',
  byok_request_count: 'coalesce(sum(requests) FILTER (is_byok), 0)',
  guardrail_invoked_count: 'count(*) FILTER (is_guarded)',
  response_cached_count: 'count(*) FILTER (is_from_cache)',
  total_usage: 'sum(credit_nanos) + sum(byok_nanos)',
  byok_usage: 'sum(byok_nanos)',
  credits_usage: 'sum(credit_nanos)',
  own_usage: 'sum(credit_nanos) FILTER (NOT is_byok)',
  byok_fees: 'sum(credit_nanos) FILTER (is_byok)',
  usage_upstream: 'sum(upstream_nanos)',
  usage_cache: 'sum(cache_nanos)',
  usage_data: NO_SOURCE,
  usage_web: 'sum(web_nanos) FILTER (NOT is_byok)',
  usage_upstream_web: 'sum(web_nanos)',
  usage_file: NO_SOURCE,
  usage_upstream_file: NO_SOURCE,
  usage_web_fetch: NO_SOURCE,
  usage_upstream_web_fetch: NO_SOURCE,
  avg_latency: 'avg(latency_ms)',
  p50_latency: `${percentilesOfMs('latency_ms')}[1]::DOUBLE`,
  p90_latency: `${percentilesOfMs('latency_ms')}[2]::DOUBLE`,
  p99_latency: `${percentilesOfMs('latency_ms')}[3]::DOUBLE`,
  avg_throughput: `avg(${THROUGHPUT})`,
  p50_throughput: `${percentiles(THROUGHPUT)}[1]`,
  p90_throughput: `${percentiles(THROUGHPUT)}[2]`,
  p99_throughput: `${percentiles(THROUGHPUT)}[3]`,
  cache_hit_rate: 'sum(cached_tokens)::DOUBLE / nullif(sum(prompt_tokens), 0)',
  guardrail_invoked_rate: '(count(*) FILTER (is_guarded))::DOUBLE / nullif(sum(requests), 0)',
  response_cached_rate: '(count(*) FILTER (is_from_cache))::DOUBLE / nullif(sum(requests), 0)',
  error_count: "count(*) FILTER (finish_reason = 'error')",
  refused_count: 'coalesce(sum(refused_requests), 0)',
  p50_duration: `${percentilesOfMs(DURATION)}[1]::DOUBLE`,
  p90_duration: `${percentilesOfMs(DURATION)}[2]::DOUBLE`,
  p99_duration: `${percentilesOfMs(DURATION)}[3]::DOUBLE`,
  newest_ms: 'max(at_ms)',
};

/** Series of earlier releases do not say whether they were imported: then those without an endpoint were. */
const IS_IMPORTED = 'coalesce(is_imported, endpoint IS NULL AND provider IS NOT NULL)';

export const DIMENSION_SQL: Readonly<Record<DimensionName, string>> = {
  ...DIMENSION_COLUMNS,
  imported: IS_IMPORTED,
};

const calendar = (unit: string) => `epoch_ms(date_trunc('${unit}', make_timestamp_ms(at_ms)))`;

/** Begin of the bucket of a moment. */
export const BUCKET_SQL: Readonly<Record<Granularity, string>> = {
  minute: 'at_ms - at_ms % 60000',
  hour: 'at_ms - at_ms % 3600000',
  day: `at_ms - at_ms % ${DAY_MS}`,
  week: calendar('week'),
  month: calendar('month'),
};

const COMPARISONS: Readonly<Partial<Record<Operator, string>>> = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

/** Events with their series; `at_ms` is the moment that buckets and ranges go by. */
export const EVENTS = `(SELECT created_ms AS at_ms, 1 AS requests, *
  FROM events JOIN series ON series.place = events.series WHERE refused_requests IS NULL)`;
/** The same with refused requests, for a query that counts them: each is an event of no request and no duration. */
export const EVENTS_WITH_REFUSED = `(SELECT created_ms AS at_ms, (refused_requests IS NULL)::INTEGER AS requests,
  * REPLACE (CASE WHEN refused_requests IS NULL THEN duration_ms END AS duration_ms)
  FROM events JOIN series ON series.place = events.series)`;
/** Daily sums with their series, as if each were an event of `requests` generations. */
export const DAILY = `(SELECT first_day::BIGINT * ${DAY_MS} AS at_ms, *
  FROM ${ALL_DAILY} AS daily JOIN series ON series.place = daily.series)`;

/** Conditions on the range, the account and the filters of a question. */
export function conditionsOf(
  { startMs, endMs, accountId, filters }: Pick<EventQuery, 'startMs' | 'endMs' | 'accountId' | 'filters'>,
  bind: Bind,
): string {
  return [
    `at_ms >= ${bind(BigInt(startMs))}`,
    `at_ms < ${bind(BigInt(endMs))}`,
    ...(accountId === null ? [] : [`account_id = ${bind(accountId)}`]),
    ...filters.map((filter) => conditionSql(filter, bind)),
  ].join(' AND ');
}

function conditionSql({ field, operator, values, includesUnset }: EventFilter, bind: Bind): string {
  const column = `${DIMENSION_SQL[field]}::VARCHAR`;
  const comparison = COMPARISONS[operator];
  const bound = values.map(bind);
  const condition =
    comparison === undefined
      ? listConditionSql(column, operator === 'in', bound)
      : bound.map((value) => `${column} ${comparison} ${value}`).join(' AND ');
  return includesUnset ? `(${condition} OR ${column} IS NULL)` : `(${condition})`;
}

/** SQL has no empty lists. */
export function listConditionSql(column: string, isWithin: boolean, bound: readonly string[]): string {
  if (bound.length === 0) return isWithin ? 'false' : `${column} IS NOT NULL`;
  return `${column} ${isWithin ? 'IN' : 'NOT IN'} (${bound.join(', ')})`;
}
