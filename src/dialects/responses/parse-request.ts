import { invalidRequest } from '../../ir/errors.ts';
import type { Item, Part } from '../../ir/items.ts';
import { Places } from '../../ir/places.ts';
import type {
  Effort,
  GenerationRequest,
  OutputFormat,
  ReasoningSettings,
  Sampling,
  Tool,
} from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json.ts';
import { lookUp } from '../../kit/lookup.ts';
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
} from '../../kit/members.ts';
import type { Issue } from '../../kit/validate.ts';
import type { ParseContext } from '../dialect.ts';
import { ADDITIONAL_TOOL_MARK } from '../foreign-members.ts';
import { modelList, parseCacheMark, parseWishes } from '../gateway-fields.ts';
import { checkSemantics } from '../semantics.ts';

import { inputPlace } from './input-place.ts';
import { parseItem } from './parse-items.ts';
import { parseToolChoice, parseTools } from './parse-tools.ts';
import {
  DOCUMENTED_FIELDS,
  INCLUDE_LOGPROBS,
  REASONING_FIELDS,
  TEXT_FIELDS,
  UNMODELLED_FIELDS,
} from './wire.ts';
import { isOperatorItem, KNOWN_ITEM_TYPES } from './wire-items.ts';

/** Reads a validated body. */
export function parseRequest(body: JsonObject, _context: ParseContext): GenerationRequest {
  refuseMissing(body);
  const issues = [...statefulIssues(body), ...sourceIssues(body)];
  if (issues.length > 0) throw invalidRequest(issues);

  const places = new Places();
  const include = stringsAt(body, 'include');
  const text = objectAt(body, 'text') ?? {};
  const models = modelList(body.model, body.models);
  const request: GenerationRequest = compact({
    format: 'responses',
    body,
    models,
    hasFallbackModels: (stringsAt(body, 'models') ?? []).length > 0,
    items: parseInput(body, places),
    tools: [...parseTools(objectsAt(body, 'tools'), 'tools', places), ...additionalTools(body, places)],
    toolChoice: parseToolChoice(body.tool_choice),
    parallelToolCalls: booleanAt(body, 'parallel_tool_calls'),
    sampling: parseSampling(body, include),
    maxOutputTokens: numberAt(body, 'max_output_tokens'),
    reasoning: parseReasoningSettings(objectAt(body, 'reasoning')),
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
    truncation: stringAt(body, 'truncation') as 'auto' | 'disabled' | undefined,
    include,
    stream: body.stream === true,
    echoUpstreamBody: body.stream === true && objectAt(body, 'debug')?.echo_upstream_body === true,
    wishes: parseWishes(body),
    ext: parseUnmodelled(body),
    places,
    unknownFields: unknownFieldsOf(body),
  });
  checkSemantics(request, { toolChoice: 'tool_choice', budget: 'reasoning.max_tokens' });
  return request;
}

/**
 * Items of kinds that nobody documents: upstreams of this dialect may know them, for all others they are an error.
 * A kind with an operator's prefix (`<vendor>:web_search`) is always accepted.
 */
export function unknownItemIssues(request: GenerationRequest): Issue[] {
  if (request.format !== 'responses') return [];
  return objectsOf(request.body.input).flatMap((item, index) => {
    const type = stringAt(item, 'type') ?? 'message';
    if (KNOWN_ITEM_TYPES.has(type) || isOperatorItem(type)) return [];
    return [
      {
        path: `${inputPlace(request.body, index)}.type`,
        message: `${JSON.stringify(type.slice(0, 64))} is not a known item type`,
      },
    ];
  });
}

