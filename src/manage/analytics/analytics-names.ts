import type { AnalyticsMeta, AnalyticsNames } from '../../contract/analytics.ts';
import {
  type DimensionName,
  GRANULARITIES,
  METRICS,
  type MetricName,
  type MetricUnit,
  OPERATORS,
} from '../../ports/event-names.ts';

/** The longest range that a question with a name in it may have, days. */
export type LongestDays = 31 | 365;

/** The longest range of each metric. */
export const METRIC_DAYS: Readonly<Record<MetricName, LongestDays>> = {
  request_count: 365,
  tokens_total: 365,
  tokens_prompt: 365,
  tokens_completion: 365,
  reasoning_tokens: 365,
  cached_tokens: 365,
  byok_request_count: 365,
  guardrail_invoked_count: 31,
  response_cached_count: 31,
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
};

/** What filters on a dimension compare with: see `VALUE_RULES`. */
export type ValueKind = 'text' | 'key' | 'workspace' | 'app' | 'contextLength';

interface DimensionRules {
  readonly longestDays: LongestDays;
  readonly values: ValueKind;
  /** Whether usage may have no value of it. */
  readonly hasUnset: boolean;
}

const always = (longestDays: LongestDays, values: ValueKind = 'text'): DimensionRules => ({
  longestDays,
  values,
  hasUnset: false,
});

const sometimes = (longestDays: LongestDays, values: ValueKind = 'text'): DimensionRules => ({
  longestDays,
  values,
  hasUnset: true,
});

const DIMENSIONS_OF_ACCOUNTS = {
  model: always(365),
  variant: always(365),
  api_key_id: sometimes(365, 'key'),
  user: sometimes(365),
  workspace: always(365, 'workspace'),
  app: sometimes(365, 'app'),
  generation_id: always(31),
  provider: sometimes(31),
  origin: sometimes(31),
  country: sometimes(31),
  finish_reason: sometimes(31),
  external_user: sometimes(31),
  context_length_bucket: always(31, 'contextLength'),
} as const satisfies Readonly<Partial<Record<DimensionName, DimensionRules>>>;

/** A dimension that accounts can ask for; the events have others, which are ours. */
export type AnalyticsDimension = keyof typeof DIMENSIONS_OF_ACCOUNTS;

/** The dimensions that accounts can ask for. */
export const ANALYTICS_DIMENSIONS: Readonly<Record<AnalyticsDimension, DimensionRules>> =
  DIMENSIONS_OF_ACCOUNTS;

const METRIC_NAMES = Object.keys(METRICS) as MetricName[];

/** What a metric is called on the wire. */
export function wireMetric(name: MetricName, vendor: string): string {
  return name === 'own_usage' ? `${vendor}_usage` : name;
}

/** The metric of each name on the wire. */
export function metricsByWireName(vendor: string): ReadonlyMap<string, MetricName> {
  return new Map(METRIC_NAMES.map((name) => [wireMetric(name, vendor), name]));
}

/** Every name that a question can be made of. */
export function analyticsNames(vendor: string): AnalyticsNames {
  return {
    metrics: METRIC_NAMES.map((name) => wireMetric(name, vendor)),
    dimensions: Object.keys(ANALYTICS_DIMENSIONS),
    granularities: GRANULARITIES,
    operators: Object.keys(OPERATORS),
  };
}

/** How each unit is shown; rates are what cannot be added up. */
const UNIT_FORMATS = {
  count: { display_format: 'number', is_rate: false },
  money: { display_format: 'currency', is_rate: false },
  milliseconds: { display_format: 'latency', is_rate: true },
  tokensPerSecond: { display_format: 'throughput', is_rate: true },
  share: { display_format: 'percent', is_rate: true },
} as const satisfies Readonly<Record<MetricUnit, object>>;

/** The same names with what a page needs to show them. */
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

/** A name with its words in capitals as its label. */
function labelled(name: string): { name: string; display_label: string } {
  const words = name.split(/[_-]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return { name, display_label: words.join(' ') };
}
