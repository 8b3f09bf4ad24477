/** Unit of a metric: a count, nano-dollars, milliseconds, tokens per second, a share from 0 to 1, or a time. */
export type MetricUnit = 'count' | 'money' | 'milliseconds' | 'tokensPerSecond' | 'share' | 'moment';

interface MetricTraits {
  readonly unit: MetricUnit;
  /** Can be computed from daily sums, so it outlives the events. */
  readonly isDaily: boolean;
}

const daily = (unit: MetricUnit): MetricTraits => ({ unit, isDaily: true });
const detailed = (unit: MetricUnit): MetricTraits => ({ unit, isDaily: false });

/** All metrics. The API names `own_usage` after the operator's vendor name; some are internal. */
export const METRICS = {
  request_count: daily('count'),
  tokens_total: daily('count'),
  tokens_prompt: daily('count'),
  tokens_completion: daily('count'),
  reasoning_tokens: daily('count'),
  cached_tokens: daily('count'),
  byok_request_count: daily('count'),
  guardrail_invoked_count: detailed('count'),
  response_cached_count: detailed('count'),
  total_usage: daily('money'),
  byok_usage: daily('money'),
  credits_usage: daily('money'),
  own_usage: daily('money'),
  byok_fees: daily('money'),
  usage_upstream: daily('money'),
  usage_cache: daily('money'),
  usage_data: daily('money'),
  usage_web: daily('money'),
  usage_upstream_web: daily('money'),
  usage_file: detailed('money'),
  usage_upstream_file: detailed('money'),
  usage_web_fetch: detailed('money'),
  usage_upstream_web_fetch: detailed('money'),
  avg_latency: detailed('milliseconds'),
  p50_latency: detailed('milliseconds'),
  p90_latency: detailed('milliseconds'),
  p99_latency: detailed('milliseconds'),
  avg_throughput: detailed('tokensPerSecond'),
  p50_throughput: detailed('tokensPerSecond'),
  p90_throughput: detailed('tokensPerSecond'),
  p99_throughput: detailed('tokensPerSecond'),
  cache_hit_rate: daily('share'),
  guardrail_invoked_rate: detailed('share'),
  response_cached_rate: detailed('share'),
  /** Generations without an answer. */
  error_count: detailed('count'),
  /** Requests that were refused before any upstream was called. No other metric counts them. */
  refused_count: detailed('count'),
  /** Duration of the call that served, from its start to its end. */
  p50_duration: detailed('milliseconds'),
  p90_duration: detailed('milliseconds'),
  p99_duration: detailed('milliseconds'),
  /** When the newest generation came in, epoch milliseconds. */
  newest_ms: detailed('moment'),
} as const satisfies Readonly<Record<string, MetricTraits>>;

export type MetricName = keyof typeof METRICS;

/** All dimensions to group and filter by. `isDaily`: daily sums are kept for each of its values. */
export const DIMENSIONS = {
  model: { isDaily: true },
  /** Id of the model, where `model` is its permanent slug. */
  model_id: { isDaily: true },
  variant: { isDaily: true },
  api_key_id: { isDaily: true },
  user: { isDaily: true },
  workspace: { isDaily: true },
  app: { isDaily: true },
  endpoint: { isDaily: true },
  provider: { isDaily: true },
  context_length_bucket: { isDaily: true },
  /** A text of `modalitiesText`. */
  modalities: { isDaily: true },
  /** `true` if the request asked for endpoints that retain nothing. */
  zdr: { isDaily: true },
  generation_id: { isDaily: false },
  origin: { isDaily: false },
  country: { isDaily: false },
  finish_reason: { isDaily: false },
  external_user: { isDaily: false },
  /** Status that the caller got for a failure, and its type. */
  error_status: { isDaily: false },
  error_type: { isDaily: false },
  /** `true` if the usage was imported: the ledger has not booked it. */
  imported: { isDaily: true },
} as const satisfies Readonly<Record<string, { readonly isDaily: boolean }>>;

export type DimensionName = keyof typeof DIMENSIONS;

/** Widths of time buckets. All are of UTC; weeks begin on Monday. */
export const GRANULARITIES = ['minute', 'hour', 'day', 'week', 'month'] as const;

export type Granularity = (typeof GRANULARITIES)[number];

/** Operators of filters, and whether each takes one value or a list. */
export const OPERATORS = {
  eq: 'scalar',
  neq: 'scalar',
  in: 'array',
  not_in: 'array',
  gt: 'scalar',
  gte: 'scalar',
  lt: 'scalar',
  lte: 'scalar',
} as const;

export type Operator = keyof typeof OPERATORS;

/** Buckets of prompt length: upper bound in tokens, and name. */
export const CONTEXT_LENGTH_BUCKETS: readonly (readonly [maxPromptTokens: number, name: string])[] = [
  [1_000, '1K'],
  [10_000, '10K'],
  [100_000, '100K'],
  [1_000_000, '1M'],
  [Number.POSITIVE_INFINITY, '10M'],
];

export function contextLengthBucketOf(promptTokens: number): string {
  return CONTEXT_LENGTH_BUCKETS.find(([maxPromptTokens]) => promptTokens <= maxPromptTokens)?.[1] ?? '10M';
}

/** Features of a generation besides text, in the order of their names in a text. */
export const MODALITIES = ['image', 'image_output', 'audio', 'tool_calling'] as const;

export type Modality = (typeof MODALITIES)[number];

/** A set of modalities as one text to group by: names in table order, joined by `+`; empty for text alone. */
export function modalitiesText(has: Readonly<Partial<Record<Modality, boolean>>>): string {
  return MODALITIES.filter((name) => has[name] === true).join('+');
}
