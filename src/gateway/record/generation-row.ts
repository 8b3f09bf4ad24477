import { tierOf } from '../../catalog/service-tier.ts';
import { FINISH_WORDS } from '../../dialects/shared/answers/finish-words.ts';
import type { ToolCallRecord, ToolSearch } from '../../ir/leg.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { hasOutput, type Result } from '../../ir/result.ts';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import { notedFetches, notedSearch } from '../../ir/web-notes.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';
import type { GenerationRow, ProviderResponse } from '../../ports/generations/generation-row.ts';
import { type WriteOffRow, writeOffRows } from '../../ports/money/write-offs.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { MODERATION } from '../../stages/plugins/moderation/moderation-stage.ts';
import type { LegAccount } from '../leg/leg-account.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { LegSoFar } from './account.ts';
import { type AttemptLog, keptRouting, type RequestMembers, routingMetadata } from './attempt-log.ts';
import { citationsOf, mediaOfResult } from './count-media.ts';
import { isPlain, legsAndCharges, listed, providerResponses } from './row-lists.ts';
import { listPriceOf, savingsAndSearches, toolUse } from './row-prices.ts';
import {
  requestMembers,
  type ServingMembers,
  servingMembers,
  traceHeaders,
  unservedMembers,
} from './row-request.ts';
import { short, shortOrNull, wholeMs } from './row-values.ts';
import { LEG_STATUSES, type Settlement } from './settle.ts';

export interface PlannedGeneration {
  readonly input: GenerationInput;
  readonly request: GenerationRequest;
  readonly attemptLog: AttemptLog;
  /** Region of the gateway, for routing metadata. */
  readonly region: string | null;
}

/** Times in milliseconds since the arrival of the request. */
export interface GenerationTimes {
  /** Undefined if there was no content before the end. */
  readonly firstContentMs?: number | undefined;
  readonly endMs: number;
}

/** Members of an open generation's row that a checkpoint updates. */
export type RowProgress = Partial<GenerationRow> & {
  /** What calls that have ended may cost beyond their charges. */
  readonly write_offs?: WriteOffRow[];
};

/** Members of an accepted generation's row that differ from the defaults of `completeRow`. */
export type AcceptedRow = RequestMembers &
  Pick<GenerationRow, 'model' | 'model_permaslug' | 'variant' | 'streamed' | 'routing'>;

/** The compact row of an accepted generation. It is written for every request and hardly ever read. */
export function acceptedRow({ input, request, attemptLog, region }: PlannedGeneration): AcceptedRow {
  const { model, model_permaslug, variant } = unservedMembers(request, attemptLog);
  attemptLog.requestMembers ??= requestMembers(input, request, attemptLog);
  const said = attemptLog.requestMembers;
  return {
    model,
    model_permaslug,
    variant,
    created_at: said.created_at,
    app_title: said.app_title,
    app_categories: said.app_categories,
    origin: said.origin,
    http_referer: said.http_referer,
    user_agent: said.user_agent,
    external_user: said.external_user,
    creator_user_id: said.creator_user_id,
    session_id: said.session_id,
    request_id: said.request_id,
    preset_id: said.preset_id,
    trace: said.trace,
    router: said.router,
    streamed: request.stream,
    num_media_prompt: said.num_media_prompt,
    num_input_audio_prompt: said.num_input_audio_prompt,
    is_zdr: said.is_zdr,
    routing: keptRouting(routingMetadata(attemptLog, region, 'failed')),
    ...(said.api !== undefined && { api: said.api }),
    ...(said.format !== undefined && { format: said.format }),
    ...(said.traceparent !== undefined && traceHeaders(said)),
  };
}

/**
 * The row of a generation that was accepted and has no other record: if the process ends before any, this is its final
 * row. Earlier releases stored it complete.
 */
export function completeRow(kept: JsonObject): JsonObject {
  if (kept.api_type !== undefined) return kept;
  const accepted = kept as AcceptedRow;
  const serving = {
    model: accepted.model,
    model_permaslug: accepted.model_permaslug,
    variant: accepted.variant,
    provider_name: null,
    is_byok: false,
  };
  return rowOf(accepted, serving, NOTHING_YET, accepted);
}

/** The row of a request that was refused before anything was planned. */
export function rowOfNothing(
  said: RequestMembers,
  { model, streamed }: Pick<GenerationRow, 'model' | 'streamed'>,
): GenerationRow {
  const serving = { model, model_permaslug: model, variant: 'standard', provider_name: null, is_byok: false };
  return rowOf(said, serving, NOTHING_YET, { streamed, routing: null });
}

