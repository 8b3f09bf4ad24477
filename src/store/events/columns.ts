import type { DimensionName } from '../../ports/events/event-names.ts';
import type { GenerationEvent } from '../../ports/events/events.ts';
import { GenerationRefused } from '../../ports/generations/generations.ts';

interface Column {
  readonly type: 'VARCHAR' | 'BIGINT' | 'BOOLEAN';
}

interface TextColumn extends Column {
  readonly type: 'VARCHAR';
  readonly of: (event: GenerationEvent) => string | null;
}

interface NumberColumn extends Column {
  readonly type: 'BIGINT' | 'BOOLEAN';
  readonly of: (event: GenerationEvent) => number | bigint | boolean | null;
}

const text = (of: TextColumn['of']): TextColumn => ({ type: 'VARCHAR', of });
const whole = (of: NumberColumn['of']): NumberColumn => ({ type: 'BIGINT', of });
const flag = (of: NumberColumn['of']): NumberColumn => ({ type: 'BOOLEAN', of });

/** Text columns of a series: daily sums are kept per day and series. Many events share few series. */
export const SERIES_TEXTS = {
  account_id: text((event) => event.accountId),
  workspace_id: text((event) => event.workspaceId),
  key_hash: text((event) => event.keyHash),
  user_id: text((event) => event.userId),
  app: text((event) => event.app),
  model_id: text((event) => event.modelId),
  model: text((event) => event.model),
  variant: text((event) => event.variant),
  provider: text((event) => event.provider),
  endpoint: text((event) => event.endpoint),
  context_length_bucket: text((event) => event.contextLengthBucket),
  modalities: text((event) => event.modalities),
} as const satisfies Readonly<Record<string, TextColumn>>;

/** Other columns of a series. */
export const SERIES_NUMBERS = {
  is_zdr: flag((event) => event.isZdr),
  is_byok: flag((event) => event.isByok),
  is_imported: flag((event) => event.isImported),
} as const satisfies Readonly<Record<string, NumberColumn>>;

/** Text columns of an event. */
export const EVENT_TEXTS = {
  id: text((event) => event.id),
  origin: text((event) => event.origin),
  country: text((event) => event.country),
  finish_reason: text((event) => event.finishReason),
  external_user: text((event) => event.externalUser),
  state: text((event) => event.log?.state ?? null),
  request_format: text((event) => event.log?.format ?? null),
  session_id: text((event) => event.log?.sessionId ?? null),
  request_id: text((event) => event.log?.requestId ?? null),
  error_type: text((event) => event.log?.errorType ?? null),
  trace_id: text((event) => event.log?.traceId ?? null),
} as const satisfies Readonly<Record<string, TextColumn>>;

/** Other columns of an event. */
export const EVENT_NUMBERS = {
  created_ms: whole((event) => event.createdAtMs),
  is_guarded: flag((event) => event.isGuarded),
  is_from_cache: flag((event) => event.isFromCache),
  prompt_tokens: whole((event) => event.promptTokens),
  completion_tokens: whole((event) => event.completionTokens),
  reasoning_tokens: whole((event) => event.reasoningTokens),
  cached_tokens: whole((event) => event.cachedTokens),
  latency_ms: whole((event) => event.latencyMs),
  generation_ms: whole((event) => event.generationMs),
  credit_nanos: whole((event) => event.creditNanos),
  byok_nanos: whole((event) => event.byokNanos),
  upstream_nanos: whole((event) => event.upstreamNanos),
  cache_nanos: whole((event) => event.cacheNanos),
  web_nanos: whole((event) => event.webNanos),
  duration_ms: whole((event) => event.log?.durationMs ?? null),
  error_status: whole((event) => event.log?.errorStatus ?? null),
  attempts: whole((event) => event.log?.attempts ?? null),
  tool_calls: whole((event) => event.log?.toolCalls ?? null),
  is_streamed: flag((event) => event.log?.isStreamed ?? null),
  refused_requests: whole((event) => event.refusedRequests ?? null),
} as const satisfies Readonly<Record<string, NumberColumn>>;

/** Columns of an event and of its series. */
export type ColumnName =
  | keyof typeof SERIES_TEXTS
  | keyof typeof SERIES_NUMBERS
  | keyof typeof EVENT_TEXTS
  | keyof typeof EVENT_NUMBERS;

/** Column declarations for CREATE TABLE. */
export function declarationsOf(columns: Readonly<Record<string, Column>>): string[] {
  return Object.entries(columns).map(([name, { type }]) => `${name} ${type}`);
}

/** A value of a column as a number. Throws GenerationRefused for one that is not whole, or beyond 2^53. */
export function wholeNumberOf(
  value: number | bigint | boolean,
  event: GenerationEvent,
  column: string,
): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new GenerationRefused(
    `the event ${event.id} has a number in ${column} that is not a whole one within 2^53`,
  );
}

/** The column of each dimension. Whether an event was imported, each store says in its own way. */
export const DIMENSION_COLUMNS: Readonly<Record<Exclude<DimensionName, 'imported'>, ColumnName>> = {
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
};

/** Milliseconds to the end; of older and imported events at least the longer of two parts that overlap. */
export const DURATION = 'coalesce(duration_ms, greatest(latency_ms, generation_ms))';
