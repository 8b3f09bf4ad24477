import type { CacheMark, Ext, Item, Part } from '../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import { foreignFieldPaths, foreignMembers } from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';
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
