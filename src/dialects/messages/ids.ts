import { hash } from 'node:crypto';
import type { ItemHead } from '../../ir/events.ts';
import type { ToolCallItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { flatToolName } from '../shared/tools/tool-names.ts';

/** Tool calls as blocks, for callers and for upstreams. */

const PLAIN_ID = /^[a-zA-Z0-9_-]{1,128}$/;

/** Characters of a digest that keep made ids apart, and of the id before them. */
const DIGEST_LENGTH = 12;
const LONGEST_STEM = 128 - 1 - DIGEST_LENGTH;

/**
 * An id as this format allows it. The same id always gives the same one, whatever else the conversation holds, so calls
 * and results still pair and caches still match; a digest keeps ids apart that come out alike.
 */
export function toolUseId(callId: string): string {
  if (PLAIN_ID.test(callId)) return callId;
  const stem = callId.slice(0, LONGEST_STEM).replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${stem === '' ? 'toolu' : stem}_${hash('sha256', callId).slice(0, DIGEST_LENGTH)}`;
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
