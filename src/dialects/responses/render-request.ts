import type { Format, Item } from '../../ir/items.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json.ts';
import { compact, objectAt } from '../../kit/members.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { effortNearest, effortOf } from '../reasoning-effort.ts';
import { relayBody } from '../relay.ts';
import { Report } from '../report.ts';

import { relayInput, relayTools } from './relay-input.ts';
import { renderItem } from './render-items.ts';
import { dropUnsupported } from './supported.ts';
import { ADDITIONAL_TOOL_MARK, GATEWAY_FIELDS, INCLUDE_LOGPROBS, INCLUDE_SEALS } from './wire.ts';

/** The request in the words of an upstream of this dialect. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const { sampling } = request;
  const { instructions, items } = splitInstructions(request.items);
  reportAbsentFields(request, report);
  const body: JsonObject = compact({
    model: target.model,
    instructions,
    input: renderInput(items, placeOfFirst(request, items), report),
    stream: request.stream ? true : undefined,
    store: false,
    max_output_tokens: request.maxOutputTokens,
    max_tool_calls: request.wishes.maxToolCalls,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: renderTopK(request, target, report),
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    top_logprobs: sampling.topLogprobs,
    reasoning: renderReasoningSettings(request, target, report),
    text: renderText(request, report),
    tools: renderTools(request, report),
    tool_choice: renderToolChoice(request.toolChoice, report),
    parallel_tool_calls: request.parallelToolCalls,
    include: renderInclude(request),
    modalities: renderModalities(request),
    image_config: request.imageConfig,
    prompt_cache_key: request.promptCacheKey,
    prompt_cache_options: request.promptCacheOptions,
    service_tier: renderServiceTier(request, report),
    truncation: request.truncation,
    metadata: renderMetadata(request, report),
    ...hashedIds(request, target),
    ...request.ext.responses,
  });
  dropUnsupported(body, target.supportedParameters, report);
  return { body, headers: {}, report: report.entries };
}

/** The caller's own body, with only what must change changed. */
export function renderRelay(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  if (request.cache !== undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  for (const name of request.unknownFields) {
    if (GATEWAY_FIELDS.has(name)) report.dropped(name, 'is not available here');
  }
  const body = relayBody(request, GATEWAY_FIELDS, {
    model: target.model,
    store: false,
    cache_control: undefined,
    input: relayInput(request.body.input, report),
    tools: relayTools(request.body.tools, report),
    reasoning: relayReasoning(request, target, report),
    modalities: renderModalities(request),
    service_tier: renderServiceTier(request, report),
    ...hashedIds(request, target),
  });
  dropUnsupported(body, target.supportedParameters, report);
  return { body, headers: {}, report: report.entries };
}

const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';

/** A leading system prompt of plain text is what this dialect calls instructions. */
function splitInstructions(items: readonly Item[]): { instructions?: string; items: readonly Item[] } {
  const [first, ...rest] = items;
  const text = rest.length > 0 && first !== undefined ? plainSystemText(first) : undefined;
  return text === undefined ? { items } : { instructions: text, items: rest };
}

function plainSystemText(item: Item): string | undefined {
  if (item.type !== 'message' || item.role !== 'system' || item.content.length !== 1) return undefined;
  const [part] = item.content;
  const isPlain =
    [item.id, item.status, item.phase, item.ext?.responses].every((member) => member === undefined) &&
    part?.type === 'text' &&
    part.text !== '' &&
    part.cache === undefined &&
    part.ext?.responses === undefined;
  return isPlain ? part.text : undefined;
}

/** Place of the first of `items` in the list that the caller sent: `instructions` was never in it. */
function placeOfFirst(request: GenerationRequest, items: readonly Item[]): number {
  const besideTheList = request.format === 'responses' && request.body.instructions ? 1 : 0;
  return request.items.length - items.length - besideTheList;
}

function renderInput(items: readonly Item[], first: number, report: Report): JsonObject[] {
  return items.flatMap((item, index) => {
    const rendered = renderItem(item, report.name('items', `[${first + index}]`), report);
    return rendered === undefined ? [] : [rendered];
  });
}

/** Fields that this dialect has no word for. */
function reportAbsentFields(request: GenerationRequest, report: Report): void {
  const { sampling } = request;
  for (const field of ['topA', 'minP', 'repetitionPenalty', 'seed', 'stop', 'logitBias'] as const) {
    if (sampling[field] !== undefined)
      report.dropped(report.name(field), 'the upstream has no such parameter');
  }
  if (request.cache !== undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  for (const name of request.unknownFields) report.dropped(name, 'is not a known field');
  for (const [dialect, fields] of Object.entries(request.ext)) {
    if (dialect === 'responses') continue;
    for (const name of Object.keys(fields ?? {})) report.dropped(name, 'the upstream has no such parameter');
  }
}

/** An extension of this dialect: sent only to endpoints that are known to take it. */
function renderTopK(request: GenerationRequest, target: RenderTarget, report: Report): number | undefined {
  const { topK } = request.sampling;
  if (topK === undefined || target.supportedParameters?.has('top_k')) return topK;
  report.dropped(report.name('topK'), 'the upstream has no such parameter');
  return undefined;
}

/** The upstream's output limit when nobody says one; only the nearest effort depends on it. */
const ASSUMED_OUTPUT_TOKENS = 32_000;

function renderReasoningSettings(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject | undefined {
  const settings = request.reasoning;
  if (settings === undefined) return undefined;
  let effort = effortOf(settings);
  if (effort === undefined && settings.budgetTokens !== undefined) {
    const limit = request.maxOutputTokens ?? target.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS;
    effort = effortNearest(settings.budgetTokens, limit);
    report.coerced(
      report.name('reasoning'),
      `a budget of ${settings.budgetTokens} tokens sent as effort ${effort}`,
    );
  }
  const rendered = compact({
    effort,
    summary: settings.summary ?? impliedSummary(request),
    context: settings.context,
    mode: settings.mode,
  });
  return Object.keys(rendered).length > 0 ? rendered : undefined;
}

/** The messages format shows thoughts unless told otherwise; this dialect only shows them as a summary, on request. */
function impliedSummary(request: GenerationRequest): string | undefined {
  const { reasoning } = request;
  const shows =
    reasoning?.display !== 'omitted' && reasoning?.exclude !== true && effortOf(reasoning) !== 'none';
  return request.format === 'messages' && shows ? 'auto' : undefined;
}

/** Members of `reasoning` that only the gateway knows. */
const GATEWAY_REASONING_FIELDS = ['max_tokens', 'enabled', 'exclude'];

function relayReasoning(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject | undefined {
  const given = objectAt(request.body, 'reasoning');
  if (given === undefined || !GATEWAY_REASONING_FIELDS.some((name) => Object.hasOwn(given, name)))
    return given;
  return renderReasoningSettings(request, target, report);
}

function renderText(request: GenerationRequest, report: Report): JsonObject | undefined {
  const { outputFormat, verbosity } = request;
  let format: JsonObject | undefined;
  switch (outputFormat?.type) {
    case 'text':
      format = { type: 'text' };
      break;
    case 'json':
      format = { type: 'json_object' };
      break;
    case 'json-schema': {
      const { name, schema, description, strict } = outputFormat;
      format = compact({ type: 'json_schema', name, schema, description, strict });
      break;
    }
    case 'opaque':
      if (outputFormat.dialect === 'responses') format = outputFormat.value;
      else report.dropped(report.name('outputFormat'), 'the upstream has no such output format');
      break;
  }
  if (format === undefined && verbosity === undefined) return undefined;
  return compact({ format, verbosity });
}

/** Tools as this dialect has them; neighbours of one group go out as that group. */
function renderTools(request: GenerationRequest, report: Report): JsonObject[] | undefined {
  const rendered: JsonObject[] = [];
  let group: { name: string; tools: JsonObject[] } | undefined;
  for (const [index, tool] of request.tools.entries()) {
    if (tool.type === 'hosted') {
      group = undefined;
      if (tool.dialect === 'responses') rendered.push(tool.value);
      else report.dropped(report.name('tools', `[${index}]`), `the upstream does not run ${tool.kind}`);
      continue;
    }
    if (tool.ext?.responses?.[ADDITIONAL_TOOL_MARK] === true) continue;
    const { namespace } = tool;
    if (namespace === undefined) {
      group = undefined;
      rendered.push(renderTool(tool, index, request.format, report));
      continue;
    }
    if (group?.name !== namespace.name) {
      group = { name: namespace.name, tools: [] };
      const description = namespace.description ?? '';
      rendered.push({ type: 'namespace', name: namespace.name, description, tools: group.tools });
    }
    group.tools.push(renderTool(tool, index, request.format, report));
  }
  return rendered.length > 0 ? rendered : undefined;
}

function renderTool(
  tool: Exclude<Tool, { type: 'hosted' }>,
  index: number,
  format: Format,
  report: Report,
): JsonObject {
  const { type, name, description } = tool;
  const ext = tool.ext?.responses;
  if (type === 'custom') return compact({ type, name, description, format: tool.format, ...ext });
  if (tool.cache !== undefined) {
    report.dropped(report.name('tools', `[${index}].cache_control`), NO_CACHE_MARKS);
  }
  return compact({
    type,
    name,
    description,
    parameters: tool.parameters ?? { type: 'object', properties: {} },
    // This dialect takes an absent `strict` for true, the other formats for false.
    strict: tool.strict ?? (format === 'responses' ? undefined : false),
    ...ext,
  });
}

function renderToolChoice(choice: ToolChoice | undefined, report: Report): JsonObject | string | undefined {
  if (choice === undefined) return undefined;
  switch (choice.mode) {
    case 'tool':
      return { type: choice.kind, name: choice.name };
    case 'allowed':
      return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools: [...choice.tools] };
    case 'hosted':
      if (choice.dialect === 'responses') return choice.value;
      report.dropped(report.name('toolChoice'), 'the upstream does not run this tool');
      return undefined;
    default:
      return choice.mode;
  }
}

/** What to include: the caller's own list, what log probabilities need, and seals for formats that cannot ask. */
function renderInclude(request: GenerationRequest): string[] | undefined {
  const include = new Set(request.include);
  if (request.sampling.logprobs === true) include.add(INCLUDE_LOGPROBS);
  const reasons = request.reasoning !== undefined && effortOf(request.reasoning) !== 'none';
  if (reasons && request.format !== 'responses') include.add(INCLUDE_SEALS);
  return include.size > 0 ? [...include] : undefined;
}

/** Text is what every upstream answers in; those that only write text refuse the field itself. */
function renderModalities(request: GenerationRequest): string[] | undefined {
  return request.modalities?.some((word) => word !== 'text') ? [...request.modalities] : undefined;
}

/** Tiers that upstreams of this dialect know, by the word they are asked for with. */
const SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'default',
  flex: 'flex',
  priority: 'priority',
  scale: 'scale',
  fast: 'priority',
};

function renderServiceTier(request: GenerationRequest, report: Report): string | undefined {
  const { serviceTier, speed } = request;
  if (serviceTier === undefined) {
    if (speed === 'fast') report.coerced(report.name('speed'), 'sent as service tier priority');
    return speed === 'fast' ? 'priority' : undefined;
  }
  const tier = Object.hasOwn(SERVICE_TIERS, serviceTier) ? SERVICE_TIERS[serviceTier] : undefined;
  if (tier === undefined) report.dropped(report.name('serviceTier'), 'the upstream has no such tier');
  return tier;
}

function renderMetadata(request: GenerationRequest, report: Report): JsonObject | undefined {
  if (request.metadata === undefined) return undefined;
  const entries = Object.entries(request.metadata);
  if (entries.every(([, value]) => typeof value === 'string')) return request.metadata;
  report.dropped(report.name('metadata'), 'the upstream takes only strings as values');
  return undefined;
}

function hashedIds(request: GenerationRequest, target: RenderTarget): JsonObject {
  const { user, safetyIdentifier } = request;
  return {
    user: user === undefined ? undefined : target.hashUser(user),
    safety_identifier: safetyIdentifier === undefined ? undefined : target.hashUser(safetyIdentifier),
  };
}
