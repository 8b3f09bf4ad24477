import type { Json, JsonObject } from '../../kit/json.ts';
import { stringAt } from '../../kit/members.ts';
import type { Report } from '../report.ts';
import { changeEach, cleanItem, cleanTool, without } from './gateway-members.ts';
import { inputPlace } from './input-place.ts';
import { parseReasoning } from './parse-items.ts';
import { renderItem } from './render-items.ts';
import { isOperatorItem } from './wire-items.ts';

/**
 * What must change in the caller's own `input` and `tools` before an upstream of this dialect may see them. Everything
 * else stays as it came; lists in which nothing changes are passed on themselves.
 */

/** The input without the gateway's own items, members and marks, and without seals of other families. */
export function relayInput(body: JsonObject, report: Report): Json | undefined {
  return changeEach(body.input, (item, index) => relayItem(item, inputPlace(body, index), report));
}

const CALL_TYPES: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call']);

function relayItem(item: JsonObject, place: string, report: Report): JsonObject | undefined {
  const type = stringAt(item, 'type') ?? 'message';
  if (isOperatorItem(type)) {
    report.dropped(place, `the upstream has no place for ${type}`);
    return undefined;
  }
  if (type === 'reasoning') return relayReasoning(item, place, report);
  return CALL_TYPES.has(type) ? without(item, ['signature'], place, report) : cleanItem(item, place, report);
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
  return renderItem(parseReasoning(item), { place, format: 'responses', report });
}

/** The tools without members that only the gateway knows. */
export function relayTools(tools: Json | undefined, report: Report): Json | undefined {
  return changeEach(tools ?? undefined, (tool, index) => cleanTool(tool, `tools[${index}]`, report));
}
