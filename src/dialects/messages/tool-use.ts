import type { ItemHead } from '../../ir/events.ts';
import type { ToolCallItem } from '../../ir/items.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json.ts';
import { flatToolName } from '../tool-names.ts';

/** Tool calls as blocks, for callers and for upstreams. */

/** An id as this format allows it. The same id always gives the same one, so calls and results still pair. */
export function toolUseId(callId: string): string {
  const plain = callId.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 128);
  return plain === '' ? 'toolu_0' : plain;
}

type CallHead = Extract<ItemHead, { type: 'tool-call' }>;

/** The block of a call for its caller, its input still empty. Only a group has to become part of the name. */
export function toolUseBlock(call: CallHead | ToolCallItem): JsonObject {
  return {
    type: 'tool_use',
    id: toolUseId(call.callId),
    name: call.namespace === undefined ? call.name : flatToolName(call.name, call.namespace),
    input: {},
    caller: { type: 'direct' },
    ...call.ext?.messages,
  };
}

/** The input as an object; undefined when the text is no JSON object. */
export function inputObject(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const reading = readJson(text);
  return reading.ok && isJsonObject(reading.value) ? reading.value : undefined;
}
