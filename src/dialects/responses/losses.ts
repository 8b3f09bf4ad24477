import type { CacheMark, Ext, Item, Part } from '../../ir/items.ts';
import type { GenerationRequest, RequestField, Tool } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { lookUp } from '../../kit/lookup.ts';
import type { Report } from '../report.ts';
import { isInItem } from './wire.ts';

/**
 * What a request loses because this dialect has no word for it. What is lost or changed while something is rendered
 * is told where it is rendered.
 */

export const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';
export const NO_SUCH_PARAMETER = 'the upstream has no such parameter';
const NO_SUCH_MEMBER = 'the upstream has no such field';

const ABSENT_SAMPLING = ['topA', 'minP', 'repetitionPenalty', 'seed', 'stop', 'logitBias'] as const;

/** Fields of other formats of which only some members are foreign here: each of those is an entry of its own. */
const SPLIT_FIELDS: ReadonlySet<string> = new Set(['output_config', 'metadata', 'stream_options']);

/** Reports everything that has no place in this dialect, by the caller's own names. */
export function reportLosses(request: GenerationRequest, report: Report): void {
  for (const field of ABSENT_SAMPLING) {
    if (request.sampling[field] !== undefined) report.dropped(report.name(field), NO_SUCH_PARAMETER);
  }
  if (request.cache !== undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  reportUnknownFields(request, report);
  reportForeignFields(request.ext, report);
  for (const item of request.items) reportItem(item, report);
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
  for (const [name, value] of foreignMembers(ext)) {
    const isSplit = SPLIT_FIELDS.has(name) && isJsonObject(value);
    const lost = isSplit ? Object.keys(value).map((member) => `${name}.${member}`) : [name];
    for (const field of lost) report.dropped(field, NO_SUCH_PARAMETER);
  }
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
  if (value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && lookUp(DEFAULTS, name)?.(value) === true;
}
