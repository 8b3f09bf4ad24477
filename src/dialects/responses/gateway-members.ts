import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import { lookUp } from '../../kit/net/lookup.ts';
import type { Report } from '../shared/report/report.ts';
import { NO_CACHE_MARKS } from './render-losses.ts';

/**
 * Members of the caller's own items and tools that speak to the gateway: upstreams of this dialect do not know them.
 * What has none of them comes back as it is, the very same object.
 */

/** The object without some members, each of them in the report. */
export function without(
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
  return without(tool, members, place, report);
}

/** One item without members that only the gateway knows. */
export function cleanItem(item: JsonObject, place: string, report: Report): JsonObject {
  if (item.type === 'additional_tools') return cleanList(item, 'tools', cleanTool, place, report);
  const content = cleanList(item, 'content', cleanPart, place, report);
  return cleanList(content, 'output', cleanPart, place, report);
}

function cleanPart(part: JsonObject, place: string, report: Report): JsonObject {
  return without(part, ['cache_control'], place, report);
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
