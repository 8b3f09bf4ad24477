import type { DimensionName, Granularity, MetricName } from '../../../src/ports/events/event-names.ts';
import type {
  DayWindow,
  EventQuery,
  EventRow,
  GenerationEvent,
  MetricValue,
} from '../../../src/ports/events/events.ts';

/** What a query must find, in plain TypeScript: no order, no limits. */
export function countEvents(events: readonly GenerationEvent[], query: EventQuery): EventRow[] {
  const groups = new Map<string, { row: Omit<EventRow, 'metrics'>; events: GenerationEvent[] }>();
  for (const event of events) {
    if (event.createdAtMs < query.startMs || event.createdAtMs >= query.endMs) continue;
    if (query.accountId !== null && event.accountId !== query.accountId) continue;
    if (!query.filters.every((filter) => passes(DIMENSION[filter.field](event), filter))) continue;
    const bucketMs = query.granularity === null ? null : bucketOf(query.granularity, event.createdAtMs);
    const dimensions = query.dimensions.map((name) => DIMENSION[name](event));
    const key = JSON.stringify([bucketMs, dimensions]);
    const group = groups.get(key) ?? { row: { bucketMs, dimensions }, events: [] };
    groups.set(key, group);
    group.events.push(event);
  }
  return [...groups.values()].map((group) => ({
    ...group.row,
    metrics: query.metrics.map((name) => METRIC[name](group.events)),
  }));
}

/** What an app used in each of some windows. */
export interface AppCount {
  readonly app: string;
  readonly tokens: bigint[];
  readonly requests: bigint[];
}

/** What every app used, in plain TypeScript, by name. */
export function countApps(events: readonly GenerationEvent[], windows: readonly DayWindow[]): AppCount[] {
  const totals = new Map<string, AppCount>();
  for (const { app, isZdr, createdAtMs, promptTokens, completionTokens } of events) {
    if (app === null || isZdr) continue;
    const total = totals.get(app) ?? { app, tokens: windows.map(() => 0n), requests: windows.map(() => 0n) };
    totals.set(app, total);
    windows.forEach(({ startMs, endMs }, index) => {
      if (createdAtMs < startMs || createdAtMs >= endMs) return;
      total.tokens[index] = (total.tokens[index] ?? 0n) + BigInt(promptTokens + completionTokens);
      total.requests[index] = (total.requests[index] ?? 0n) + 1n;
    });
  }
  return [...totals.values()]
    .filter(({ requests }) => (requests[0] ?? 0n) > 0n)
    .sort((one, other) => (one.app < other.app ? -1 : 1));
}

const DIMENSION: Record<DimensionName, (event: GenerationEvent) => string | null> = {
  model: (event) => event.model,
  model_id: (event) => event.modelId,
  variant: (event) => event.variant,
  api_key_id: (event) => event.keyHash,
  user: (event) => event.userId,
  workspace: (event) => event.workspaceId,
  app: (event) => event.app,
  endpoint: (event) => event.endpoint,
  provider: (event) => event.provider,
  context_length_bucket: (event) => event.contextLengthBucket,
  modalities: (event) => event.modalities,
  zdr: (event) => String(event.isZdr),
  generation_id: (event) => event.id,
  origin: (event) => event.origin,
  country: (event) => event.country,
  finish_reason: (event) => event.finishReason,
  external_user: (event) => event.externalUser,
  error_status: ({ log }) => (typeof log?.errorStatus === 'number' ? String(log.errorStatus) : null),
  error_type: ({ log }) => log?.errorType ?? null,
  imported: (event) => String(event.isImported),
};

type Many = readonly GenerationEvent[];

const whole =
  (of: (event: GenerationEvent) => number) =>
  (events: Many): bigint =>
    // Numbers of a history stay far below 2^53 in all.
    BigInt(events.reduce((sum, event) => sum + of(event), 0));

/** Null where no event has a value. */
const money =
  (of: (event: GenerationEvent) => bigint | null) =>
  (events: Many): bigint | null => {
    const known = events.map(of).filter((nanos) => nanos !== null);
    return known.length === 0 ? null : known.reduce((sum, nanos) => sum + nanos, 0n);
  };

const mean =
  (of: (event: GenerationEvent) => number | null) =>
  (events: Many): number | null => {
    const known = events.map(of).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  };

/** By nearest rank. */
const percentile =
  (percent: number, of: (event: GenerationEvent) => number | null) =>
  (events: Many): number | null => {
    const known = Float64Array.from(events.map(of).filter((value) => value !== null)).sort();
    return known[Math.max(1, Math.ceil((known.length * percent) / 100)) - 1] ?? null;
  };

