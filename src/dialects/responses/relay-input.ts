import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { stringAt } from '../../kit/members.ts';
import type { Report } from '../report.ts';

import { parseReasoning } from './parse-items.ts';
import { renderItem } from './render-items.ts';
import { isOperatorItem } from './wire-items.ts';

/**
 * What must change in the caller's own `input` and `tools` before an upstream of this dialect may see them. Everything
 * else stays as it came; lists in which nothing changes are passed on themselves.
 */

/** The input without the gateway's own items, members and marks, and without seals of other families. */
export function relayInput(input: Json | undefined, report: Report): Json | undefined {
  return changeEach(input, 'input', (item, place) => relayItem(item, place, report));
}

function relayItem(item: JsonObject, place: string, report: Report): JsonObject | undefined {
  const type = stringAt(item, 'type') ?? 'message';
  if (isOperatorItem(type)) {
    report.dropped(place, `the upstream has no place for ${type}`);
    return undefined;
  }
  if (type === 'reasoning') return relayReasoning(item, place, report);
  if (type === 'function_call' && item.signature !== undefined)
    return without(item, ['signature'], place, report);
  for (const field of ['content', 'output']) {
    const parts = item[field];
    const changed = changeEach(parts, `${place}.${field}`, (part, partPlace) =>
      part.cache_control === undefined ? part : without(part, ['cache_control'], partPlace, report),
    );
    if (changed !== parts) return { ...item, [field]: changed };
  }
  return item;
}

/** Members of reasoning items that upstreams of this dialect do not know. */
const GATEWAY_REASONING_MEMBERS = ['signature', 'format'];

function relayReasoning(item: JsonObject, place: string, report: Report): JsonObject | undefined {
  if (
    item.encrypted_content === undefined &&
    !GATEWAY_REASONING_MEMBERS.some((name) => Object.hasOwn(item, name))
  ) {
    return item;
  }
  return renderItem(parseReasoning(item), place, report);
}

/** Members of hosted search tools that speak to the gateway. */
const GATEWAY_TOOL_MEMBERS = ['engine', 'max_results', 'max_uses', 'mode'];

/** The tools without members that only the gateway knows. */
export function relayTools(tools: Json | undefined, report: Report): Json | undefined {
  return changeEach(tools, 'tools', (tool, place) => {
    const type = stringAt(tool, 'type') ?? '';
    const members = type.startsWith('web_search') ? GATEWAY_TOOL_MEMBERS : ['cache_control'];
    return without(tool, members, place, report);
  });
}

/** The object without some members, each of them in the report. */
function without(object: JsonObject, names: readonly string[], place: string, report: Report): JsonObject {
  const present = names.filter((name) => object[name] !== undefined);
  if (present.length === 0) return object;
  const kept = { ...object };
  for (const name of present) {
    delete kept[name];
    if (object[name] !== null) report.dropped(`${place}.${name}`, 'the upstream has no such field');
  }
  return kept;
}

/** Changes the objects of a list; the list itself comes back when nothing changed. */
function changeEach(
  list: Json | undefined,
  name: string,
  change: (object: JsonObject, place: string) => JsonObject | undefined,
): Json | undefined {
  if (!Array.isArray(list)) return list ?? undefined;
  let changed = false;
  const result: Json[] = [];
  for (const [index, member] of list.entries()) {
    const next = isJsonObject(member) ? change(member, `${name}[${index}]`) : member;
    if (next !== member) changed = true;
    if (next !== undefined) result.push(next);
  }
  return changed ? result : list;
}
