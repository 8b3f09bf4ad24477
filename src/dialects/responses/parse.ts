import { invalidRequest } from '../../ir/errors.ts';
import type { Item, Part } from '../../ir/items.ts';
import { type Place, Places } from '../../ir/places.ts';
import type { GenerationRequest, OutputFormat, Tool, ToolChoice } from '../../ir/request.ts';
import type { ReasoningSettings, Sampling } from '../../ir/settings.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import {
  booleanAt,
  compact,
  numberAt,
  objectAt,
  objectsAt,
  objectsOf,
  stringAt,
  stringsAt,
  withoutNulls,
} from '../../kit/json/members.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { ItemSettings, ParseContext } from '../dialect.ts';
import { INCLUDE_LOGPROBS } from '../shared/include-values.ts';
import { checkMedia } from '../shared/media/check-media.ts';
import { templateItemCount } from '../shared/presets/prompt-template.ts';
import { REASONING } from '../shared/reasoning/reasoning-object.ts';
import { knownEffort, REASONING_FIELDS } from '../shared/reasoning/reasoning-schema.ts';
import { Report } from '../shared/report/report.ts';
import { MAX_TOOLS, modelList, parseCacheMark, parseWishes } from '../shared/requests/gateway-fields.ts';
import { parseSchemaFormat } from '../shared/requests/output-format.ts';
import { checkSemantics, isSilent } from '../shared/requests/semantics.ts';
import { ADDING_TOOLS } from '../shared/tools/additional-tools.ts';
import { facts } from './facts.ts';
import { MCP_CALL, patchedCalls, replayedCall, reportMcpCalls } from './parse-calls.ts';
import {
  approvedRequest,
  inputPlace,
  parseItem,
  referencesIn,
  UNKNOWN_REFERENCE,
  withOtherThoughts,
} from './parse-content.ts';
import { additionalTools, parseToolChoice, parseTools } from './parse-tools.ts';
import { SAMPLING } from './settings.ts';
import { ownSummary } from './summary.ts';
import { DOCUMENTED_FIELDS, TEXT_FIELDS, UNMODELLED_FIELDS } from './wire.ts';

export function parseRequest(body: JsonObject, { exactNumbers }: ParseContext): GenerationRequest {
  const input = objectsOf(body.input);
  refuseImpossible(body, input);
  const places = new Places();
  const include = stringsAt(body, 'include');
  const text = objectAt(body, 'text') ?? {};
  const models = modelList(body.model, body.models);
  const tools = parseTools(objectsAt(body, 'tools'), 'tools', places);
  const report = input.some(isReported) ? new Report({ formatFacts: facts.request, places }) : undefined;
  const all = report === undefined ? tools : additionalTools({ body, input, tools, places }, report);
  const toolChoice = parseToolChoice(body.tool_choice, all);
  if (report !== undefined) reportMcpCalls(body, input, report);
  const request: GenerationRequest = compact({
    format: 'responses',
    formatFacts: facts.request,
    body,
    models,
    hasFallbackModels: (stringsAt(body, 'models') ?? []).length > 0,
    items: parseConversation(body, input, places, exactNumbers),
    tools: limited(all),
    toolChoice,
    parallelToolCalls: booleanAt(body, 'parallel_tool_calls'),
    sampling: parseSampling(body, include),
    requestedOutputTokens: numberAt(body, 'max_output_tokens'),
    reasoning: parseReasoning(objectAt(body, 'reasoning')),
    outputFormat: parseOutputFormat(objectAt(text, 'format')),
    verbosity: stringAt(text, 'verbosity'),
    modalities: stringsAt(body, 'modalities'),
    imageConfig: objectAt(body, 'image_config'),
    cache: parseCacheMark(body.cache_control),
    promptCacheKey: stringAt(body, 'prompt_cache_key'),
    promptCacheOptions: objectAt(body, 'prompt_cache_options'),
    serviceTier: stringAt(body, 'service_tier'),
    metadata: objectAt(body, 'metadata'),
    user: stringAt(body, 'user'),
    safetyIdentifier: stringAt(body, 'safety_identifier'),
    truncation: parseTruncation(body.truncation),
    include,
    stream: body.stream === true,
    echoUpstreamBody: body.stream === true && objectAt(body, 'debug')?.echo_upstream_body === true,
    wishes: parseWishes(body),
    ext: parseExt(body, toolChoice),
    places,
    unknownFields: unknownFieldsOf(body),
    ignoredMembers: report?.entries,
    exactNumbers,
  });
  checkMedia(request, facts.media);
  checkSemantics(request, { toolChoice: 'tool_choice', budget: 'reasoning.max_tokens' });
  return request;
}