/** Members that a checkpoint lays over the row, in case the process ends. `legs`: all that have begun. */
export function progressRow(
  { request, attemptLog, region }: PlannedGeneration,
  used: LegAccount,
  legs: readonly LegSoFar[],
): RowProgress {
  const { selected } = attemptLog;
  const { usage, uncharged } = used;
  return {
    ...(selected && servingMembers(request, selected)),
    tokens_prompt: usage.inputTokens,
    tokens_completion: usage.outputTokens,
    native_tokens_prompt: usage.inputTokens,
    native_tokens_completion: usage.outputTokens,
    native_tokens_reasoning: usage.reasoningTokens,
    native_tokens_cached: usage.cachedTokens,
    native_tokens_completion_images: usage.imageTokens,
    usage_source: usage.source,
    upstream_inference_nanos: listPriceOf(used),
    provider_responses: providerResponses(attemptLog, selected, undefined),
    routing: keptRouting(routingMetadata(attemptLog, region, 'served')),
    ...listed(attemptLog, legs),
    ...(uncharged !== undefined && { write_offs: writeOffRows(uncharged) }),
  };
}

/** The row of an ended generation. `reservedNanos`: what was held for it in the end; null = nothing was. */
export function settledRow(
  generation: PlannedGeneration,
  settlement: Settlement,
  times: GenerationTimes,
  reservedNanos: Nanos | null = null,
): GenerationRow {
  const { input, request, attemptLog, region } = generation;
  const { outcome, result, usage } = settlement;
  const priced = savingsAndSearches(attemptLog, input, settlement);
  const { latency, generationTime } = durations(attemptLog, result, times);
  const served = outcome === 'failed' ? undefined : attemptLog.selected;
  const searched = notedSearch(attemptLog.notes) ?? searchOfTools(attemptLog.toolCalls);
  const asked = attemptLog.selected ?? attemptLog.lastCalled;
  const serving = asked === undefined ? unservedMembers(request, attemptLog) : servingMembers(request, asked);
  attemptLog.requestMembers ??= requestMembers(input, request, attemptLog);
  const came: Outcome = {
    cancelled: outcome === 'aborted',
    finishReason: finishReasonOf(settlement),
    nativeFinishReason: shortOrNull(result.finish?.nativeReason),
    latency,
    generationTime,
    usage,
    listPriceNanos: listPriceOf(settlement),
    mediaOfResult: mediaOfResult(result),
    searchResults: searched?.results ?? (citationsOf(result) || null),
    searchEngine: searched?.engine ?? (usage.webSearchRequests > 0 ? 'native' : null),
    fetches: notedFetches(attemptLog.notes) ?? null,
    tier: tierServed(attemptLog.selected, result),
    upstreamId: result.upstreamId,
    cacheDiscountNanos: priced.cache_discount_nanos,
    webSearchNanos: priced.web_search_nanos,
    providerResponses: providerResponses(attemptLog, served, result.upstreamId),
    servedFrom: settlement.servedFrom ?? null,
    moderationMs: moderationMs(attemptLog),
    reservedNanos: reservedNanos === null ? null : String(reservedNanos),
  };
  const row = rowOf(attemptLog.requestMembers, serving, came, {
    streamed: request.stream,
    routing: keptRouting(routingMetadata(attemptLog, region, served === undefined ? 'failed' : 'served')),
  });
  Object.assign(row, toolUse(attemptLog, request, settlement));
  const { error } = settlement;
  if (outcome === 'failed' && error !== undefined) {
    row.error = { status: error.status, type: error.row.errorType };
  }
  const status = LEG_STATUSES[outcome];
  if (isPlain(attemptLog) && (attemptLog.firstLeg.end?.status ?? status) === status) return row;
  const ended = attemptLog.legs.flatMap((leg) => (leg.end === undefined ? [] : [{ leg, ...leg.end }]));
  return Object.assign(row, legsAndCharges(attemptLog, ended));
}

/** The engine that server tools searched with last, and all that they found; undefined = none did. */
function searchOfTools(calls: readonly ToolCallRecord[]): ToolSearch | undefined {
  return calls.reduce<ToolSearch | undefined>(
    (sum, { search }) =>
      search === undefined ? sum : { ...search, results: search.results + (sum?.results ?? 0) },
    undefined,
  );
}

interface Outcome {
  readonly cancelled: boolean;
  readonly finishReason: string | null;
  readonly nativeFinishReason: string | null;
  readonly latency: number | null;
  readonly generationTime: number | null;
  readonly usage: Usage;
  readonly listPriceNanos: string;
  readonly mediaOfResult: number;
  readonly searchResults: number | null;
  readonly searchEngine: string | null;
  readonly fetches: number | null;
  readonly tier: string | null;
  readonly upstreamId: string | undefined;
  readonly cacheDiscountNanos: string;
  readonly webSearchNanos: string;
  readonly providerResponses: ProviderResponse[] | null;
  readonly servedFrom: string | null;
  readonly moderationMs: number | null;
  readonly reservedNanos: string | null;
}

