import { invalidRequest } from '../../ir/errors.ts';
import { Places } from '../../ir/places.ts';
import type { GenerationRequest, OutputFormat, ToolChoice } from '../../ir/request.ts';
import type { ReasoningSettings, Sampling } from '../../ir/settings.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import {
  booleanAt,
  compact,
  membersBeyond,
  objectAt,
  objectsAt,
  objectsOf,
  stringAt,
  textAt,
  withoutNulls,
} from '../../kit/json/members.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { ParseContext } from '../dialect.ts';
import { checkMedia } from '../shared/media/check-media.ts';
import { messageIndex } from '../shared/presets/preset-message.ts';
import { REASONING } from '../shared/reasoning/reasoning-object.ts';
import { EFFORTS, knownEffort, REASONING_FIELDS } from '../shared/reasoning/reasoning-schema.ts';
import { modelList, parseCacheMark, parseWishes } from '../shared/requests/gateway-fields.ts';
import { parseSchemaFormat } from '../shared/requests/output-format.ts';
import { limitIn } from '../shared/requests/output-limit.ts';
import { checkSemantics, isSilent } from '../shared/requests/semantics.ts';
import { facts } from './facts.ts';
import { parseConversation } from './parse-content.ts';
import { parseToolChoice, parseTools } from './parse-tools.ts';
import { SAMPLING } from './settings.ts';
import { DOCUMENTED_FIELDS, LIMIT_FIELDS, UNMODELLED_FIELDS } from './wire.ts';
import { isKnownPartType } from './wire-content.ts';

/** Parses a validated body. Throws 400 and 422 for conditions that the schema cannot express. */
export function parseRequest(body: JsonObject, { exactNumbers }: ParseContext): GenerationRequest {
  const messages = objectsAt(body, 'messages');
  refuseImpossible(body, messages);
  const given = withoutNulls(body);
  const models = modelList(given.model, given.models);
  if (models.length === 0) {
    throw invalidRequest([{ path: 'model', message: 'is required' }]);
  }
  const places = new Places();
  const tools = parseTools(objectsAt(given, 'tools'), places);
  const toolChoice = parseToolChoice(given.tool_choice, tools);
  const request: GenerationRequest = {
    format: 'chat',
    formatFacts: facts.request,
    body,
    models,
    hasFallbackModels: Array.isArray(given.models) && given.models.length > 0,
    items: parseConversation(messages, places),
    tools,
    sampling: SAMPLING.parse(given),
    stream: given.stream === true,
    // The debug echo exists in the responses format only.
    echoUpstreamBody: false,
    wishes: parseWishes(given),
    ext: parseExt(given, toolChoice),
    places,
    unknownFields: unknownFieldsOf(given),
    exactNumbers,
    ...parseSettings(given, toolChoice),
  };
  checkMedia(request, facts.media);
  checkSemantics(request, { toolChoice: 'tool_choice', budget: 'reasoning.max_tokens' });
  checkLogprobs(request.sampling);
  return request;
}

/** True for content parts of undocumented types: upstreams of this dialect may know them. */
export function hasUnknownTypes({ body }: GenerationRequest): boolean {
  return objectsAt(body, 'messages').some((message) =>
    objectsOf(message.content).some((part) => !isKnownPartType(stringAt(part, 'type') ?? '')),
  );
}

// --- What is refused ------------------------------------------------------------------------------------------------

/** Refuses bodies that are valid by the schema and impossible here. */
function refuseImpossible(body: JsonObject, messages: readonly JsonObject[]): void {
  for (const path of ['n', 'best_of']) {
    if (typeof body[path] !== 'number' || body[path] === 1) continue;
    throw invalidRequest([{ path, message: 'must be 1: one request gives one choice' }]);
  }
  if (body.store === true) {
    throw invalidRequest([{ path: 'store', message: 'must be false: nothing is stored here' }]);
  }
  if (messages.every(isSilentMessage)) {
    throw invalidRequest([{ path: 'messages[0].content', message: 'must not be empty' }]);
  }
  const issues = emptyFiles(messages);
  if (issues.length > 0) throw invalidRequest(issues);
}

/** A message with one of these members is not empty, whatever its content. */
const SPEAKING_MEMBERS = ['tool_calls', 'function_call', 'refusal', 'images', 'audio', 'reasoning_details'];

function isSilentMessage(message: JsonObject): boolean {
  const isOfTool = message.role === 'tool' || message.role === 'function';
  return !isOfTool && isSilent(message.content) && SPEAKING_MEMBERS.every((name) => isAbsent(message[name]));
}

function isAbsent(value: Json | undefined): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** File parts without a file. */
function emptyFiles(messages: readonly JsonObject[]): Issue[] {
  const issues: Issue[] = [];
  messages.forEach(({ content }, at) => {
    if (!Array.isArray(content)) return;
    objectsOf(content).forEach((part, place) => {
      const file = part.type === 'file' ? objectAt(part, 'file') : undefined;
      if (file === undefined || textAt(file, 'file_data') !== undefined) return;
      if (textAt(file, 'file_id') !== undefined) return;
      const path = `messages[${messageIndex(messages, at)}].content[${place}].file`;
      issues.push({ path, message: 'must have file_data or file_id' });
    });
  });
  return issues;
}