/** True for items that may have entries in the report whatever the upstream. */
function isReported({ type }: JsonObject): boolean {
  return type === MCP_CALL || ADDING_TOOLS.has(type);
}

// --- What is refused ------------------------------------------------------------------------------------------------

/** Refuses bodies that are valid by the schema and impossible here. */
function refuseImpossible(body: JsonObject, input: readonly JsonObject[]): void {
  refuseMissing(body);
  const issues = [...statefulIssues(body, input), ...sourceIssues(body, input)];
  if (issues.length > 0) throw invalidRequest(issues);
}

function refuseMissing(body: JsonObject): void {
  const issues: Issue[] = [];
  if (modelList(body.model, body.models).length === 0) issues.push({ path: 'model', message: 'is required' });
  if (body.input === undefined || body.input === null) {
    issues.push({ path: 'input', message: 'is required' });
  } else if (body.input === '' || (Array.isArray(body.input) && body.input.length === 0)) {
    issues.push({ path: 'input', message: 'must not be empty' });
  } else if (Array.isArray(body.input) && objectsOf(body.input).every(isSilentMessage)) {
    issues.push({ path: 'input[0].content', message: 'must not be empty' });
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

function isSilentMessage(item: JsonObject): boolean {
  return (stringAt(item, 'type') ?? 'message') === 'message' && isSilent(item.content);
}

/** Fields that only a service with stored state could honour, and references to items that are not kept. */
function statefulIssues(body: JsonObject, input: readonly JsonObject[]): Issue[] {
  const issues: Issue[] = [];
  if (body.background === true) {
    issues.push({
      path: 'background',
      message: 'must be false: responses are not made in the background here',
    });
  }
  for (const field of ['previous_response_id', 'conversation']) {
    if (body[field] !== undefined && body[field] !== null) {
      issues.push({ path: field, message: 'is not supported: nothing is stored here, send the whole input' });
    }
  }
  for (const { path } of referencesIn(body, input)) issues.push({ path, message: UNKNOWN_REFERENCE });
  return issues;
}

/** Images and files without a source. */
function sourceIssues(body: JsonObject, input: readonly JsonObject[]): Issue[] {
  const issues: Issue[] = [];
  input.forEach((item, index) => {
    for (const field of LISTS_OF_PARTS) {
      if (!Array.isArray(item[field])) continue;
      objectsAt(item, field).forEach((part, place) => {
        const names = lookUp(SOURCE_FIELDS, stringAt(part, 'type') ?? '');
        if (names === undefined || names.some((name) => stringAt(part, name))) return;
        const path = `${inputPlace(body, index)}.${field}[${place}].${names[0]}`;
        issues.push({ path, message: `is required, unless ${names.slice(1).join(' or ')} is given` });
      });
    }
  });
  return issues;
}

const LISTS_OF_PARTS = ['content', 'output'];

const SOURCE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  input_image: ['image_url', 'file_id'],
  input_file: ['file_data', 'file_url', 'file_id'],
};

// --- Undocumented fields --------------------------------------------------------------------------------------------

/** Undocumented fields, top-level or inside the settings objects. Null counts as absent. */
function unknownFieldsOf(body: JsonObject): string[] {
  const unknown = (object: JsonObject, known: ReadonlySet<string>, prefix: string) =>
    Object.keys(withoutNulls(object))
      .filter((key) => !known.has(key))
      .map((key) => `${prefix}${key}`);
  return [
    ...unknown(body, DOCUMENTED_FIELDS, ''),
    ...unknown(objectAt(body, 'reasoning') ?? {}, REASONING_FIELDS, 'reasoning.'),
    ...unknown(objectAt(body, 'text') ?? {}, TEXT_FIELDS, 'text.'),
  ];
}

// --- Conversation ---------------------------------------------------------------------------------------------------

function parseConversation(
  body: JsonObject,
  input: readonly JsonObject[],
  places: Places,
  numbers: ExactNumbers | undefined,
): Item[] {
  const items =
    typeof body.input === 'string'
      ? [textMessage('user', body.input, 'input', places)]
      : parseItems(body, input, places, numbers);
  const instructions = stringAt(body, 'instructions');
  if (instructions === undefined || instructions === '') return items;
  return [textMessage('system', instructions, 'instructions', places), ...items];
}

function parseItems(
  body: JsonObject,
  input: readonly JsonObject[],
  places: Places,
  numbers: ExactNumbers | undefined,
): Item[] {
  const made = templateItemCount(body);
  const items: Item[] = [];
  const patched = patchedCalls(input);
  input.forEach((value, index) => {
    const place = index < made ? 'prompt' : places.inside('input', index - made);
    const parsed =
      replayedCall(value, patched, numbers) ?? (approvedRequest(value) ?? ownSummary(value))?.map(parseItem);
    for (const item of parsed ?? [withOtherThoughts(parseItem(value), value)]) {
      items.push(placeItem(item, value, place, places));
    }
  });
  return items;
}

function textMessage(role: 'user' | 'system', text: string, path: string, places: Places): Item {
  const part: Part = { type: 'text', text };
  return places.put({ type: 'message', role, content: [places.put(part, path)] }, path);
}

function placeItem(item: Item, value: JsonObject, place: Place, places: Places): Item {
  if (item.type === 'message')
    placeParts(item.content, value.content, places.inside(place, 'content'), places);
  if (item.type === 'tool-result')
    placeParts(item.content, value.output, places.inside(place, 'output'), places);
  return places.put(item, place);
}

function placeParts(parts: readonly Part[], written: Json | undefined, place: Place, places: Places): void {
  parts.forEach((part, index) => {
    places.put(part, typeof written === 'string' ? place : places.inside(place, index));
  });
}

// --- Tools ----------------------------------------------------------------------------------------------------------

/** The schema limits each list; this limits their sum. */
function limited(tools: readonly Tool[]): readonly Tool[] {
  if (tools.length <= MAX_TOOLS) return tools;
  const message = `must have at most ${MAX_TOOLS} tools, those in groups and in items of input among them`;
  throw invalidRequest([{ path: 'tools', message }]);
}

// --- Sampling -------------------------------------------------------------------------------------------------------

function parseSampling(body: JsonObject, include: readonly string[] | undefined): Sampling {
  const sampling = SAMPLING.parse(body);
  return include?.includes(INCLUDE_LOGPROBS) ? { ...sampling, logprobs: true } : sampling;
}

// --- Reasoning ------------------------------------------------------------------------------------------------------

function parseReasoning(value: JsonObject | undefined): ReasoningSettings | undefined {
  if (value === undefined) return undefined;
  const effort = knownEffort(value.effort);
  return compact({
    effort,
    otherEffort: effort === undefined ? stringAt(value, 'effort') : undefined,
    ...REASONING.parse(value),
  });
}

// --- Output format --------------------------------------------------------------------------------------------------

function parseOutputFormat(value: JsonObject | undefined): OutputFormat | undefined {
  switch (value?.type) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema':
      return parseSchemaFormat(value);
    case undefined:
      return undefined;
    default:
      return { type: 'opaque', dialect: 'responses', value: value as JsonObject };
  }
}

