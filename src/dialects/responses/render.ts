import type { Item } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact } from '../../kit/json/members.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import { INCLUDE_LOGPROBS, INCLUDE_SEALS } from '../shared/include-values.ts';
import { withoutForeignFiles } from '../shared/media/foreign-files.ts';
import { pairCalls } from '../shared/pairing/pair-calls.ts';
import { effortOf } from '../shared/reasoning/reasoning-effort.ts';
import { withUnknownFields } from '../shared/report/passed-on-fields.ts';
import { Report } from '../shared/report/report.ts';
import { renderSchemaFormat } from '../shared/requests/output-format.ts';
import { cappedLimit } from '../shared/requests/output-limit.ts';
import { knownVerbosity } from '../shared/requests/verbosity.ts';
import { customToolNames } from '../shared/tools/custom-tools.ts';
import { errorsInWords } from '../shared/tools/errors-in-words.ts';
import { facts } from './facts.ts';
import { renderConversation } from './render-content.ts';
import { NO_SUCH_PARAMETER, reportLosses, takes, withoutUnsupported } from './render-losses.ts';
import { renderReasoning } from './render-reasoning.ts';
import { renderToolChoice, renderTools } from './render-tools.ts';
import { SAMPLING } from './settings.ts';
import { GATEWAY_FIELDS } from './wire.ts';

export function renderRequest(given: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(given);
  const request = withoutUnsupported(given, target, report);
  const { sampling } = request;
  const { instructions, items } = splitInstructions(fittingItems(request, target, report));
  reportLosses(request, target, report);
  const tools = renderTools(request, target, report);
  const { tool_choice: ownChoice, ...own } = request.ext.responses ?? {};
  const body: JsonObject = compact({
    model: target.model,
    instructions,
    input: renderConversation(items, report, target.quirks),
    stream: request.stream ? true : undefined,
    store: false,
    max_output_tokens: cappedLimit(request, target, report),
    max_tool_calls: request.wishes.maxToolCalls,
    ...SAMPLING.render(sampling),
    top_k: renderTopK(request, target, report),
    min_p: takes('minP', target) ? sampling.minP : undefined,
    seed: takes('seed', target) ? sampling.seed : undefined,
    logprobs: hasLogprobsField(target) ? sampling.logprobs : undefined,
    reasoning: renderReasoning(request, target, report),
    text: renderText(request, report),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: renderToolChoice(request, target, report) ?? (tools.length > 0 ? ownChoice : undefined),
    parallel_tool_calls: request.parallelToolCalls,
    include: renderInclude(request, target),
    modalities: renderModalities(request, report),
    image_config: request.imageConfig,
    prompt_cache_key: request.promptCacheKey,
    prompt_cache_options: request.promptCacheOptions,
    service_tier: renderServiceTier(request, report),
    truncation: request.truncation,
    metadata: renderMetadata(request, report),
    ...hashedIds(request, target),
    ...own,
  });
  const isForGateway = (field: string) => GATEWAY_FIELDS.has(field);
  const whole = withUnknownFields(request, 'responses', body, isForGateway, report);
  return { body: whole, headers: NO_HEADERS, report: report.entries };
}

// --- Conversation ---------------------------------------------------------------------------------------------------

function fittingItems(request: GenerationRequest, target: RenderTarget, report: Report): readonly Item[] {
  const paired = pairCalls(request.items, report, ownCalls(request, target));
  return withoutForeignFiles(errorsInWords(paired, report), facts.request.conversation.fileStore, report);
}

/** Calls that a provider shows of tools that it ran itself: they have no results. */
function ownCalls(
  { items, tools }: GenerationRequest,
  { quirks }: RenderTarget,
): ReadonlySet<Item> | undefined {
  if (quirks?.showsOwnCallsAsCustom !== true) return undefined;
  const declared = customToolNames(tools);
  const answered = new Set(items.flatMap((item) => (item.type === 'tool-result' ? [item.callId] : [])));
  const own = items.filter(
    (item) =>
      item.type === 'tool-call' &&
      item.kind === 'custom' &&
      !declared.has(item.name) &&
      !answered.has(item.callId),
  );
  return new Set(own);
}

/** A leading system prompt of plain text becomes `instructions`. */
function splitInstructions(items: readonly Item[]): { instructions?: string; items: readonly Item[] } {
  const [first] = items;
  const text = items.length > 1 && first !== undefined ? plainSystemText(first) : undefined;
  return text === undefined ? { items } : { instructions: text, items: items.slice(1) };
}

function plainSystemText(item: Item): string | undefined {
  if (item.type !== 'message' || item.role !== 'system' || item.content.length !== 1) return undefined;
  const [part] = item.content;
  const isPlain =
    [item.id, item.status, item.phase, item.ext?.responses].every((member) => member === undefined) &&
    part?.type === 'text' &&
    part.text !== '' &&
    part.ext?.responses === undefined;
  return isPlain ? part.text : undefined;
}

// --- Sampling -------------------------------------------------------------------------------------------------------

