import { conversationForm } from '../../ir/format-facts.ts';
import type { Item } from '../../ir/items.ts';
import type { FurtherField, Quirks } from '../../ir/quirks.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt, stringAt, stringsAt } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import { INCLUDE_LOGPROBS } from '../shared/include-values.ts';
import {
  dropped,
  type FieldFates,
  fieldValue,
  isTaken,
  NO_FIELD,
  NOT_TAKEN,
  rendered,
  renderedIfListed,
  reportDroppedFields,
} from '../shared/report/field-fates.ts';
import {
  foreignMemberReport,
  reportForeignFields,
  reportUnknownFields,
} from '../shared/report/foreign-members.ts';
import { REQUEST_FIELDS, type Report } from '../shared/report/report.ts';
import {
  ADDING_TOOLS,
  ADDITIONAL_TOOLS,
  CALLABLE_TOOLS,
  isCallable,
  isOfAnswer,
  isVendorType,
} from '../shared/tools/additional-tools.ts';
import { SHELL_CALLS } from './local-shells.ts';
import { reasoningNames } from './reasoning.ts';
import { GATEWAY_FIELDS, isInItem } from './wire.ts';

export const NO_SUCH_PARAMETER = 'the upstream has no such parameter';
export const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';

// --- Fields of the request ------------------------------------------------------------------------------------------

const FATES: FieldFates = {
  temperature: rendered('temperature'),
  topP: rendered('top_p'),
  topK: renderedIfListed('top_k'),
  topA: dropped(NO_SUCH_PARAMETER),
  minP: dropped(NO_SUCH_PARAMETER),
  frequencyPenalty: rendered('frequency_penalty'),
  presencePenalty: rendered('presence_penalty'),
  repetitionPenalty: dropped(NO_SUCH_PARAMETER),
  seed: dropped(NO_SUCH_PARAMETER),
  stop: dropped(NO_SUCH_PARAMETER),
  logitBias: dropped(NO_SUCH_PARAMETER),
  logprobs: rendered('logprobs', 'top_logprobs'),
  topLogprobs: rendered('top_logprobs'),
  requestedOutputTokens: rendered(),
  tools: rendered('tools'),
  toolChoice: rendered('tool_choice'),
  parallelToolCalls: rendered('parallel_tool_calls', 'tools'),
  reasoning: rendered('reasoning', 'include_reasoning'),
  outputFormat: rendered('response_format', 'structured_outputs'),
  verbosity: rendered('verbosity'),
  imageConfig: rendered(),
  promptCacheKey: rendered(),
  promptCacheOptions: rendered(),
  metadata: rendered(),
  modalities: rendered(),
  cache: dropped(NO_CACHE_MARKS),
  serviceTier: rendered(),
  speed: rendered(),
  truncation: rendered(),
  include: rendered(),
  items: rendered(),
};

/** Fates of fields at providers that take them. */
const FURTHER_FATES: Readonly<Record<FurtherField, Partial<FieldFates>>> = {
  seed: { seed: rendered('seed') },
  top_k: { topK: rendered('top_k') },
  min_p: { minP: rendered('min_p') },
};

/** Fates at providers with further fields, made once. */
const FATES_BY_QUIRKS = new WeakMap<Quirks, FieldFates>();

function fatesAt({ quirks }: RenderTarget): FieldFates {
  if (quirks?.furtherFields === undefined) return FATES;
  const known = FATES_BY_QUIRKS.get(quirks);
  if (known !== undefined) return known;
  const fates = Object.assign({}, FATES, ...quirks.furtherFields.map((name) => FURTHER_FATES[name]));
  FATES_BY_QUIRKS.set(quirks, fates);
  return fates;
}

export function takes(field: RequestField, target: RenderTarget): boolean {
  return isTaken(fatesAt(target)[field], target);
}

/** Reports the fields, and the members of items and tools, that the upstream does not have. */
export function reportLosses(request: GenerationRequest, target: RenderTarget, report: Report): void {
  reportDroppedFields(request, fatesAt(target), report);
  // A limit on tool calls is sent, whether or not the caller's format documents it.
  const isSent = (field: string) =>
    (field === 'max_tool_calls' && request.wishes.maxToolCalls !== undefined) ||
    (request.format === 'responses' && !GATEWAY_FIELDS.has(field));
  reportUnknownFields(request, (field) => (isSent(field) ? undefined : UNKNOWN), report);
  reportForeignFields(request, 'responses', NO_SUCH_PARAMETER, report);
  for (const item of request.items) reportItem(item, report);
  for (const tool of request.tools) {
    if (tool.type !== 'hosted' && !isInItem(tool)) reportForeignMembers(tool, 'tools', report);
  }
}