const NOTHING_YET: Outcome = {
  cancelled: false,
  finishReason: 'error',
  nativeFinishReason: null,
  latency: null,
  generationTime: null,
  usage: NO_USAGE,
  listPriceNanos: '0',
  mediaOfResult: 0,
  searchResults: null,
  searchEngine: null,
  fetches: null,
  tier: null,
  upstreamId: undefined,
  cacheDiscountNanos: '0',
  webSearchNanos: '0',
  providerResponses: null,
  servedFrom: null,
  moderationMs: null,
  reservedNanos: null,
};

/** All members in one literal: a row is made for every request, and every spread costs time. */
function rowOf(
  said: RequestMembers,
  serving: ServingMembers,
  outcome: Outcome,
  { streamed, routing }: Pick<GenerationRow, 'streamed' | 'routing'>,
): GenerationRow {
  const { usage } = outcome;
  const row: GenerationRow = {
    api_type: said.api ?? 'completions',
    format: said.format ?? null,
    model: serving.model,
    model_permaslug: serving.model_permaslug,
    variant: serving.variant,
    provider_name: serving.provider_name,
    created_at: said.created_at,
    app_id: null,
    app_title: said.app_title,
    app_categories: said.app_categories,
    origin: said.origin,
    http_referer: said.http_referer,
    user_agent: said.user_agent,
    external_user: said.external_user,
    creator_user_id: said.creator_user_id,
    session_id: said.session_id,
    request_id: said.request_id,
    preset_id: said.preset_id,
    // Absent in rows of earlier releases.
    trace: said.trace ?? null,
    router: said.router,
    streamed,
    cancelled: outcome.cancelled,
    finish_reason: outcome.finishReason,
    native_finish_reason: outcome.nativeFinishReason,
    latency: outcome.latency,
    generation_time: outcome.generationTime,
    moderation_latency: outcome.moderationMs,
    tokens_prompt: usage.inputTokens,
    tokens_completion: usage.outputTokens,
    native_tokens_prompt: usage.inputTokens,
    native_tokens_completion: usage.outputTokens,
    native_tokens_reasoning: usage.reasoningTokens,
    native_tokens_cached: usage.cachedTokens,
    native_tokens_completion_images: usage.imageTokens,
    usage_source: usage.source,
    upstream_inference_nanos: outcome.listPriceNanos,
    num_media_prompt: said.num_media_prompt,
    num_media_completion: outcome.mediaOfResult,
    num_input_audio_prompt: said.num_input_audio_prompt,
    num_search_results: outcome.searchResults,
    num_fetches: outcome.fetches,
    web_search_engine: outcome.searchEngine,
    is_byok: serving.is_byok,
    is_zdr: said.is_zdr,
    service_tier: outcome.tier,
    data_region: 'global',
    upstream_id: shortOrNull(outcome.upstreamId),
    response_cache_source_id: outcome.servedFrom,
    provider_responses: outcome.providerResponses,
    cache_discount_nanos: outcome.cacheDiscountNanos,
    web_search_nanos: outcome.webSearchNanos,
    reserved_nanos: outcome.reservedNanos,
    routing,
  };
  return said.traceparent === undefined ? row : Object.assign(row, traceHeaders(said));
}

function finishReasonOf({ outcome, result }: Settlement): string | null {
  if (outcome === 'failed') return 'error';
  if (outcome === 'aborted' || result.finish === undefined) return null;
  return FINISH_WORDS[result.finish.reason];
}

/** Content without a time of its own came with the end. */
function durations({ firstLeg }: AttemptLog, result: Result, { firstContentMs, endMs }: GenerationTimes) {
  const contentMs = firstContentMs ?? (hasOutput(result) ? endMs : undefined);
  const last = firstLeg.calls.at(-1);
  if (contentMs === undefined || last === undefined) return { latency: null, generationTime: null };
  return { latency: wholeMs(contentMs), generationTime: wholeMs(endMs - contentMs + last.latencyMs) };
}

/** Milliseconds that the moderation service took; null = it was not called. */
function moderationMs({ notes }: AttemptLog): number | null {
  if (notes.length === 0) return null;
  const latency = notes.find(({ name }) => name === MODERATION)?.data?.latency_ms;
  return typeof latency === 'number' ? latency : null;
}

function tierServed(selected: Candidate | undefined, { finish }: Result): string | null {
  if (selected === undefined) return null;
  return short(finish?.serviceTier ?? tierOf(selected.endpoint) ?? 'default');
}