/** The settings after an item that changes some of them. An effort takes the place of a budget. */
export function settingsOfItem(value: JsonObject, request: GenerationRequest): ItemSettings | undefined {
  if (value.type !== 'configuration_update') return undefined;
  const effort = knownEffort(objectAt(value, 'reasoning')?.effort);
  const { budgetTokens: _, enabled: __, otherEffort: ___, ...reasoning } = request.reasoning ?? {};
  const text = objectAt(value, 'text');
  const changed: ItemSettings = compact({
    reasoning: effort === undefined ? undefined : { ...reasoning, effort },
    outputFormat: parseOutputFormat(objectAt(text, 'format')),
    verbosity: stringAt(text, 'verbosity'),
  });
  return Object.keys(changed).length === 0 ? undefined : changed;
}

// --- Fields of this dialect alone -----------------------------------------------------------------------------------

/** Null means `disabled`; absent, small contexts are compressed. Upstreams of this dialect may know other words. */
function parseTruncation(value: Json | undefined): GenerationRequest['truncation'] {
  return value === null || value === 'disabled' ? 'disabled' : value === 'auto' ? value : undefined;
}

/** Documented fields, and values of them, that only this dialect has. */
function parseExt(body: JsonObject, choice: ToolChoice | undefined): GenerationRequest['ext'] {
  const { truncation } = body;
  const responses: JsonObject = {};
  for (const name of UNMODELLED_FIELDS) setGiven(responses, name, body[name]);
  if (choice === undefined) setGiven(responses, 'tool_choice', body.tool_choice);
  if (parseTruncation(truncation) === undefined) setGiven(responses, 'truncation', truncation);
  return Object.keys(responses).length > 0 ? { responses } : {};
}

function setGiven(target: JsonObject, name: string, value: Json | undefined): void {
  if (value !== undefined && value !== null) target[name] = value;
}