const UNKNOWN = 'has no meaning to this upstream, and is not sent';

// --- Members of items, parts and tools ------------------------------------------------------------------------------

const reportForeignMembers = foreignMemberReport('responses', NO_FIELD, NO_CACHE_MARKS);

function reportItem(item: Item, report: Report): void {
  if (item.type === 'opaque') return;
  reportForeignMembers(item, 'items', report);
  if (item.type !== 'message' && item.type !== 'tool-result') return;
  for (const part of item.content) {
    if (part.type !== 'opaque') reportForeignMembers(part, 'items', report);
  }
}

// --- Fields that the endpoint does not take -------------------------------------------------------------------------

/**
 * The request without fields that the endpoint does not take, in the representation and in the caller's body. Runs
 * first, so that nothing is reported of fields that are not sent.
 */
export function withoutUnsupported(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): GenerationRequest {
  if (target.supportedParameters === undefined) return request;
  const fates = fatesAt(target);
  let kept = request;
  for (const field of REQUEST_FIELDS) {
    const lacksTools = isAboutTools(field) && kept.tools.length < request.tools.length;
    const isKept = fates[field].fate !== 'rendered' || (!lacksTools && isTaken(fates[field], target));
    if (isKept || !isGiven(kept, field)) continue;
    for (const name of namesOf(request, field, report)) report.dropped(name, NOT_TAKEN);
    kept = withoutField(kept, field, report);
  }
  return kept;
}

function isAboutTools(field: RequestField): boolean {
  return field === 'toolChoice' || field === 'parallelToolCalls';
}

/** Plain text is the default output of every endpoint: requesting it has no effect. */
function isGiven(request: GenerationRequest, field: RequestField): boolean {
  switch (field) {
    case 'tools':
      return request.tools.length > 0;
    case 'logprobs':
      return request.sampling.logprobs === true;
    case 'outputFormat':
      return request.outputFormat !== undefined && request.outputFormat.type !== 'text';
    default:
      return fieldValue(request, field) !== undefined;
  }
}

function namesOf(request: GenerationRequest, field: RequestField, report: Report): string[] {
  if (field === 'reasoning') return reasoningNames(request, report);
  if (field === 'logprobs' && conversationForm(request.formatFacts).asksLogprobsInInclude === true)
    return ['include'];
  return [report.name(field)];
}

function withoutField(request: GenerationRequest, field: RequestField, report: Report): GenerationRequest {
  const { sampling } = request;
  const body = request.format === 'responses' ? bodyWithout(request.body, field, report) : request.body;
  if (field === 'tools') return { ...request, body, tools: [] };
  if (!Object.hasOwn(sampling, field)) return { ...request, body, [field]: undefined };
  const kept = { ...request, body, sampling: { ...sampling, [field]: undefined } };
  return field === 'logprobs' ? { ...kept, include: includeOf(request) } : kept;
}

function includeOf({ include }: GenerationRequest): string[] | undefined {
  return include?.filter((name) => name !== INCLUDE_LOGPROBS);
}

/** The caller's names of fields are paths in this format's own body. */
function bodyWithout(body: JsonObject, lost: RequestField, report: Report): JsonObject {
  if (lost === 'logprobs') {
    const include = stringsAt(body, 'include')?.filter((name) => name !== INCLUDE_LOGPROBS) ?? [];
    return { ...body, include: include.length > 0 ? include : null };
  }
  const [field = '', member] = report.name(lost).split('.');
  if (member === undefined) return { ...body, [field]: null };
  const { [member]: _removed, ...rest } = objectAt(body, field) ?? {};
  return { ...body, [field]: Object.keys(rest).length > 0 ? rest : null };
}

// --- Members that only the gateway reads ----------------------------------------------------------------------------

/**
 * Members of the caller's own items and tools for the gateway: upstreams of this dialect do not know them. An object
 * without any is returned itself.
 */

/** The object without some members; reports each of them. */
export function withoutMembers(
  object: JsonObject,
  names: readonly string[],
  place: string,
  report: Report,
): JsonObject {
  const present = names.filter((name) => object[name] !== undefined);
  if (present.length === 0) return object;
  const kept = { ...object };
  for (const name of present) {
    delete kept[name];
    if (object[name] !== null) report.dropped(`${place}.${name}`, lookUp(DETAILS, name) ?? NO_FIELD);
  }
  return kept;
}

