import type { CacheMark, Ext, Format, Item, Part } from '../../ir/items.ts';
import type { GenerationRequest, RequestField, Tool } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import type { Report } from '../report.ts';

/**
 * What a request loses because this dialect has no word for it. What is lost or changed while something is rendered
 * is told where it is rendered.
 */

export const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';
export const NO_SUCH_PARAMETER = 'the upstream has no such parameter';
const NO_SUCH_MEMBER = 'the upstream has no such field';

const ABSENT_SAMPLING = ['topA', 'minP', 'repetitionPenalty', 'seed', 'stop', 'logitBias'] as const;

/** Fields of other formats of which only some members are foreign here: each of those is an entry of its own. */
const SPLIT_FIELDS: ReadonlySet<string> = new Set(['output_config', 'metadata']);

/** Reports everything that has no place in this dialect, by the caller's own names. */
export function reportLosses(request: GenerationRequest, report: Report): void {
  for (const field of ABSENT_SAMPLING) {
    if (request.sampling[field] !== undefined) report.dropped(report.name(field), NO_SUCH_PARAMETER);
  }
  if (request.cache !== undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  reportUnknownFields(request, report);
  for (const [name, value] of foreignMembers(request.ext)) {
    const names = SPLIT_FIELDS.has(name) && isJsonObject(value) ? Object.keys(value) : [];
    if (names.length === 0) report.dropped(name, NO_SUCH_PARAMETER);
    for (const member of names) report.dropped(`${name}.${member}`, NO_SUCH_PARAMETER);
  }
  for (const item of request.items) reportItem(item, report);
  for (const tool of request.tools) {
    if (tool.type !== 'hosted') reportThing(tool, 'tools', request.format, report);
  }

  function reportItem(item: Item, to: Report): void {
    if (item.type === 'opaque') return;
    reportThing(item, 'items', request.format, to);
    if (item.type !== 'message' && item.type !== 'tool-result') return;
    for (const part of item.content) {
      if (part.type !== 'opaque') reportThing(part, 'items', request.format, to);
    }
  }
}

/** A limit on tool calls is sent, whether or not the caller's format documents it. */
function reportUnknownFields({ unknownFields, wishes }: GenerationRequest, report: Report): void {
  for (const name of unknownFields) {
    if (name === 'max_tool_calls' && wishes.maxToolCalls !== undefined) continue;
    report.dropped(name, 'is not known to this gateway, and not sent to an upstream of another format');
  }
}

type Thing = Exclude<Item | Part | Tool, { type: 'opaque' | 'hosted' }>;

function reportThing(thing: Thing, field: RequestField, format: Format, report: Report): void {
  const { cache, ext }: { cache?: CacheMark; ext?: Ext } = thing;
  if (cache !== undefined) report.dropped(report.place(thing, field, 'cache_control'), NO_CACHE_MARKS);
  for (const [name, value] of foreignMembers(ext ?? {})) {
    if (!saysNothing(name, value)) report.dropped(report.place(thing, field, name), NO_SUCH_MEMBER);
  }
}

function foreignMembers(ext: Ext): [string, Json][] {
  return Object.entries(ext).flatMap(([dialect, fields]) =>
    dialect === 'responses' ? [] : (Object.entries(fields ?? {}) as [string, Json][]),
  );
}

/** Members with these values mean the same as their absence. Clients replay them with every item. */
const DEFAULTS: Readonly<Record<string, (value: JsonObject) => boolean>> = {
  caller: ({ type }) => type === 'direct',
  citations: ({ enabled }) => enabled !== true,
};

function saysNothing(name: string, value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.hasOwn(DEFAULTS, name) && DEFAULTS[name]?.(value) === true;
}
