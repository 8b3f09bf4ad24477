import type { CacheMark, Ext, Item, Part } from '../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { RequestField, Sampling } from '../../ir/settings.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt, stringsAt } from '../../kit/json/members.ts';
import { foreignFieldPaths, foreignMembers } from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';
import { INCLUDE_LOGPROBS } from '../shared/requests/include-values.ts';
import { reasoningNames } from './reasoning.ts';
import { isInItem } from './wire.ts';

/**
 * What a request loses because this dialect has no word for it. What is lost or changed while something is rendered
 * is told where it is rendered.
 */

export const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';
export const NO_SUCH_PARAMETER = 'the upstream has no such parameter';
const NO_SUCH_MEMBER = 'the upstream has no such field';

const ABSENT_SAMPLING = ['topA', 'minP', 'repetitionPenalty', 'seed', 'stop', 'logitBias'] as const;

/** Reports everything that has no place in this dialect, by the caller's own names. */
export function reportLosses(request: GenerationRequest, report: Report): void {
  for (const field of ABSENT_SAMPLING) {
    if (request.sampling[field] !== undefined) report.dropped(report.name(field), NO_SUCH_PARAMETER);
  }
  if (request.cache !== undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  reportUnknownFields(request, report);
  reportForeignFields(request.ext, report);
  for (const item of request.items) {
    reportItem(item, report);
  }
  for (const tool of request.tools) {
    if (tool.type !== 'hosted' && !isInItem(tool)) reportThing(tool, 'tools', report);
  }
}

/** A limit on tool calls is sent, whether or not the caller's format documents it. */
function reportUnknownFields({ unknownFields, wishes }: GenerationRequest, report: Report): void {
  for (const name of unknownFields) {
    if (name === 'max_tool_calls' && wishes.maxToolCalls !== undefined) continue;
    report.dropped(name, 'has no meaning to this upstream, and is not sent');
  }
}

function reportForeignFields(ext: Ext, report: Report): void {
  for (const path of foreignFieldPaths(ext, 'responses')) report.dropped(path, NO_SUCH_PARAMETER);
}

function reportItem(item: Item, report: Report): void {
  if (item.type === 'opaque') return;
  reportThing(item, 'items', report);
  if (item.type !== 'message' && item.type !== 'tool-result') return;
  for (const part of item.content) {
    if (part.type !== 'opaque') reportThing(part, 'items', report);
  }
}

type Thing = Exclude<Item | Part | Tool, { type: 'opaque' | 'hosted' }>;

function reportThing(thing: Thing, field: RequestField, report: Report): void {
  const { cache, ext }: { cache?: CacheMark; ext?: Ext } = thing;
  if (cache !== undefined) report.dropped(report.place(thing, field, 'cache_control'), NO_CACHE_MARKS);
  for (const [name] of foreignMembers(ext, 'responses')) {
    report.dropped(report.place(thing, field, name), NO_SUCH_MEMBER);
  }
}

// --- Parameters that the endpoint does not take ---------------------------------------------------------------------

type ToolField = 'tools' | 'toolChoice' | 'parallelToolCalls';
type Setting = keyof Sampling | ToolField | 'reasoning' | 'outputFormat' | 'verbosity';

/** Settings, each with the parameters any of which an endpoint must list to be sent it. */
const PARAMETERS: readonly (readonly [Setting, readonly string[]])[] = [
  ['temperature', ['temperature']],
  ['topP', ['top_p']],
  ['topK', ['top_k']],
  ['frequencyPenalty', ['frequency_penalty']],
  ['presencePenalty', ['presence_penalty']],
  ['logprobs', ['logprobs', 'top_logprobs']],
  ['topLogprobs', ['top_logprobs']],
  ['tools', ['tools']],
  ['toolChoice', ['tool_choice']],
  ['parallelToolCalls', ['parallel_tool_calls', 'tools']],
  ['reasoning', ['reasoning', 'include_reasoning']],
  ['outputFormat', ['response_format', 'structured_outputs']],
  ['verbosity', ['verbosity']],
];

/**
 * The request without the parameters that the endpoint does not take, in the representation and in the caller's body.
 * Comes before everything else, so that nothing is reported of what is not sent. The output limit always stays: without
 * it an answer could cost more than the caller allowed.
 */
export function withoutUnsupported(
  request: GenerationRequest,
  supported: ReadonlySet<string> | undefined,
  report: Report,
): GenerationRequest {
  if (supported === undefined) return request;
  let kept = request;
  for (const [setting, parameters] of PARAMETERS) {
    const lacksTools = isAboutTools(setting) && kept.tools.length < request.tools.length;
    const isTaken = !lacksTools && parameters.some((name) => supported.has(name));
    if (isTaken || !isGiven(kept, setting)) continue;
    for (const name of namesOf(request, setting, report)) {
      report.dropped(name, 'the endpoint does not take this parameter');
    }
    kept = withoutSetting(kept, setting, report);
  }
  return kept;
}

function isAboutTools(setting: Setting): boolean {
  return setting === 'toolChoice' || setting === 'parallelToolCalls';
}

/** Plain text is what every endpoint answers in: asking for it is asking for nothing. */
function isGiven(request: GenerationRequest, setting: Setting): boolean {
  switch (setting) {
    case 'tools':
      return request.tools.length > 0;
    case 'logprobs':
      return request.sampling.logprobs === true;
    case 'outputFormat':
      return request.outputFormat !== undefined && request.outputFormat.type !== 'text';
    case 'toolChoice':
    case 'parallelToolCalls':
    case 'reasoning':
    case 'verbosity':
      return request[setting] !== undefined;
    default:
      return request.sampling[setting] !== undefined;
  }
}

function namesOf(request: GenerationRequest, setting: Setting, report: Report): string[] {
  if (setting === 'reasoning') return reasoningNames(request, report);
  if (setting === 'logprobs' && request.formatFacts.asksLogprobsInInclude === true) return ['include'];
  return [report.name(setting)];
}

function withoutSetting(request: GenerationRequest, setting: Setting, report: Report): GenerationRequest {
  const { sampling } = request;
  const body = request.format === 'responses' ? bodyWithout(request.body, setting, report) : request.body;
  switch (setting) {
    case 'tools':
      return { ...request, body, tools: [] };
    case 'toolChoice':
    case 'parallelToolCalls':
    case 'reasoning':
    case 'outputFormat':
    case 'verbosity':
      return { ...request, body, [setting]: undefined };
    case 'logprobs':
      return {
        ...request,
        body,
        sampling: { ...sampling, logprobs: undefined },
        include: includeOf(request),
      };
    default:
      return { ...request, body, sampling: { ...sampling, [setting]: undefined } };
  }
}

function includeOf({ include }: GenerationRequest): string[] | undefined {
  return include?.filter((name) => name !== INCLUDE_LOGPROBS);
}

/** The caller's names of settings are the paths of this format's own body. */
function bodyWithout(body: JsonObject, setting: Setting, report: Report): JsonObject {
  if (setting === 'logprobs') {
    const include = stringsAt(body, 'include')?.filter((name) => name !== INCLUDE_LOGPROBS) ?? [];
    return { ...body, include: include.length > 0 ? include : null };
  }
  const [field = '', member] = report.name(setting).split('.');
  if (member === undefined) return { ...body, [field]: null };
  const { [member]: _removed, ...rest } = objectAt(body, field) ?? {};
  return { ...body, [field]: Object.keys(rest).length > 0 ? rest : null };
}

// --- Members that only the gateway reads ----------------------------------------------------------------------------

/**
 * Members of the caller's own items and tools that speak to the gateway: upstreams of this dialect do not know them.
 * What has none of them comes back as it is, the very same object.
 */

/** The object without some members, each of them in the report. */
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
    if (object[name] !== null)
      report.dropped(`${place}.${name}`, lookUp(DETAILS, name) ?? 'the upstream has no such field');
  }
  return kept;
}

