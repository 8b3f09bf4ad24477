import type { CacheMark } from '../../ir/items.ts';
import type { GenerationRequest, OutputFormat, RequestField, Tool, ToolChoice } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json.ts';
import { membersBeyond, numberAt, objectAt, textAt } from '../../kit/members.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { renderCacheMark } from '../gateway-fields.ts';
import { effortNearest, effortOf } from '../reasoning-effort.ts';
import { relayBody } from '../relay.ts';
import { Report } from '../report.ts';
import { flatToolName, freeTextParameters } from '../tool-names.ts';

import { parseServiceTier } from './parse-request.ts';
import { renderMessages, reportCacheMarks } from './render-messages.ts';
import { GATEWAY_FIELDS } from './wire.ts';

/** A request in the chat format's words. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const takesCacheMarks = target.supportedParameters?.has('cache_control') === true;
  const messages = renderMessages({ request, report, takesCacheMarks });
  if (request.cache !== undefined) markLastText(messages, request.cache, takesCacheMarks, report);
  reportUnsent(request, report);
  const body: JsonObject = {
    model: target.model,
    messages,
    ...renderSampling(request),
    ...renderLimit(request.maxOutputTokens, target, report),
    ...renderTools(request, report),
    ...renderReasoning(request, target, report),
    ...renderOutputFormat(request.outputFormat, target, report),
    ...renderSettings(request, target, report),
    ...request.ext.chat,
    stream: request.stream,
    ...(request.stream && { stream_options: { include_usage: true } }),
  };
  return { body: withoutUnsupported(body, target, report), headers: {}, report: report.entries };
}

/** The caller's own body, with only what must change changed. */
export function renderRelay(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const given = request.body;
  const effort = renderReasoning(request, target, report);
  const tier = parseServiceTier(given);
  const changes: JsonObject = {
    model: target.model,
    ...(request.user !== undefined && { user: target.hashUser(request.user) }),
    ...(request.safetyIdentifier !== undefined && {
      safety_identifier: target.hashUser(request.safetyIdentifier),
    }),
    ...(request.metadata !== undefined && { metadata: withHashedUserId(request.metadata, target) }),
    ...(objectAt(given, 'reasoning') !== undefined && { reasoning: undefined, ...effort }),
    ...(tier !== undefined && { service_tier: tier }),
    ...(request.stream && {
      stream_options: { ...objectAt(given, 'stream_options'), include_usage: true },
    }),
    ...cappedLimits(given, target, report),
    ...relayedCacheControl(request, target, report),
  };
  for (const field of request.unknownFields) {
    if (GATEWAY_FIELDS.has(field)) report.dropped(field, 'has no effect in this format');
  }
  const body = withoutUnsupported(relayBody(request, GATEWAY_FIELDS, changes), target, report);
  return { body, headers: {}, report: report.entries };
}

// --- Sampling and limits -----------------------------------------------------------------------------------------------

function renderSampling({ sampling }: GenerationRequest): JsonObject {
  const wantsAlternatives = (sampling.topLogprobs ?? 0) > 0;
  return compact({
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    top_a: sampling.topA,
    min_p: sampling.minP,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    stop: sampling.stop === undefined ? undefined : [...sampling.stop],
    logit_bias: sampling.logitBias,
    logprobs: sampling.logprobs ?? (wantsAlternatives ? true : undefined),
    top_logprobs: sampling.logprobs === true || wantsAlternatives ? sampling.topLogprobs : undefined,
  });
}

/** The name of the output limit that the endpoint takes: newer models refuse the older name. */
function limitName({ supportedParameters: taken }: RenderTarget): 'max_tokens' | 'max_completion_tokens' {
  const onlyNewer = taken?.has('max_completion_tokens') === true && !taken.has('max_tokens');
  return onlyNewer ? 'max_completion_tokens' : 'max_tokens';
}

function renderLimit(limit: number | undefined, target: RenderTarget, report: Report): JsonObject {
  if (limit === undefined) return {};
  return { [limitName(target)]: capped(limit, target, report, report.name('maxOutputTokens')) };
}