const DETAILS: Readonly<Record<string, string>> = { cache_control: NO_CACHE_MARKS };

/** Members of hosted search tools for the gateway. */
const SEARCH_MEMBERS = ['engine', 'max_results', 'max_uses', 'mode'];

/** One tool, or a group of tools, without members that only the gateway knows. */
export function cleanTool(tool: JsonObject, place: string, report: Report): JsonObject {
  const type = stringAt(tool, 'type') ?? '';
  if (type === 'namespace') return cleanList(tool, 'tools', cleanTool, place, report);
  const members = type.startsWith('web_search') ? SEARCH_MEMBERS : ['cache_control'];
  return withoutMembers(tool, members, place, report);
}

/** Which tools of an item that callers do not run go upstream in it. */
type IsKept = (type: string) => boolean;

/**
 * One item without members that only the gateway knows; undefined = nothing of it is left. Tools of vendors are
 * reported among those of the request, and tools that do not count when it is parsed.
 */
export function cleanItem(
  item: JsonObject,
  place: string,
  report: Report,
  isKept: IsKept = (type) => !isVendorType(type),
): JsonObject | undefined {
  const { type } = item;
  if (ADDING_TOOLS.has(type)) {
    if (type !== ADDITIONAL_TOOLS) return cleanFoundTools(item, place, report);
    const isForCallers = isOfAnswer(item);
    const isSent = (tool: JsonObject) =>
      isCallable(tool) ||
      (!isForCallers && !CALLABLE_TOOLS.has(tool.type) && isKept(stringAt(tool, 'type') ?? ''));
    const cleaned = cleanAddedTools(item, isSent, place, report);
    const isEmptied = cleaned !== item && objectsAt(cleaned, 'tools').length === 0;
    return isEmptied ? undefined : cleaned;
  }
  if (typeof type === 'string' && SHELL_CALLS.has(type)) {
    return withoutMembers(item, ['signature'], place, report);
  }
  const content = cleanList(item, 'content', cleanPart, place, report);
  return cleanList(content, 'output', cleanPart, place, report);
}

/**
 * The tools of a search, which hosted ones are not found by: they would be neither priced nor reserved for. Calls of an
 * MCP server cost only tokens.
 */
function cleanFoundTools(item: JsonObject, place: string, report: Report): JsonObject {
  const isSent = (tool: JsonObject, at: string) => {
    if (isCallable(tool) || tool.type === 'mcp') return true;
    report.dropped(at, 'a search finds only tools that the caller or an MCP server runs');
    return false;
  };
  return cleanAddedTools(item, isSent, place, report);
}

function cleanAddedTools(
  object: JsonObject,
  isSent: (tool: JsonObject, at: string) => boolean,
  place: string,
  report: Report,
): JsonObject {
  const clean: Clean = (tool, at) => {
    if (!isSent(tool, at)) return undefined;
    return tool.type === 'namespace'
      ? cleanAddedTools(tool, isSent, at, report)
      : cleanTool(tool, at, report);
  };
  return cleanList(object, 'tools', clean, place, report);
}

function cleanPart(part: JsonObject, place: string, report: Report): JsonObject {
  return withoutMembers(part, ['cache_control'], place, report);
}

type Clean = (object: JsonObject, place: string, report: Report) => JsonObject | undefined;

function cleanList(
  object: JsonObject,
  field: string,
  clean: Clean,
  place: string,
  report: Report,
): JsonObject {
  const list = object[field];
  const cleaned = changeEach(list, (member, index) => clean(member, `${place}.${field}[${index}]`, report));
  return cleaned === list ? object : { ...object, [field]: cleaned };
}

type Change = (object: JsonObject, index: number) => JsonObject | readonly JsonObject[] | undefined;

/** Maps the objects of a list, each to another, to several, or to none. */
export function changeEach(list: Json | undefined, change: Change): Json | undefined {
  if (!Array.isArray(list)) return list;
  let changed = false;
  const result: Json[] = [];
  for (const [index, member] of list.entries()) {
    if (!isJsonObject(member)) {
      result.push(member);
      continue;
    }
    const next = change(member, index);
    if (next !== member) changed = true;
    if (isJsonObject(next)) result.push(next);
    else for (const each of next ?? []) result.push(each);
  }
  return changed ? result : list;
}
