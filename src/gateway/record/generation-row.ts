import type { Pricing } from '../../catalog/catalog.ts';
import { pricesOf } from '../../catalog/prices/answer-price.ts';
import { searchNanos } from '../../catalog/prices/bill.ts';
import { cacheDiscount } from '../../catalog/prices/cache-discount.ts';
import { tierOf } from '../../catalog/service-tier.ts';
import { FINISH_WORDS } from '../../dialects/shared/answers/finish-words.ts';
import { presetSlugOf } from '../../dialects/shared/presets/preset.ts';
import type { ToolCallRecord } from '../../ir/leg.ts';
import type { Strategy } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { hasOutput, type Result } from '../../ir/result.ts';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import { notedFetches, notedSearch } from '../../ir/web-notes.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { originOf } from '../../kit/net/origin-of.ts';
import { writtenMoment } from '../../kit/time/written-moment.ts';
import type { GenerationRow, LegRow, ProviderResponse, ToolCallRow } from '../../ports/generation-row.ts';
import { parseModelId } from '../../routing/resolve/model-id.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { mustKeepNothing } from '../../routing/rules/zero-retention.ts';
import { MODERATION } from '../../stages/plugins/moderation/moderation-stage.ts';
import { chargeRows } from '../admission/reservation.ts';
import type { UsedSoFar } from '../leg/leg-account.ts';
import { modelsOf } from '../plan/plan.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { LegSoFar } from './account.ts';
import { type AttemptLog, keptRouting, type RequestMembers, routingMetadata } from './attempt-log.ts';
import { citationsOf, mediaOfPrompt, mediaOfResult } from './count-media.ts';
import { LEG_STATUSES, type Settlement } from './settle.ts';

/** A generation with its plan. */
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
  readonly firstContentMs?: number;
  readonly endMs: number;
}

/** Members of an open generation's row that a checkpoint updates. */
export type RowProgress = Partial<GenerationRow>;

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

/** Members that a checkpoint lays over the row, in case the process ends. `legs`: all that have begun. */
export function progressRow(
  { request, attemptLog, region }: PlannedGeneration,
  used: UsedSoFar,
  legs: readonly LegSoFar[],
): RowProgress {
  const { selected } = attemptLog;
  const { usage } = used;
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
  };
}

/** The row of an ended generation. */
export function settledRow(
  generation: PlannedGeneration,
  settlement: Settlement,
  times: GenerationTimes,
): GenerationRow {
  const { input, request, attemptLog, region } = generation;
  const { outcome, result, usage, bill } = settlement;
  const isFree = bill.inputNanos + bill.outputNanos === 0n;
  const priced = isFree ? [] : pricedLegs(attemptLog, input, result, usage);
  const { latency, generationTime } = durations(attemptLog, result, times);
  const served = outcome === 'failed' ? undefined : attemptLog.selected;
  const searched = notedSearch(attemptLog.notes);
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
    cacheDiscountNanos: String(sumOf(priced, (leg) => cacheDiscount(leg.usage, leg.pricing))),
    webSearchNanos: String(
      sumOf(priced, ({ usage: used, pricing }) => searchNanos(used.webSearchRequests, pricing)) +
        sumOf(attemptLog.charges, ({ kind, nanos }) => (kind === 'web_search' ? nanos : 0n)),
    ),
    providerResponses: providerResponses(attemptLog, served, result.upstreamId),
    servedFrom: settlement.servedFrom ?? null,
    moderationMs: moderationMs(attemptLog),
  };
  const row = rowOf(attemptLog.requestMembers, serving, came, {
    streamed: request.stream,
    routing: keptRouting(routingMetadata(attemptLog, region, served === undefined ? 'failed' : 'served')),
  });
  const status = LEG_STATUSES[outcome];
  if (isPlain(attemptLog) && (attemptLog.firstLeg.end?.status ?? status) === status) return row;
  const ended = attemptLog.legs.flatMap((leg) => (leg.end === undefined ? [] : [{ leg, ...leg.end }]));
  return Object.assign(row, legsAndCharges(attemptLog, ended));
}

/** Milliseconds that the moderation service took; null = it was not called. */
function moderationMs({ notes }: AttemptLog): number | null {
  if (notes.length === 0) return null;
  const latency = notes.find(({ name }) => name === MODERATION)?.data?.latency_ms;
  return typeof latency === 'number' ? latency : null;
}

