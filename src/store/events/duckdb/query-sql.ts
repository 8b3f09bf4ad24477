import {
  CONTEXT_LENGTH_BUCKETS,
  type DimensionName,
  type Granularity,
  type MetricName,
  type Operator,
} from '../../../ports/event-names.ts';
import type { EventFilter, EventOrder, EventQuery } from '../../../ports/events.ts';
import type { ColumnName } from '../columns.ts';
import { DAY_MS, fitsDailySums } from '../daily-sums.ts';
import { ALL_DAILY } from './schema.ts';
import type { Statement } from './statement.ts';

const THROUGHPUT = 'completion_tokens * 1000.0::DOUBLE / nullif(generation_ms, 0)';

/**
 * Percentiles by nearest rank of a value, as a list. DuckDB computes equal expressions of a statement once, so three
 * percentiles cost one sort.
 */
const percentiles = (value: string) => `quantile_disc(${value}, [0.5, 0.9, 0.99])`;

/** No data source yet. */
const NO_SOURCE = 'NULL::HUGEINT';

/** SQL of each metric, for events and daily sums alike: an event has `requests` = 1. */
const METRIC_SQL: Readonly<Record<MetricName, string>> = {
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
  p50_latency: `${percentiles('latency_ms')}[1]::DOUBLE`,
  p90_latency: `${percentiles('latency_ms')}[2]::DOUBLE`,
  p99_latency: `${percentiles('latency_ms')}[3]::DOUBLE`,
  avg_throughput: `avg(${THROUGHPUT})`,
  p50_throughput: `${percentiles(THROUGHPUT)}[1]`,
  p90_throughput: `${percentiles(THROUGHPUT)}[2]`,
  p99_throughput: `${percentiles(THROUGHPUT)}[3]`,
  cache_hit_rate: 'sum(cached_tokens)::DOUBLE / nullif(sum(prompt_tokens), 0)',
  guardrail_invoked_rate: '(count(*) FILTER (is_guarded))::DOUBLE / count(*)',
  response_cached_rate: '(count(*) FILTER (is_from_cache))::DOUBLE / count(*)',
  error_count: "count(*) FILTER (finish_reason = 'error')",
  p50_generation_time: `${percentiles('generation_ms')}[1]::DOUBLE`,
  p90_generation_time: `${percentiles('generation_ms')}[2]::DOUBLE`,
  p99_generation_time: `${percentiles('generation_ms')}[3]::DOUBLE`,
  newest_ms: 'max(at_ms)',
};

/** Series of earlier releases do not say whether they were imported: then those without an endpoint were. */
const IS_IMPORTED = 'coalesce(is_imported, endpoint IS NULL AND provider IS NOT NULL)';

const DIMENSION_COLUMNS: Readonly<Record<DimensionName, ColumnName | typeof IS_IMPORTED>> = {
  model: 'model',
  model_id: 'model_id',
  variant: 'variant',
  api_key_id: 'key_hash',
  user: 'user_id',
  workspace: 'workspace_id',
  app: 'app',
  endpoint: 'endpoint',
  provider: 'provider',
  context_length_bucket: 'context_length_bucket',
  modalities: 'modalities',
  zdr: 'is_zdr',
  generation_id: 'id',
  origin: 'origin',
  country: 'country',
  finish_reason: 'finish_reason',
  external_user: 'external_user',
  error_status: 'error_status',
  error_type: 'error_type',
  imported: IS_IMPORTED,
};

const calendar = (unit: string) => `epoch_ms(date_trunc('${unit}', make_timestamp_ms(at_ms)))`;