function checkLogprobs(sampling: Sampling): void {
  if (sampling.topLogprobs !== undefined && sampling.logprobs !== true) {
    throw invalidRequest([{ path: 'top_logprobs', message: 'needs logprobs to be true' }], 'unprocessable');
  }
}

// --- Undocumented fields --------------------------------------------------------------------------------------------

/**
 * Fields without effect: undocumented fields, top-level or in `reasoning`, which is never sent unchanged, and an echo
 * that this format does not have.
 */
function unknownFieldsOf(given: JsonObject): string[] {
  const unknown: string[] = [];
  for (const field in given) if (!DOCUMENTED_FIELDS.has(field)) unknown.push(field);
  const settings = objectAt(given, 'reasoning');
  if (settings !== undefined) {
    for (const member in withoutNulls(settings)) {
      if (!REASONING_FIELDS.has(member)) unknown.push(`reasoning.${member}`);
    }
  }
  if (objectAt(given, 'debug')?.echo_upstream_body === true) unknown.push('debug');
  return unknown;
}

// --- Settings -------------------------------------------------------------------------------------------------------

type Settings = Partial<GenerationRequest>;

function parseSettings(given: JsonObject, toolChoice: ToolChoice | undefined): Settings {
  return compact({
    toolChoice,
    parallelToolCalls: booleanAt(given, 'parallel_tool_calls'),
    requestedOutputTokens: limitIn(given, LIMIT_FIELDS),
    reasoning: parseReasoning(given),
    outputFormat: parseOutputFormat(objectAt(given, 'response_format')),
    verbosity: textAt(given, 'verbosity'),
    modalities: Array.isArray(given.modalities) ? (given.modalities as string[]) : undefined,
    imageConfig: objectAt(given, 'image_config'),
    cache: parseCacheMark(given.cache_control),
    promptCacheKey: textAt(given, 'prompt_cache_key'),
    promptCacheOptions: objectAt(given, 'prompt_cache_options'),
    serviceTier: parseServiceTier(given),
    metadata: objectAt(given, 'metadata'),
    user: textAt(given, 'user'),
    safetyIdentifier: textAt(given, 'safety_identifier'),
  });
}

// --- Reasoning ------------------------------------------------------------------------------------------------------

function parseReasoning(given: JsonObject): ReasoningSettings | undefined {
  const { reasoning_effort: effort, include_reasoning: include } = given;
  const reasoning = objectAt(given, 'reasoning');
  if (reasoning === undefined && effort === undefined && include === undefined) return undefined;
  const settings: ReasoningSettings = compact({
    exclude: include === false ? true : undefined,
    ...REASONING.parse(reasoning ?? {}),
    effort: knownEffort(textAt(reasoning, 'effort') ?? effort),
  });
  return Object.keys(settings).length === 0 ? undefined : settings;
}

// --- Output format --------------------------------------------------------------------------------------------------

function parseOutputFormat(format: JsonObject | undefined): OutputFormat | undefined {
  if (format === undefined) return undefined;
  switch (format.type) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema':
      return parseSchemaFormat(objectAt(format, 'json_schema'));
    default:
      return { type: 'opaque', dialect: 'chat', value: format };
  }
}

// --- Service tier ---------------------------------------------------------------------------------------------------

/** `fast` is a synonym of `priority`. */
export function parseServiceTier(given: JsonObject): string | undefined {
  const tier = textAt(given, 'service_tier');
  return tier === 'fast' ? 'priority' : tier;
}

// --- Fields of this dialect alone -----------------------------------------------------------------------------------

const OWN_STREAM_OPTIONS: ReadonlySet<string> = new Set(['include_usage']);

/** Values that the representation models; others stay with the upstreams of this dialect. */
const KNOWN_VALUES: readonly (readonly [field: string, values: ReadonlySet<string>])[] = [
  ['reasoning_effort', new Set(EFFORTS)],
  ['tool_choice', new Set(['auto', 'none', 'required'])],
];

/** Documented fields, and values of them, that only this dialect has. */
function parseExt(given: JsonObject, choice: ToolChoice | undefined): GenerationRequest['ext'] {
  let own: JsonObject | undefined;
  for (const field of UNMODELLED_FIELDS) {
    if (given[field] !== undefined) own = { ...own, [field]: given[field] };
  }
  for (const [field, values] of KNOWN_VALUES) {
    const value = given[field];
    if (typeof value === 'string' && !values.has(value)) own = { ...own, [field]: value };
  }
  const effort = textAt(objectAt(given, 'reasoning'), 'effort');
  if (effort !== undefined && knownEffort(effort) === undefined) own = { ...own, reasoning_effort: effort };
  if (choice === undefined && isJsonObject(given.tool_choice))
    own = { ...own, tool_choice: given.tool_choice };
  // Usage is always reported; only the other options are for the upstream.
  const options =
    given.stream === true
      ? membersBeyond(objectAt(given, 'stream_options') ?? {}, OWN_STREAM_OPTIONS)
      : undefined;
  const chat = options === undefined ? own : { ...own, stream_options: options };
  return chat === undefined ? {} : { chat };
}