/** True if the row itself describes everything: one leg and no charges. */
function isPlain({ legs, firstLeg, lastCalled, charges, toolCalls }: AttemptLog): boolean {
  const isOnly = legs.length === 1 && legs[0] === firstLeg && lastCalled !== undefined;
  return isOnly && charges.length + toolCalls.length === 0;
}

/** Members of a row that list what it does not describe itself. */
type ListedMembers = Pick<GenerationRow, 'legs' | 'charges' | 'tool_calls'>;

/** Legs listed in a record; the rest is only counted. */
const MAX_RECORDED_LEGS = 100;

/** Legs and charges, unless the row itself describes them. */
function listed(attemptLog: AttemptLog, legs: readonly LegSoFar[]): ListedMembers {
  return isPlain(attemptLog) ? {} : legsAndCharges(attemptLog, legs);
}

function legsAndCharges({ charges, toolCalls }: AttemptLog, legs: readonly LegSoFar[]): ListedMembers {
  return {
    legs: legs.slice(0, MAX_RECORDED_LEGS).map(legRow),
    ...(charges.length > 0 && { charges: chargeRows(charges) }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.slice(0, MAX_RECORDED_TOOL_CALLS).map(toolCallRow) }),
  };
}

/** Tool calls listed in a record; the rest is only counted. */
const MAX_RECORDED_TOOL_CALLS = 200;

function toolCallRow(call: ToolCallRecord): ToolCallRow {
  return {
    name: short(call.name),
    leg: call.leg,
    started_at: new Date(call.startedAtMs).toISOString(),
    duration_ms: Math.round(call.durationMs),
    outcome: call.end,
    cost_nanos: String(call.nanos),
    input_characters: call.inputCharacters,
    output_characters: call.outputCharacters,
    ...(call.error !== undefined && { error: short(call.error) }),
  };
}

function legRow({ leg, usage, bill, status }: LegSoFar): LegRow {
  const called = leg.selected ?? leg.lastCalled;
  return {
    kind: leg.kind,
    model: short(called?.model.id ?? leg.plan.requested),
    provider_name: called?.endpoint.provider.name ?? null,
    tokens_prompt: usage.inputTokens,
    tokens_completion: usage.outputTokens,
    cost_nanos: String(bill.totalNanos),
    status,
  };
}

/** Usage of a leg, and the prices of its bill. */
interface PricedLeg {
  readonly usage: Usage;
  readonly pricing: Pricing;
}

function pricedLegs(
  { legs, selected }: AttemptLog,
  input: GenerationInput,
  { finish }: Result,
  usage: Usage,
): PricedLeg[] {
  if (legs.length === 1) {
    return [{ usage, pricing: pricingOf(selected, input.acceptedAtMs, finish?.serviceTier, usage) }];
  }
  return legs.flatMap(({ end, selected: served }) =>
    end === undefined || end.bill.inputNanos + end.bill.outputNanos === 0n
      ? []
      : [{ usage: end.usage, pricing: pricingOf(served, end.pricedAtMs, end.serviceTier, end.usage) }],
  );
}

function sumOf<T>(list: readonly T[], of: (each: T) => bigint): bigint {
  return list.reduce((sum, each) => sum + of(each), 0n);
}

/** Outcome of a generation. */
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
};

/** All members in one literal: a row is made for every request, and every spread costs time. */
function rowOf(
  said: RequestMembers,
  serving: ServingMembers,
  outcome: Outcome,
  { streamed, routing }: Pick<GenerationRow, 'streamed' | 'routing'>,
): GenerationRow {
  const { usage } = outcome;
  return {
    api_type: said.api ?? 'completions',
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
    routing,
  };
}

