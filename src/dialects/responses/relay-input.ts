import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { stringAt } from '../../kit/members.ts';
import { labelOfResult, WITHOUT_CALL } from '../pair-calls.ts';
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

/**
 * The input without the gateway's own items, members and marks, without seals of other families, and without results
 * that answer no call.
 */
export function relayInput(body: JsonObject, report: Report): Json | undefined {
  const orphans = resultsWithoutCall(body.input);
  return changeEach(body.input, (item, index) => {
    const place = inputPlace(body, index);
    return relayItem(orphans.has(item) ? asSaid(item, place, report) : item, place, report);
  });
}

const RESULT_TYPES: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output']);

/** What earlier turns were pressed into may hold the calls. */
const COMPACTIONS: ReadonlySet<string> = new Set(['compaction', 'context_compaction']);

function resultsWithoutCall(input: Json | undefined): ReadonlySet<JsonObject> {
  const orphans = new Set<JsonObject>();
  const called = new Set<string>();
  for (const item of Array.isArray(input) ? input : []) {
    if (!isJsonObject(item)) continue;
    const type = stringAt(item, 'type') ?? '';
    if (COMPACTIONS.has(type)) return new Set();
    const callId = stringAt(item, 'call_id') ?? '';
    if (CALL_TYPES.has(type)) called.add(callId);
    else if (RESULT_TYPES.has(type) && !called.has(callId)) orphans.add(item);
  }
  return orphans;
}

function asSaid({ call_id: callId, output }: JsonObject, place: string, report: Report): JsonObject {
  report.coerced(place, WITHOUT_CALL);
  const said = Array.isArray(output) ? output : [{ type: 'input_text', text: output ?? '' }];
  const label = { type: 'input_text', text: labelOfResult(String(callId), false) };
  return { type: 'message', role: 'user', content: [label, ...said] };
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
