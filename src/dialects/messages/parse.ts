import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { Ext } from '../../ir/items.ts';
import { Places } from '../../ir/places.ts';
import type { GenerationRequest, OutputFormat } from '../../ir/request.ts';
import type { Effort, ReasoningSettings } from '../../ir/settings.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { membersBeyond, objectOf, objectsOf, stringAt, withoutNulls } from '../../kit/json/members.ts';
import type { ParseContext } from '../dialect.ts';
import { checkMedia } from '../shared/media/check-media.ts';
import { isGiven } from '../shared/presets/preset-form.ts';
import { asksBeta, INTERLEAVED_THINKING } from '../shared/requests/betas.ts';
import { modelList, parseCacheMark, parseWishes } from '../shared/requests/gateway-fields.ts';
import { checkSemantics, isSilent } from '../shared/requests/semantics.ts';
import { facts } from './facts.ts';
import { parseConversation } from './parse-content.ts';
import { parseToolChoice, parseTools } from './parse-tools.ts';
import { SAMPLING } from './settings.ts';
import {
  CHOICE_FIELDS,
  DOCUMENTED_FIELDS,
  EFFORTS,
  MESSAGE_FIELDS,
  SYSTEM_TURN_FIELDS,
  THINKING_FIELDS,
  UNMODELLED_FIELDS,
  type WireMessage,
} from './wire.ts';
import { isKnownBlock } from './wire-content.ts';

export function parseRequest(
  body: JsonObject,
  { exactNumbers, betas, apiVersion }: ParseContext,
): GenerationRequest {
  const ownFallbacks = fallbackModels(body.fallbacks);
  refuseImpossible(body, ownFallbacks);
  const config = objectOf(body.output_config);
  const places = new Places();
  const tools = parseTools(body.tools, places);
  const metadata = objectOf(body.metadata);
  const user = body.user ?? metadata.user_id;
  const reasoning = parseReasoning(objectOf(body.thinking), config);
  const choice = parseToolChoice(objectOf(body.tool_choice), tools);
  const alternatives = namesModels(body) ? body.models : (ownFallbacks ?? []);
  const request: GenerationRequest = {
    format: 'messages',
    formatFacts: facts.request,
    body,
    models: modelList(body.model, alternatives),
    hasFallbackModels: alternatives.length > 0,
    items: parseConversation(body.system, body.messages as unknown as WireMessage[], places, exactNumbers),
    tools,
    ...choice,
    sampling: SAMPLING.parse(body),
    ...(typeof body.max_tokens === 'number' && { requestedOutputTokens: body.max_tokens }),
    ...(reasoning !== undefined && { reasoning }),
    ...(tools.length > 0 && asksBeta(betas, INTERLEAVED_THINKING) && { mayThinkBeyondLimit: true }),
    ...parseOutputFormat(objectOf(config.format)),
    ...(isJsonObject(body.cache_control) && { cache: parseCacheMark(body.cache_control) }),
    ...(typeof body.prompt_cache_key === 'string' && { promptCacheKey: body.prompt_cache_key }),
    ...(typeof body.service_tier === 'string' && { serviceTier: body.service_tier }),
    ...(typeof body.speed === 'string' && { speed: body.speed as 'fast' | 'standard' }),
    ...(typeof user === 'string' && { user }),
    ...(apiVersion !== undefined && { apiVersion }),
    stream: body.stream === true,
    echoUpstreamBody: false,
    wishes: parseWishes(body),
    ext: parseExt(body, config, metadata, choice),
    places,
    unknownFields: unknownFieldsOf(body),
    exactNumbers,
  };
  checkMedia(request, facts.media);
  checkSemantics(request, {
    toolChoice: request.toolChoice?.mode === 'tool' ? 'tool_choice.name' : 'tool_choice',
    budget: 'thinking.budget_tokens',
  });
  return request;
}

/** True for blocks of undocumented types: upstreams of this dialect may know them. */
export function hasUnknownTypes({ body }: GenerationRequest): boolean {
  return objectsOf(body.messages).some(({ content }) =>
    objectsOf(content).some((block) => !isKnownBlock(stringAt(block, 'type') ?? '')),
  );
}

// --- What is refused ------------------------------------------------------------------------------------------------

/** Refuses bodies that are valid by the schema and impossible here. */
function refuseImpossible(body: JsonObject, ownFallbacks: readonly Json[] | undefined): void {
  if (body.thread !== undefined && body.thread !== null) throw threadRefused();
  if (ownFallbacks !== undefined && namesModels(body)) {
    throw invalidRequest([{ path: 'fallbacks', message: 'cannot be combined with models' }]);
  }
  if (objectsOf(body.messages).every(({ content }) => isSilent(content))) {
    throw invalidRequest([{ path: 'messages[0].content', message: 'must not be empty' }]);
  }
}

function namesModels(body: JsonObject): body is JsonObject & { models: Json[] } {
  return Array.isArray(body.models) && body.models.length > 0;
}

/** Clients that keep threads on the server look for this code and then send the whole conversation. */
function threadRefused(): GatewayError {
  const message = 'is not supported: nothing is stored here, send the whole conversation in messages';
  return new GatewayError('invalid-request', `thread: ${message}`, {
    metadata: { issues: [{ path: 'thread', message }] },
    details: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
  });
}

// --- Undocumented fields --------------------------------------------------------------------------------------------