/** Begin of the bucket of a moment. */
const BUCKET_SQL: Readonly<Record<Granularity, string>> = {
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

const EVENTS = `(SELECT created_ms AS at_ms, 1 AS requests, *
  FROM events JOIN series ON series.place = events.series)`;
const DAILY = `(SELECT first_day::BIGINT * ${DAY_MS} AS at_ms, *
  FROM ${ALL_DAILY} AS daily JOIN series ON series.place = daily.series)`;

/**
 * The statement of a query. Columns: bucket, dimensions, metrics, rows without limits, groups. All text from callers
 * is bound as parameters.
 */
export function querySql(query: EventQuery): Statement {
  const parameters: Record<string, string | bigint> = {};
  let bound = 0;
  const bind = (value: string | bigint): string => {
    const name = `p${bound}`;
    bound += 1;
    parameters[name] = value;
    return typeof value === 'bigint' ? `$${name}::BIGINT` : `$${name}::VARCHAR`;
  };
  const dimensions = query.dimensions.map((_, index) => `d${index}`);
  const order = orderSql(query);
  const groups =
    dimensions.length === 0 ? '1' : `(SELECT count(*) FROM (SELECT DISTINCT ${dimensions} FROM grouped))`;
  const limitsGroups = query.groupLimit !== null && dimensions.length > 0;
  const place = limitsGroups ? `row_number() OVER (PARTITION BY ${dimensions} ORDER BY ${order})` : '0';
  const selected = [
    `${query.granularity === null ? 'NULL::BIGINT' : BUCKET_SQL[query.granularity]} AS bucket`,
    ...query.dimensions.map((name, index) => `${DIMENSION_COLUMNS[name]}::VARCHAR AS d${index}`),
    ...query.metrics.map((name, index) => `${METRIC_SQL[name]} AS m${index}`),
    `${orderedMetricSql(query)} AS ordered`,
  ];
  const conditions = [
    `at_ms >= ${bind(BigInt(query.startMs))}`,
    `at_ms < ${bind(BigInt(query.endMs))}`,
    ...(query.accountId === null ? [] : [`account_id = ${bind(query.accountId)}`]),
    ...query.filters.map((filter) => conditionSql(filter, bind)),
  ];
  const sql = `WITH grouped AS MATERIALIZED (
      SELECT ${selected.join(', ')} FROM ${fitsDailySums(query) ? DAILY : EVENTS}
      WHERE ${conditions.join(' AND ')} GROUP BY ALL HAVING count(*) > 0),
    ranked AS (SELECT *, ${place} AS place FROM grouped)
    SELECT ${['bucket', ...dimensions, ...query.metrics.map((_, index) => `m${index}`)].join(', ')},
      (SELECT count(*) FROM grouped), ${groups}
    FROM ranked ${limitsGroups ? `WHERE place <= ${bind(BigInt(query.groupLimit ?? 0))}` : ''}
    ORDER BY ${order} LIMIT ${bind(BigInt(query.limit))}`;
  return { sql, parameters };
}

function orderSql({ order, dimensions }: EventQuery): string {
  const ties = ['bucket DESC', ...dimensions.map((_, index) => `d${index} ASC NULLS LAST`)];
  if (order === null) return ties.join(', ');
  const place = dimensions.indexOf(order.field as DimensionName);
  const first =
    order.field === 'date' ? 'bucket' : place === -1 ? 'ordered' : orderedBy(order.field, `d${place}`);
  return [`${first} ${order.direction === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`, ...ties].join(', ');
}

/** Sorts buckets of prompt length by size, everything else by text. */
function orderedBy(field: EventOrder['field'], column: string): string {
  if (field !== 'context_length_bucket') return column;
  const names = CONTEXT_LENGTH_BUCKETS.map(([, name]) => `'${name}'`);
  return `list_position([${names.join(', ')}], ${column})`;
}

function orderedMetricSql({ order }: EventQuery): string {
  return order !== null && order.field in METRIC_SQL
    ? METRIC_SQL[order.field as MetricName]
    : 'NULL::INTEGER';
}

function conditionSql(
  { field, operator, values, includesUnset }: EventFilter,
  bind: (value: string) => string,
): string {
  const column = `${DIMENSION_COLUMNS[field]}::VARCHAR`;
  const comparison = COMPARISONS[operator];
  const bound = values.map(bind);
  const condition =
    comparison === undefined
      ? listConditionSql(column, operator === 'in', bound)
      : bound.map((value) => `${column} ${comparison} ${value}`).join(' AND ');
  return includesUnset ? `(${condition} OR ${column} IS NULL)` : `(${condition})`;
}

/** SQL has no empty lists. */
function listConditionSql(column: string, isWithin: boolean, bound: readonly string[]): string {
  if (bound.length === 0) return isWithin ? 'false' : `${column} IS NOT NULL`;
  return `${column} ${isWithin ? 'IN' : 'NOT IN'} (${bound.join(', ')})`;
}