const DETAILS: Readonly<Record<string, string>> = { cache_control: NO_CACHE_MARKS };

/** Members of hosted search tools that speak to the gateway. */
const SEARCH_MEMBERS = ['engine', 'max_results', 'max_uses', 'mode'];

/** One tool, or a group of tools, without members that only the gateway knows. */
export function cleanTool(tool: JsonObject, place: string, report: Report): JsonObject {
  const type = stringAt(tool, 'type') ?? '';
  if (type === 'namespace') return cleanList(tool, 'tools', cleanTool, place, report);
  const members = type.startsWith('web_search') ? SEARCH_MEMBERS : ['cache_control'];
  return withoutMembers(tool, members, place, report);
}

/** One item without members that only the gateway knows. */
export function cleanItem(item: JsonObject, place: string, report: Report): JsonObject {
  if (item.type === 'additional_tools') return cleanList(item, 'tools', cleanTool, place, report);
  const content = cleanList(item, 'content', cleanPart, place, report);
  return cleanList(content, 'output', cleanPart, place, report);
}

function cleanPart(part: JsonObject, place: string, report: Report): JsonObject {
  return withoutMembers(part, ['cache_control'], place, report);
}

type Clean = (object: JsonObject, place: string, report: Report) => JsonObject;

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

/** Changes the objects of a list, each to another, to several, or to none. */
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
