import { namedTrace, traceMembersOf } from '../../../ir/trace.ts';
import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';
import type { Nanos } from '../../../kit/money.ts';
import { appHostOf } from '../../../kit/net/app-host.ts';
import type { AppRegistry, AppSighting } from '../../../ports/events/apps.ts';
import { contextLengthBucketOf, modalitiesText } from '../../../ports/events/event-names.ts';
import type { EventStore, GenerationEvent, LogState } from '../../../ports/events/events.ts';
import type { GenerationRow } from '../../../ports/generations/generation-row.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import { oneSightingPerApp, sightingOf } from './app-sightings.ts';

/** A settled generation as an event. */
export interface EventItem {
  readonly id: string;
  readonly event: GenerationEvent;
  /** Its app; undefined when unknown. */
  readonly sighting: AppSighting | undefined;
}

/** Makes events and apps of settled generations. */
export interface EventProjection {
  /** What is needed of a generation: many may wait in memory, and each is large. */
  of(generation: StoredGeneration): EventItem;
  /**
   * Adds events, all or none; known ones are skipped, and those from before the last pruning. Rejects with
   * GenerationRefused when one of them can never be added; any other error is retried.
   */
  add(items: readonly EventItem[]): Promise<void>;
}

export function eventProjection(
  events: Pick<EventStore, 'append'>,
  apps: Pick<AppRegistry, 'note'>,
): EventProjection {
  return {
    of: (generation) => ({
      id: generation.id,
      event: eventOf(generation),
      sighting: sightingOf(generation),
    }),
    async add(items) {
      const sightings = oneSightingPerApp(items.map(({ sighting }) => sighting));
      if (sightings.length > 0) await apps.note(sightings);
      await events.append(items.map(({ event }) => event));
    },
  };
}

export function eventOf({ id, scopes, settledAtMs, charge, row: kept }: StoredGeneration): GenerationEvent {
  // Records of earlier releases may lack members.
  const row = kept as Partial<GenerationRow>;
  const createdAtMs = Date.parse(row.created_at ?? '');
  const promptTokens = row.native_tokens_prompt ?? 0;
  const { refused_requests: refusedRequests } = row;
  return {
    id,
    createdAtMs: Number.isNaN(createdAtMs) ? settledAtMs : createdAtMs,
    accountId: scopes.account,
    workspaceId: scopes.workspace,
    keyHash: scopes.key,
    userId: row.creator_user_id ?? null,
    app: appHostOf(row.http_referer ?? null, row.app_title ?? null),
    modelId: row.model ?? '',
    model: row.model_permaslug ?? row.model ?? '',
    variant: row.variant ?? 'standard',
    provider: row.provider_name ?? null,
    endpoint: row.provider_responses?.at(-1)?.endpoint_id ?? null,
    origin: row.origin ?? null,
    country: null,
    // A refused request did not begin.
    finishReason: refusedRequests === undefined ? (row.finish_reason ?? null) : null,
    externalUser: row.external_user ?? null,
    contextLengthBucket: contextLengthBucketOf(promptTokens),
    modalities: modalitiesText({
      image: (row.num_media_prompt ?? 0) > 0,
      image_output: (row.num_media_completion ?? 0) > 0,
      audio: (row.num_input_audio_prompt ?? 0) > 0,
      tool_calling: row.finish_reason === 'tool_calls',
    }),
    isZdr: row.is_zdr ?? false,
    isByok: row.is_byok ?? false,
    isGuarded: hasGuardrailActed(row.routing ?? null),
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
    log: {
      state: stateOf(row),
      format: row.format ?? null,
      sessionId: row.session_id ?? null,
      // The generation's own id stands for it if the caller named none.
      requestId: row.request_id === id ? null : (row.request_id ?? null),
      durationMs: Number.isNaN(createdAtMs) ? 0 : Math.max(0, settledAtMs - createdAtMs),
      errorStatus: row.error?.status ?? null,
      errorType: row.error?.type ?? null,
      attempts: row.provider_responses?.length ?? 0,
      toolCalls: row.tool_calls?.length ?? 0,
      isStreamed: row.streamed ?? false,
      traceId: namedTrace(traceMembersOf(kept)).traceId ?? null,
    },
    isImported: false,
    refusedRequests,
  };
}

/** Lowest status of a failed attempt. */
const FIRST_FAILURE_STATUS = 400;

function stateOf({
  refused_requests,
  cancelled,
  finish_reason,
  provider_responses,
}: Partial<GenerationRow>): LogState {
  if (refused_requests !== undefined) return 'refused';
  if (cancelled === true) return 'cancelled';
  if (finish_reason === 'error') return 'failed';
  const hasFailed = (provider_responses ?? []).some(({ status }) => status >= FIRST_FAILURE_STATUS);
  return hasFailed ? 'fallback' : 'answered';
}

/** Whether a guardrail found something. */
function hasGuardrailActed(routing: JsonObject | null): boolean {
  const pipeline = routing?.pipeline;
  if (!Array.isArray(pipeline)) return false;
  return pipeline.some((entry) => {
    const { type, data } = entry as JsonObject;
    return type === 'guardrail' && isJsonObject(data) && data.detected === true;
  });
}

function nanosOrNull(text: string | undefined): Nanos | null {
  return text === undefined || text === '0' ? null : BigInt(text);
}