function capped(limit: number, target: RenderTarget, report: Report, field: string): number {
  const most = target.maxOutputTokens;
  if (most === undefined || limit <= most) return limit;
  report.coerced(field, `lowered to ${most}, the most this endpoint writes`);
  return most;
}

function cappedLimits(given: JsonObject, target: RenderTarget, report: Report): JsonObject {
  return Object.fromEntries(
    ['max_tokens', 'max_completion_tokens'].flatMap((field) => {
      const limit = numberAt(given, field);
      return limit === undefined ? [] : [[field, capped(limit, target, report, field)]];
    }),
  );
}

// --- Tools -----------------------------------------------------------------------------------------------------------

function renderTools(request: GenerationRequest, report: Report): JsonObject {
  const tools = request.tools.flatMap((tool, position) => renderTool(tool, position, report));
  if (tools.length === 0) {
    const choice = request.toolChoice?.mode;
    if (choice !== undefined && choice !== 'auto' && choice !== 'none') {
      report.dropped(report.name('toolChoice'), 'no tool is left to choose');
    }
    return {};
  }
  return compact({
    tools,
    tool_choice: renderToolChoice(request, report),
    parallel_tool_calls: request.parallelToolCalls,
  });
}

function renderTool(tool: Tool, position: number, report: Report): JsonObject[] {
  if (tool.type === 'hosted') {
    report.dropped(report.name('tools', `[${position}]`), `the upstream cannot run ${tool.kind}`);
    return [];
  }
  if (tool.type === 'function' && tool.cache !== undefined) reportCacheMarks(report);
  const declared = compact({
    name: flatToolName(tool.name, tool.namespace?.name),
    description: tool.description,
    parameters: tool.type === 'custom' ? freeTextParameters(tool) : tool.parameters,
    strict: tool.type === 'function' ? tool.strict : undefined,
  });
  return [{ type: 'function', function: declared, ...tool.ext?.chat }];
}

function renderToolChoice(request: GenerationRequest, report: Report): Json | undefined {
  const choice = request.toolChoice;
  switch (choice?.mode) {
    case undefined:
      return undefined;
    case 'auto':
    case 'none':
    case 'required':
      return choice.mode;
    case 'tool':
      return chosenFunction(request, choice.name);
    case 'allowed':
      return renderAllowedTools(request, choice, report);
    case 'hosted':
      report.dropped(report.name('toolChoice'), `the upstream cannot run ${String(choice.value.type)}`);
      return undefined;
  }
}

function renderAllowedTools(
  request: GenerationRequest,
  choice: Extract<ToolChoice, { mode: 'allowed' }>,
  report: Report,
): JsonObject {
  const tools = choice.tools.flatMap((tool, position) => {
    const name = textAt(tool, 'name');
    if (name !== undefined) return [chosenFunction(request, name)];
    const place = report.name('toolChoice', `.tools[${position}]`);
    report.dropped(place, `the upstream cannot run ${String(tool.type)}`);
    return [];
  });
  return {
    type: 'allowed_tools',
    allowed_tools: { mode: choice.required ? 'required' : 'auto', tools },
  };
}

function chosenFunction(request: GenerationRequest, name: string): JsonObject {
  const tool = request.tools.find((candidate) => candidate.type !== 'hosted' && candidate.name === name);
  const namespace = tool?.type === 'hosted' ? undefined : tool?.namespace?.name;
  return { type: 'function', function: { name: flatToolName(name, namespace) } };
}

// --- Reasoning and output format ---------------------------------------------------------------------------------------

/** What of the reasoning settings has no word in the chat format. */
const UNSENT_REASONING = ['summary', 'context', 'mode'] as const;

