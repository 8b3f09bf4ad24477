import type { AnalyticsMeta, AnalyticsNames } from '../../contract/analytics/analytics.ts';
import {
  type DimensionName,
  GRANULARITIES,
  METRICS,
  type MetricName,
  type MetricUnit,
  OPERATORS,
} from '../../ports/events/event-names.ts';

/** Range limit that a metric or dimension imposes on a query, days. */
export type LongestDays = 31 | 365;

const METRICS_OF_ACCOUNTS = {
  request_count: 365,
  tokens_total: 365,
  tokens_prompt: 365,
  tokens_completion: 365,
  reasoning_tokens: 365,
  cached_tokens: 365,
  byok_request_count: 365,
  guardrail_invoked_count: 31,
  response_cached_count: 31,
  refused_count: 31,
  total_usage: 365,
  byok_usage: 365,
  credits_usage: 365,
  own_usage: 31,
  byok_fees: 31,
  usage_upstream: 365,
  usage_cache: 365,
  usage_data: 365,
  usage_web: 365,
  usage_upstream_web: 365,
  usage_file: 31,
  usage_upstream_file: 31,
  usage_web_fetch: 31,
  usage_upstream_web_fetch: 31,
  avg_latency: 31,
  p50_latency: 31,
  p90_latency: 31,
  p99_latency: 31,
  avg_throughput: 31,
  p50_throughput: 31,
  p90_throughput: 31,
  p99_throughput: 31,
  cache_hit_rate: 365,
  guardrail_invoked_rate: 31,
  response_cached_rate: 31,
} as const satisfies Readonly<Partial<Record<MetricName, LongestDays>>>;

/** A metric open to accounts; events have further, internal ones. */
export type AnalyticsMetric = keyof typeof METRICS_OF_ACCOUNTS;

export const METRIC_DAYS: Readonly<Record<AnalyticsMetric, LongestDays>> = METRICS_OF_ACCOUNTS;

/** Kind of a dimension's filter values: see `VALUE_RULES`. */
export type ValueKind = 'text' | 'key' | 'workspace' | 'app' | 'contextLength';

interface DimensionRules {
  readonly longestDays: LongestDays;
  readonly values: ValueKind;
  /** Events may lack a value. */
  readonly hasUnset: boolean;
}

const alwaysSet = (longestDays: LongestDays, values: ValueKind = 'text'): DimensionRules => ({
  longestDays,
  values,
  hasUnset: false,
});

const sometimesUnset = (longestDays: LongestDays, values: ValueKind = 'text'): DimensionRules => ({
  longestDays,
  values,
  hasUnset: true,
});

const DIMENSIONS_OF_ACCOUNTS = {
  model: alwaysSet(365),
  variant: alwaysSet(365),
  api_key_id: sometimesUnset(365, 'key'),
  user: sometimesUnset(365),
  workspace: alwaysSet(365, 'workspace'),
  app: sometimesUnset(365, 'app'),
  generation_id: alwaysSet(31),
  provider: sometimesUnset(31),
  origin: sometimesUnset(31),
  country: sometimesUnset(31),
  finish_reason: sometimesUnset(31),
  external_user: sometimesUnset(31),
  context_length_bucket: alwaysSet(31, 'contextLength'),
} as const satisfies Readonly<Partial<Record<DimensionName, DimensionRules>>>;

/** A dimension open to accounts; events have further, internal ones. */
export type AnalyticsDimension = keyof typeof DIMENSIONS_OF_ACCOUNTS;

export const ANALYTICS_DIMENSIONS: Readonly<Record<AnalyticsDimension, DimensionRules>> =
  DIMENSIONS_OF_ACCOUNTS;

const METRIC_NAMES = Object.keys(METRIC_DAYS) as AnalyticsMetric[];

export function wireMetric(name: AnalyticsMetric, vendor: string): string {
  return name === 'own_usage' ? `${vendor}_usage` : name;
}

export function metricsByWireName(vendor: string): ReadonlyMap<string, AnalyticsMetric> {
  return new Map(METRIC_NAMES.map((name) => [wireMetric(name, vendor), name]));
}

/** All names that a query may use. */
export function analyticsNames(vendor: string): AnalyticsNames {
  return {
    metrics: METRIC_NAMES.map((name) => wireMetric(name, vendor)),
    dimensions: Object.keys(ANALYTICS_DIMENSIONS),
    granularities: GRANULARITIES,
    operators: Object.keys(OPERATORS),
  };
}

/** Display format of each unit; rates cannot be summed. */
const UNIT_FORMATS = {
  count: { display_format: 'number', is_rate: false },
  money: { display_format: 'currency', is_rate: false },
  milliseconds: { display_format: 'latency', is_rate: true },
  tokensPerSecond: { display_format: 'throughput', is_rate: true },
  share: { display_format: 'percent', is_rate: true },
  moment: { display_format: 'number', is_rate: true },
} as const satisfies Readonly<Record<MetricUnit, object>>;

/** The names with their display data. */
export function analyticsMeta(vendor: string): AnalyticsMeta {
  const { dimensions, granularities } = analyticsNames(vendor);
  return {
    metrics: METRIC_NAMES.map((name) => ({
      ...labelled(wireMetric(name, vendor)),
      ...UNIT_FORMATS[METRICS[name].unit],
    })),
    dimensions: dimensions.map(labelled),
    operators: Object.entries(OPERATORS).map(([name, value_type]) => ({ name, value_type })),
    granularities: granularities.map(labelled),
  };
}

/** A name with its label: `tokens_total` -> `Tokens Total`. */
function labelled(name: string): { name: string; display_label: string } {
  const words = name.split(/[_-]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return { name, display_label: words.join(' ') };
}