/** An extension of this dialect: sent only to endpoints that are known to take it. */
function renderTopK(request: GenerationRequest, target: RenderTarget, report: Report): number | undefined {
  const { topK } = request.sampling;
  if (topK === undefined || takes('topK', target)) return topK;
  report.dropped(report.name('topK'), NO_SUCH_PARAMETER);
  return undefined;
}

// --- Output format --------------------------------------------------------------------------------------------------

function renderText(request: GenerationRequest, report: Report): JsonObject | undefined {
  const { outputFormat } = request;
  const verbosity = knownVerbosity(request, report);
  let format: JsonObject | undefined;
  switch (outputFormat?.type) {
    case 'text':
      format = { type: 'text' };
      break;
    case 'json':
      format = { type: 'json_object' };
      break;
    case 'json-schema':
      format = { type: 'json_schema', ...renderSchemaFormat(outputFormat) };
      break;
    case 'opaque':
      if (outputFormat.dialect === 'responses') format = outputFormat.value;
      else report.dropped(report.name('outputFormat'), 'the upstream has no such output format');
      break;
  }
  if (format === undefined && verbosity === undefined) return undefined;
  return compact({ format, verbosity });
}

// --- Modalities -----------------------------------------------------------------------------------------------------

const MODALITIES: ReadonlySet<string> = new Set(['text', 'image']);

/** Text is the default; models that only write text refuse the field. */
export function renderModalities(request: GenerationRequest, report: Report): string[] | undefined {
  const asked = request.modalities ?? [];
  const kept = request.format === 'responses' ? [...asked] : asked.filter((word) => MODALITIES.has(word));
  if (kept.length < asked.length) {
    const lost = asked.filter((word) => !MODALITIES.has(word)).join(', ');
    report.coerced(report.name('modalities'), `sent without ${lost}, which the upstream does not make`);
  }
  return kept.some((word) => word !== 'text') ? kept : undefined;
}

// --- Service tier ---------------------------------------------------------------------------------------------------

/** Service tiers of upstreams of this dialect, by the requested word. */
const SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'default',
  flex: 'flex',
  priority: 'priority',
  scale: 'scale',
  fast: 'priority',
  ultrafast: 'ultrafast',
};

export function renderServiceTier(request: GenerationRequest, report: Report): string | undefined {
  const { serviceTier, speed } = request;
  if (serviceTier === undefined) {
    if (speed === 'fast') report.coerced(report.name('speed'), 'sent as service tier priority');
    return speed === 'fast' ? 'priority' : undefined;
  }
  const tier = lookUp(SERVICE_TIERS, serviceTier);
  if (tier === undefined) report.dropped(report.name('serviceTier'), 'the upstream has no such tier');
  if (speed !== undefined && (speed === 'fast') !== (tier === 'priority')) {
    report.dropped(report.name('speed'), 'the upstream has only service tiers, and one was asked for');
  }
  return tier;
}

// --- Metadata and end users -----------------------------------------------------------------------------------------

function renderMetadata(request: GenerationRequest, report: Report): JsonObject | undefined {
  if (request.metadata === undefined) return undefined;
  const entries = Object.entries(request.metadata);
  if (entries.every(([, value]) => typeof value === 'string')) return request.metadata;
  report.dropped(report.name('metadata'), 'the upstream takes only strings as values');
  return undefined;
}

export function hashedIds(request: GenerationRequest, target: RenderTarget): JsonObject {
  const { user, safetyIdentifier } = request;
  return {
    user: user === undefined ? undefined : target.hashUser(user),
    safety_identifier: safetyIdentifier === undefined ? undefined : target.hashUser(safetyIdentifier),
  };
}

// --- Includes -------------------------------------------------------------------------------------------------------

/** The caller's own list, with log probabilities if requested, and seals for callers that need them without asking. */
function renderInclude(request: GenerationRequest, target: RenderTarget): string[] | undefined {
  const include = new Set(request.include);
  if (hasLogprobsField(target)) include.delete(INCLUDE_LOGPROBS);
  else if (request.sampling.logprobs === true) include.add(INCLUDE_LOGPROBS);
  if (needsSeals(request, target)) include.add(INCLUDE_SEALS);
  return include.size > 0 ? [...include] : undefined;
}

/** True if log probabilities are requested by a field of their own. */
export function hasLogprobsField({ quirks }: RenderTarget): boolean {
  return quirks?.takesLogprobsField === true;
}

/**
 * True if the gateway requests seals for the caller. Other formats cannot request them. A caller of this format without
 * `store: false` does not either, because it may refer to the items of this answer later; but the upstream stores
 * nothing and takes thoughts back only sealed. Models that do not think refuse the request.
 */
export function needsSeals({ format, body, reasoning }: GenerationRequest, target: RenderTarget): boolean {
  const isAskedToThink = reasoning !== undefined && effortOf(reasoning) !== 'none';
  if (format !== 'responses') return isAskedToThink;
  return body.store !== false && (isAskedToThink || (reasoning === undefined && isKnownToThink(target)));
}

function isKnownToThink({ alwaysThinks, supportedEfforts, supportedParameters }: RenderTarget): boolean {
  const hasFacts = alwaysThinks !== undefined || supportedEfforts !== undefined;
  return hasFacts || supportedParameters?.has('reasoning') === true;
}