const ratio = (part: bigint, of: bigint): number | null => (of === 0n ? null : Number(part) / Number(of));

const latency = (event: GenerationEvent) => event.latencyMs;
const parts = ({ latencyMs, generationMs }: GenerationEvent) =>
  [latencyMs, generationMs].filter((ms) => ms !== null);

/** Of events without a duration at least the longer of two parts that overlap. */
export const durationOf = (event: GenerationEvent): number | null =>
  event.log?.durationMs ?? (parts(event).length === 0 ? null : Math.max(...parts(event)));
const throughput = ({ completionTokens, generationMs }: GenerationEvent) =>
  generationMs === null || generationMs === 0 ? null : (completionTokens * 1000) / generationMs;

const requests = whole(() => 1);
const prompt = whole((event) => event.promptTokens);
const cached = whole((event) => event.cachedTokens);
const guarded = whole((event) => Number(event.isGuarded));
const fromCache = whole((event) => Number(event.isFromCache));
const none = () => null;

const METRIC: Record<MetricName, (events: Many) => MetricValue> = {
  request_count: requests,
  tokens_total: whole((event) => event.promptTokens + event.completionTokens),
  tokens_prompt: prompt,
  tokens_completion: whole((event) => event.completionTokens),
  reasoning_tokens: whole((event) => event.reasoningTokens),
  cached_tokens: cached,
  byok_request_count: whole((event) => Number(event.isByok)),
  guardrail_invoked_count: guarded,
  response_cached_count: fromCache,
  total_usage: money((event) => event.creditNanos + event.byokNanos),
  byok_usage: money((event) => event.byokNanos),
  credits_usage: money((event) => event.creditNanos),
  own_usage: money((event) => (event.isByok ? null : event.creditNanos)),
  byok_fees: money((event) => (event.isByok ? event.creditNanos : null)),
  usage_upstream: money((event) => event.upstreamNanos),
  usage_cache: money((event) => event.cacheNanos),
  usage_data: none,
  usage_web: money((event) => (event.isByok ? null : event.webNanos)),
  usage_upstream_web: money((event) => event.webNanos),
  usage_file: none,
  usage_upstream_file: none,
  usage_web_fetch: none,
  usage_upstream_web_fetch: none,
  avg_latency: mean(latency),
  p50_latency: percentile(50, latency),
  p90_latency: percentile(90, latency),
  p99_latency: percentile(99, latency),
  avg_throughput: mean(throughput),
  p50_throughput: percentile(50, throughput),
  p90_throughput: percentile(90, throughput),
  p99_throughput: percentile(99, throughput),
  cache_hit_rate: (events) => ratio(cached(events), prompt(events)),
  guardrail_invoked_rate: (events) => ratio(guarded(events), requests(events)),
  response_cached_rate: (events) => ratio(fromCache(events), requests(events)),
  error_count: whole((event) => Number(event.finishReason === 'error')),
  refused_count: whole(({ refusedRequests = 0 }) => refusedRequests),
  p50_duration: percentile(50, durationOf),
  p90_duration: percentile(90, durationOf),
  p99_duration: percentile(99, durationOf),
  newest_ms: (events) => events.reduce((newest, { createdAtMs }) => Math.max(newest, createdAtMs), 0),
};

/** Where the bucket around a moment begins, by the calendar of Date. */
export function bucketOf(granularity: Granularity, ms: number): number {
  const date = new Date(ms);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const sinceMonday = (date.getUTCDay() + 6) % 7;
  const begins: Record<Granularity, number> = {
    minute: Date.UTC(year, month, day, date.getUTCHours(), date.getUTCMinutes()),
    hour: Date.UTC(year, month, day, date.getUTCHours()),
    day: Date.UTC(year, month, day),
    week: Date.UTC(year, month, day - sinceMonday),
    month: Date.UTC(year, month),
  };
  return begins[granularity];
}

function passes(
  value: string | null,
  { operator, values, includesUnset }: EventQuery['filters'][number],
): boolean {
  if (value === null) return includesUnset;
  const [first = ''] = values;
  const results = {
    eq: value === first,
    neq: value !== first,
    in: values.includes(value),
    not_in: !values.includes(value),
    gt: value > first,
    gte: value >= first,
    lt: value < first,
    lte: value <= first,
  };
  return results[operator];
}