function requestMembers(
  input: GenerationInput,
  request: GenerationRequest,
  { plan }: AttemptLog,
): RequestMembers {
  const { attribution, caller } = input;
  const referer = attribution?.referer ?? null;
  const media = mediaOfPrompt(request);
  return {
    created_at: writtenMoment(input.acceptedAtMs),
    app_title: attribution?.title ?? null,
    app_categories: attribution?.categories === undefined ? [] : [...attribution.categories],
    origin: originOf(referer),
    http_referer: referer,
    user_agent: attribution?.userAgent ?? null,
    external_user: shortOrNull(request.user),
    creator_user_id: shortOrNull(caller.key.creatorUserId),
    session_id: shortOrNull(request.wishes.sessionId ?? input.sessionId),
    request_id: attribution?.requestId ?? input.generationId,
    preset_id: shortOrNull(presetSlugOf(input.body)),
    trace: request.wishes.trace ?? null,
    router: ROUTERS.has(plan.strategy) ? shortOrNull(request.models[0]) : null,
    num_media_prompt: media.all,
    num_input_audio_prompt: media.audio,
    is_zdr: mustKeepNothing(request, caller, () => modelsOf(plan)),
    ...(request.embedding !== undefined && { api: 'embeddings' as const }),
  };
}

/** Members of a row that name the serving endpoint. */
type ServingMembers = Pick<
  GenerationRow,
  'model' | 'model_permaslug' | 'variant' | 'provider_name' | 'is_byok'
>;

function unservedMembers(request: GenerationRequest, { plan }: AttemptLog): ServingMembers {
  const model = short(plan.requested);
  return {
    model,
    model_permaslug: model,
    variant: variantOf(request, undefined),
    provider_name: null,
    is_byok: false,
  };
}

function servingMembers(request: GenerationRequest, { model, endpoint, access }: Candidate): ServingMembers {
  return {
    model: short(model.id),
    model_permaslug: short(model.canonicalSlug ?? model.id),
    variant: variantOf(request, model.id),
    provider_name: endpoint.provider.name,
    is_byok: access.kind === 'byok',
  };
}

/** List price of the usage. */
function listPriceOf({ bill }: UsedSoFar): string {
  return String(bill.inputNanos + bill.outputNanos);
}

/** Strategies with which a router chooses the model. */
const ROUTERS: ReadonlySet<Strategy> = new Set<Strategy>(['auto', 'free', 'pareto', 'bodybuilder', 'fusion']);

/** The routing suffix of the requested model, else the suffix of the model itself. */
function variantOf({ models }: GenerationRequest, modelId: string | undefined): string {
  const { variants, base } = parseModelId(models[0] ?? '');
  return short(variants[0] ?? suffixOf(modelId ?? base) ?? 'standard');
}

/** The first suffix of a model id. */
function suffixOf(id: string): string | undefined {
  return id.includes(':') ? id.split(':')[1] : undefined;
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
  return { latency: whole(contentMs), generationTime: whole(endMs - contentMs + last.latencyMs) };
}

function tierServed(selected: Candidate | undefined, { finish }: Result): string | null {
  if (selected === undefined) return null;
  return short(finish?.serviceTier ?? tierOf(selected.endpoint) ?? 'default');
}

function providerResponses(
  { calls }: AttemptLog,
  served: Candidate | undefined,
  upstreamId: string | undefined,
): ProviderResponse[] | null {
  if (calls.length === 0) return null;
  return calls.map(({ candidate, status, latencyMs }, index) => {
    const tier = tierOf(candidate.endpoint);
    const isServing = candidate === served && index === calls.length - 1;
    return {
      provider_name: candidate.endpoint.provider.name,
      endpoint_id: candidate.endpoint.tag,
      ...(isServing && upstreamId !== undefined && { id: short(upstreamId) }),
      model_permaslug: short(candidate.model.canonicalSlug ?? candidate.model.id),
      status,
      latency: whole(latencyMs),
      is_byok: candidate.access.kind === 'byok',
      ...(tier !== undefined && { routed_service_tier: tier }),
    };
  });
}

function pricingOf(
  selected: Candidate | undefined,
  atMs: number,
  servedTier: string | undefined,
  usage: Usage,
): Pricing {
  if (selected === undefined) return {};
  const { endpoint, model } = selected;
  return pricesOf({ endpoint, model, atMs, usage, servedTier });
}

/** Characters that a row keeps of a text whose length the caller or the upstream chose. */
const MAX_TEXT_CHARACTERS = 256;

function short(text: string): string {
  return boundedText(text, MAX_TEXT_CHARACTERS);
}

function shortOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : short(text);
}

function whole(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds));
}