function renderReasoning(
  { reasoning, maxOutputTokens }: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject {
  for (const member of UNSENT_REASONING) {
    if (reasoning?.[member] !== undefined) {
      report.dropped(report.name('reasoning', `.${member}`), 'the chat format has no field for it');
    }
  }
  const effort = effortOf(reasoning);
  if (effort !== undefined) return { reasoning_effort: effort };
  if (reasoning?.budgetTokens === undefined) return {};
  const limit = maxOutputTokens ?? target.maxOutputTokens ?? DEFAULT_LIMIT;
  const nearest = effortNearest(reasoning.budgetTokens, limit);
  report.coerced(report.name('reasoning'), `a budget in tokens is sent as effort ${nearest}`);
  return { reasoning_effort: nearest };
}

/** Output limit that a budget is measured against when nobody gave one, tokens. */
const DEFAULT_LIMIT = 32_000;

function renderOutputFormat(
  format: OutputFormat | undefined,
  target: RenderTarget,
  report: Report,
): JsonObject {
  switch (format?.type) {
    case undefined:
    case 'text':
      return {};
    case 'json':
      return { response_format: { type: 'json_object' } };
    case 'json-schema': {
      const taken = target.supportedParameters;
      if (taken?.has('response_format') === true && !taken.has('structured_outputs')) {
        report.coerced(
          report.name('outputFormat'),
          'the endpoint takes no schema: any JSON object is asked for',
        );
        return { response_format: { type: 'json_object' } };
      }
      const { name, schema, description, strict } = format;
      return {
        response_format: { type: 'json_schema', json_schema: compact({ name, description, schema, strict }) },
      };
    }
    case 'opaque':
      if (format.dialect === 'chat') return { response_format: format.value };
      report.dropped(
        report.name('outputFormat'),
        `the chat format has no ${String(format.value.type)} format`,
      );
      return {};
  }
}

// --- Other settings --------------------------------------------------------------------------------------------------------

function renderSettings(request: GenerationRequest, target: RenderTarget, report: Report): JsonObject {
  const user = request.user ?? request.safetyIdentifier;
  return compact({
    verbosity: request.verbosity,
    modalities: request.modalities === undefined ? undefined : [...request.modalities],
    image_config: request.imageConfig,
    prompt_cache_key: request.promptCacheKey,
    prompt_cache_options: ifTaken('prompt_cache_options', request.promptCacheOptions, target, () =>
      report.dropped(report.name('promptCacheOptions'), 'the upstream does not know it'),
    ),
    service_tier: request.serviceTier ?? tierOfSpeed(request, report),
    metadata: ifTaken('metadata', renderMetadata(request, target), target, () => {
      const labels = membersBeyond(request.metadata ?? {}, new Set(['user_id']));
      if (labels !== undefined) report.dropped(report.name('metadata'), 'labels stay with the gateway');
    }),
    user: user === undefined ? undefined : target.hashUser(user),
  });
}

/** A value for endpoints that say they take it; for all others it is not sent. */
function ifTaken(
  parameter: string,
  value: JsonObject | undefined,
  target: RenderTarget,
  onDrop: () => void,
): JsonObject | undefined {
  if (value === undefined || target.supportedParameters?.has(parameter) === true) return value;
  onDrop();
  return undefined;
}

function tierOfSpeed({ speed }: GenerationRequest, report: Report): string | undefined {
  if (speed !== 'fast') return undefined;
  report.coerced(report.name('speed'), 'sent as service tier priority');
  return 'priority';
}

function renderMetadata(request: GenerationRequest, target: RenderTarget): JsonObject | undefined {
  return request.metadata === undefined ? undefined : withHashedUserId(request.metadata, target);
}

function withHashedUserId(metadata: JsonObject, target: RenderTarget): JsonObject {
  const id = textAt(metadata, 'user_id');
  return id === undefined ? metadata : { ...metadata, user_id: target.hashUser(id) };
}

/** Fields of the caller's request that have no place in any chat request. */
function reportUnsent(request: GenerationRequest, report: Report): void {
  if (request.truncation === 'auto') {
    report.dropped(report.name('truncation'), 'chat upstreams do not shorten prompts');
  }
  if (request.include !== undefined && request.include.length > 0) {
    report.dropped(report.name('include'), 'the chat format has no field for it');
  }
  if (request.format !== 'chat') {
    for (const field of Object.keys(request.ext[request.format] ?? {})) {
      report.dropped(field, 'the chat format has no field for it');
    }
  }
  for (const field of request.unknownFields) report.dropped(field, 'not a known field');
}

// --- Cache marks ---------------------------------------------------------------------------------------------------------

/** Automatic caching: the mark goes on the last text of the conversation. */
function markLastText(messages: JsonObject[], mark: CacheMark, isTaken: boolean, report: Report): void {
  if (!isTaken) {
    reportCacheMarks(report);
    return;
  }
  for (let position = messages.length - 1; position >= 0; position--) {
    const message = messages[position];
    const content = message?.content;
    if (typeof content === 'string' && content !== '') {
      messages[position] = {
        ...message,
        content: [{ type: 'text', text: content, cache_control: renderCacheMark(mark) }],
      };
      return;
    }
    const parts = Array.isArray(content) ? (content as JsonObject[]) : [];
    const last = parts.findLastIndex(({ type }) => type === 'text');
    if (last !== -1) {
      messages[position] = {
        ...message,
        content: parts.map((part, at) =>
          at === last ? { cache_control: renderCacheMark(mark), ...part } : part,
        ),
      };
      return;
    }
  }
}

function relayedCacheControl(request: GenerationRequest, target: RenderTarget, report: Report): JsonObject {
  if (request.cache === undefined || target.supportedParameters?.has('cache_control') === true) return {};
  reportCacheMarks(report);
  return { cache_control: undefined };
}

// --- What the endpoint does not take -------------------------------------------------------------------------------------

interface ParameterRow {
  /** What the caller calls it; absent = as the chat format does. */
  readonly field?: RequestField;
  /** Names in the public model lists that stand for it; any of them is enough. */
  readonly parameters: readonly string[];
}

/** Fields of the body that an endpoint may not take. The output limit is none of them: it guards the caller's money. */
const PARAMETERS: ReadonlyMap<string, ParameterRow> = new Map<string, ParameterRow>([
  ['temperature', { parameters: ['temperature'] }],
  ['top_p', { parameters: ['top_p'] }],
  ['top_k', { parameters: ['top_k'] }],
  ['top_a', { parameters: ['top_a'] }],
  ['min_p', { parameters: ['min_p'] }],
  ['frequency_penalty', { parameters: ['frequency_penalty'] }],
  ['presence_penalty', { parameters: ['presence_penalty'] }],
  ['repetition_penalty', { parameters: ['repetition_penalty'] }],
  ['seed', { parameters: ['seed'] }],
  ['stop', { field: 'stop', parameters: ['stop'] }],
  ['logit_bias', { parameters: ['logit_bias'] }],
  ['logprobs', { parameters: ['logprobs'] }],
  ['top_logprobs', { parameters: ['top_logprobs'] }],
  ['response_format', { field: 'outputFormat', parameters: ['response_format', 'structured_outputs'] }],
  ['tools', { field: 'tools', parameters: ['tools'] }],
  ['tool_choice', { field: 'toolChoice', parameters: ['tool_choice', 'tools'] }],
  ['parallel_tool_calls', { field: 'parallelToolCalls', parameters: ['parallel_tool_calls', 'tools'] }],
  [
    'reasoning_effort',
    { field: 'reasoning', parameters: ['reasoning', 'reasoning_effort', 'include_reasoning'] },
  ],
  ['verbosity', { field: 'verbosity', parameters: ['verbosity'] }],
  ['web_search_options', { parameters: ['web_search_options'] }],
]);

function withoutUnsupported(body: JsonObject, target: RenderTarget, report: Report): JsonObject {
  const taken = target.supportedParameters;
  if (taken === undefined) return body;
  const unsupported = new Set<string>();
  for (const wireName of Object.keys(body)) {
    const row = PARAMETERS.get(wireName);
    if (row === undefined || row.parameters.some((parameter) => taken.has(parameter))) continue;
    unsupported.add(wireName);
    const name = row.field === undefined ? wireName : report.name(row.field);
    report.dropped(name, 'the endpoint does not take this parameter');
  }
  return membersBeyond(body, unsupported) ?? {};
}

function compact(fields: JsonObject): JsonObject {
  return membersBeyond(fields, NO_FIELDS) ?? {};
}

const NO_FIELDS: ReadonlySet<string> = new Set();
