import type { Nanos } from '../../kit/money.ts';
import type { GenerationEvent } from '../../ports/events.ts';
import type { GenerationRow } from '../../ports/generation-row.ts';
import type { StoredGeneration } from '../../ports/generations.ts';

/** The event of a settled generation. */
export function eventOf({ id, scopes, settledAtMs, charge, row: kept }: StoredGeneration): GenerationEvent {
  // Records of earlier releases may lack members.
  const row = kept as Partial<GenerationRow>;
  const createdAtMs = Date.parse(row.created_at ?? '');
  const promptTokens = row.native_tokens_prompt ?? 0;
  return {
    id,
    createdAtMs: Number.isNaN(createdAtMs) ? settledAtMs : createdAtMs,
    accountId: scopes.account,
    workspaceId: scopes.workspace,
    keyHash: scopes.key,
    userId: row.creator_user_id ?? null,
    app: appOf(row.http_referer ?? null, row.app_title ?? null),
    modelId: row.model ?? '',
    model: row.model_permaslug ?? row.model ?? '',
    variant: row.variant ?? 'standard',
    provider: row.provider_name ?? null,
    endpoint: row.provider_responses?.at(-1)?.endpoint_id ?? null,
    origin: row.origin ?? null,
    country: null,
    finishReason: row.finish_reason ?? null,
    externalUser: row.external_user ?? null,
    contextLengthBucket: contextLengthBucketOf(promptTokens),
    isZdr: row.is_zdr ?? false,
    isByok: row.is_byok ?? false,
    isGuarded: false,
    isFromCache: (row.response_cache_source_id ?? null) !== null,
    promptTokens,
    completionTokens: row.native_tokens_completion ?? 0,
    reasoningTokens: row.native_tokens_reasoning ?? 0,
    cachedTokens: row.native_tokens_cached ?? 0,
    latencyMs: row.latency ?? null,
    generationMs: row.generation_time ?? null,
    creditNanos: charge.creditNanos,
    byokNanos: charge.byokNanos,
    upstreamNanos: BigInt(row.upstream_inference_nanos ?? 0),
    cacheNanos: nanosOrNull(row.cache_discount_nanos),
    webNanos: nanosOrNull(row.web_search_nanos),
  };
}

/** Names of apps on the machine of whoever wrote them: they say nothing without a title. */
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** What an app is known by: host and port of its address, in lower case. Null for what is no address. */
export function appOf(referer: string | null, title: string | null): string | null {
  if (referer === null || !URL.canParse(referer)) return null;
  const { host, hostname } = new URL(referer);
  if (host === '' || (LOCAL_HOSTS.has(hostname.toLowerCase()) && title === null)) return null;
  return host.toLowerCase();
}

/** Prompts up to so many tokens, and what they are called. */
const CONTEXT_LENGTH_BUCKETS: readonly (readonly [mostTokens: number, name: string])[] = [
  [1_000, '1K'],
  [10_000, '10K'],
  [100_000, '100K'],
  [1_000_000, '1M'],
  [Number.POSITIVE_INFINITY, '10M'],
];

/** The bucket that a prompt falls in. */
export function contextLengthBucketOf(promptTokens: number): string {
  return CONTEXT_LENGTH_BUCKETS.find(([mostTokens]) => promptTokens <= mostTokens)?.[1] ?? '10M';
}

function nanosOrNull(text: string | undefined): Nanos | null {
  return text === undefined || text === '0' ? null : BigInt(text);
}