function refuseMissing(body: JsonObject): void {
  const issues: Issue[] = [];
  if (modelList(body.model, body.models).length === 0) issues.push({ path: 'model', message: 'is required' });
  if (body.input === undefined || body.input === null) {
    issues.push({ path: 'input', message: 'is required' });
  } else if (body.input === '' || (Array.isArray(body.input) && body.input.length === 0)) {
    issues.push({ path: 'input', message: 'must not be empty' });
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Fields and items that only a service with a memory could honour. */
function statefulIssues(body: JsonObject): Issue[] {
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
  for (const [index, item] of objectsOf(body.input).entries()) {
    if (item.type === 'item_reference') {
      const message = 'item_reference is not supported: nothing is stored here, send the item itself';
      issues.push({ path: `${inputPlace(body, index)}.type`, message });
    }
  }
  return issues;
}

/** Images and files that do not say where they are. */
function sourceIssues(body: JsonObject): Issue[] {
  return objectsOf(body.input).flatMap((item, index) =>
    ['content', 'output'].flatMap((field) =>
      objectsAt(item, field).flatMap((part, place) => {
        const names = lookUp(SOURCE_FIELDS, stringAt(part, 'type') ?? '');
        if (names === undefined || names.some((name) => stringAt(part, name))) return [];
        const path = `${inputPlace(body, index)}.${field}[${place}].${names[0]}`;
        return [{ path, message: `is required, unless ${names.slice(1).join(' or ')} is given` }];
      }),
    ),
  );
}

const SOURCE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  input_image: ['image_url', 'file_id'],
  input_file: ['file_data', 'file_url', 'file_id'],
};

function parseInput(body: JsonObject, places: Places): Item[] {
  const items =
    typeof body.input === 'string'
      ? [textMessage('user', body.input, 'input', places)]
      : objectsOf(body.input).map((value, index) =>
          placeItem(parseItem(value), value, inputPlace(body, index), places),
        );
  const instructions = stringAt(body, 'instructions');
  if (instructions === undefined || instructions === '') return items;
  return [textMessage('system', instructions, 'instructions', places), ...items];
}

function textMessage(role: 'user' | 'system', text: string, path: string, places: Places): Item {
  const part: Part = { type: 'text', text };
  return places.put({ type: 'message', role, content: [places.put(part, path)] }, path);
}

/** Remembers where an item stands, and each of its parts. */
function placeItem(item: Item, value: JsonObject, path: string, places: Places): Item {
  if (item.type === 'message') placeParts(item.content, value.content, `${path}.content`, places);
  if (item.type === 'tool-result') placeParts(item.content, value.output, `${path}.output`, places);
  return places.put(item, path);
}

function placeParts(parts: readonly Part[], written: Json | undefined, path: string, places: Places): void {
  for (const [index, part] of parts.entries()) {
    places.put(part, typeof written === 'string' ? path : `${path}[${index}]`);
  }
}

/** Tools that items declare: other dialects get them like any tool. */
function additionalTools(body: JsonObject, places: Places): Tool[] {
  return objectsOf(body.input).flatMap((item, index) => {
    if (item.type !== 'additional_tools') return [];
    const path = `${inputPlace(body, index)}.tools`;
    return parseTools(objectsAt(item, 'tools'), path, places)
      .filter((tool) => tool.type !== 'hosted')
      .map((tool) => {
        const ext = { responses: { ...tool.ext?.responses, [ADDITIONAL_TOOL_MARK]: true } };
        return places.put({ ...tool, ext }, places.of(tool) ?? path);
      });
  });
}

function parseSampling(body: JsonObject, include: readonly string[] | undefined): Sampling {
  return compact({
    temperature: numberAt(body, 'temperature'),
    topP: numberAt(body, 'top_p'),
    topK: numberAt(body, 'top_k'),
    frequencyPenalty: numberAt(body, 'frequency_penalty'),
    presencePenalty: numberAt(body, 'presence_penalty'),
    logprobs: include?.includes(INCLUDE_LOGPROBS) ? true : undefined,
    topLogprobs: numberAt(body, 'top_logprobs'),
  });
}

function parseReasoningSettings(value: JsonObject | undefined): ReasoningSettings | undefined {
  if (value === undefined) return undefined;
  return compact({
    effort: stringAt(value, 'effort') as Effort | undefined,
    budgetTokens: numberAt(value, 'max_tokens'),
    enabled: booleanAt(value, 'enabled'),
    exclude: booleanAt(value, 'exclude'),
    summary: stringAt(value, 'summary'),
    context: stringAt(value, 'context'),
    mode: stringAt(value, 'mode'),
  });
}

function parseOutputFormat(value: JsonObject | undefined): OutputFormat | undefined {
  switch (value?.type) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema':
      return compact<OutputFormat>({
        type: 'json-schema',
        name: stringAt(value, 'name') ?? '',
        schema: objectAt(value, 'schema') ?? {},
        description: stringAt(value, 'description'),
        strict: booleanAt(value, 'strict'),
      });
    default:
      return undefined;
  }
}

function parseUnmodelled(body: JsonObject): GenerationRequest['ext'] {
  const fields = withoutNulls(Object.fromEntries(UNMODELLED_FIELDS.map((name) => [name, body[name]])));
  return Object.keys(fields).length > 0 ? { responses: fields } : {};
}

/** What no format documents, top-level or inside the settings objects; null is as good as absent. */
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