/** Undocumented fields, top-level or inside settings and messages. Null counts as absent. */
function unknownFieldsOf(body: JsonObject): string[] {
  const unknown: string[] = [];
  const collect = (object: JsonObject, known: ReadonlySet<string>, prefix: () => string) => {
    const beyond = membersBeyond(object, known);
    if (beyond !== undefined) for (const key of Object.keys(beyond)) unknown.push(`${prefix()}${key}`);
  };
  collect(body, DOCUMENTED_FIELDS, () => '');
  const [thinking, choice] = [objectOf(body.thinking), objectOf(body.tool_choice)];
  if (!isOther(thinking, MODELLED_THINKING)) collect(thinking, THINKING_FIELDS, () => 'thinking.');
  if (!isOther(choice, MODELLED_CHOICES)) collect(choice, CHOICE_FIELDS, () => 'tool_choice.');
  objectsOf(body.messages).forEach((message, index) => {
    const known = message.role === 'system' ? SYSTEM_TURN_FIELDS : MESSAGE_FIELDS;
    collect(message, known, () => `messages[${index}].`);
  });
  return unknown;
}

// --- Models ---------------------------------------------------------------------------------------------------------

/**
 * The models of `fallbacks`, which the gateway tries; undefined if there are none, or if the upstream is to fall back
 * by itself: to its own choice of models, or to models with settings of their own.
 */
export function fallbackModels(fallbacks: Json | undefined): Json[] | undefined {
  if (!Array.isArray(fallbacks)) return undefined;
  const entries = objectsOf(fallbacks).map(withoutNulls);
  if (entries.some((entry) => Object.keys(entry).length > 1)) return undefined;
  return entries.map(({ model }) => model ?? '');
}

// --- Reasoning ------------------------------------------------------------------------------------------------------

/**
 * Reads thinking and effort. With thinking switched off the effort applies to the answer alone: `parseExt` keeps it for
 * this dialect.
 */
function parseReasoning(thinking: JsonObject, config: JsonObject): ReasoningSettings | undefined {
  if (thinking.type === 'disabled') return { enabled: false };
  const effort = isEffort(config.effort) ? { effort: config.effort } : {};
  const display = typeof thinking.display === 'string' ? { display: thinking.display } : {};
  if (thinking.type === 'enabled') {
    return { enabled: true, budgetTokens: thinking.budget_tokens as number, ...display, ...effort };
  }
  if (thinking.type === 'adaptive') return { adaptive: true, ...display, ...effort };
  return isEffort(config.effort) ? effort : undefined;
}

function isEffort(value: Json | undefined): value is Effort {
  return EFFORT_WORDS.has(value);
}

const EFFORT_WORDS: ReadonlySet<Json | undefined> = new Set(EFFORTS);

// --- Output format --------------------------------------------------------------------------------------------------

/** Name of a schema in formats that require one. */
export const SCHEMA_NAME = 'output';

function parseOutputFormat(format: JsonObject): { outputFormat?: OutputFormat } {
  if (format.type === 'json_schema') {
    return {
      outputFormat: { type: 'json-schema', name: SCHEMA_NAME, schema: objectOf(format.schema) },
    };
  }
  return format.type === undefined
    ? {}
    : { outputFormat: { type: 'opaque', dialect: 'messages', value: format } };
}

// --- Fields of this dialect alone -----------------------------------------------------------------------------------

/** Types of thinking that the representation has. Others are kept for this dialect. */
const MODELLED_THINKING: ReadonlySet<Json | undefined> = new Set(['enabled', 'disabled', 'adaptive']);

const MODELLED_CHOICES: ReadonlySet<Json | undefined> = new Set(['auto', 'any', 'none', 'tool']);

const MODELLED_CONFIG: ReadonlySet<string> = new Set(['effort', 'format']);
const MODELLED_METADATA: ReadonlySet<string> = new Set(['user_id']);

/** Documented fields that only this dialect has. */
function parseExt(
  body: JsonObject,
  config: JsonObject,
  metadata: JsonObject,
  { toolChoice }: Pick<GenerationRequest, 'toolChoice'>,
): Ext {
  const outputConfig = membersBeyond(config, MODELLED_CONFIG) ?? {};
  const thinking = objectOf(body.thinking);
  const choice = objectOf(body.tool_choice);
  const isKept = thinking.type === 'disabled' || !isEffort(config.effort);
  if (isKept && typeof config.effort === 'string') outputConfig.effort = config.effort;
  const labels = membersBeyond(metadata, MODELLED_METADATA);
  const messages: JsonObject = {
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(labels !== undefined && { metadata: labels }),
    ...(isOther(thinking, MODELLED_THINKING) && { thinking }),
    ...(toolChoice === undefined && isOther(choice, MODELLED_CHOICES) && { tool_choice: choice }),
    ...(isGiven(body.fallbacks) &&
      fallbackModels(body.fallbacks) === undefined && { fallbacks: body.fallbacks }),
  };
  for (const field of UNMODELLED_FIELDS) {
    const value = body[field];
    if (isGiven(value)) messages[field] = isJsonObject(value) ? withoutNulls(value) : value;
  }
  return Object.keys(messages).length > 0 ? { messages } : {};
}

/** True for settings of a type that the representation does not have. */
function isOther({ type }: JsonObject, modelled: ReadonlySet<Json | undefined>): boolean {
  return type !== undefined && !modelled.has(type);
}
