import { createHash } from 'node:crypto';
import type { ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import { mcpFunctionName } from '../../ir/mcp-function-name.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectsAt, objectsOf, stringAt } from '../../kit/json/members.ts';
import type { ItemReferences } from '../shared/requests/item-references.ts';
import { withEach } from '../shared/requests/with-each.ts';

/**
 * This format shows no calls of server tools. If an answer has calls of the caller's own functions beside them, what
 * the model got of the server tools is kept under the id of the first of those calls, and comes back to the model when
 * the caller sends that call with its result.
 */

export interface ServerCall {
  readonly callId: string;
  /** The name by which the model called it. */
  readonly name: string;
  readonly input: string;
  readonly output: string;
}

/** Member of a kept item. */
const CALLS = 'gateway_calls';
const BEFORE = 'before';

/** Calls that were found for a message. A symbol, so that callers cannot write it and upstreams do not get it. */
const FOUND = Symbol('calls of server tools that were kept');

type WithFound = JsonObject & { [FOUND]?: readonly ServerCall[] };

/** The name by which a model called a server tool. `shown`: members of the item of the call. */
export function calledName(tool: string, shown: JsonObject | undefined): string {
  const label = stringAt(shown, 'server_label');
  return label === undefined ? tool : mcpFunctionName(label, stringAt(shown, 'name') ?? '');
}

/** The item to keep of an answer with calls of server tools and of the caller's; undefined = it has not both. */
export function keptAnswer(
  { messages }: JsonObject,
  serverCalls: readonly ServerCall[],
  firstCallId: string | undefined,
): JsonObject | undefined {
  if (serverCalls.length === 0 || firstCallId === undefined) return undefined;
  const calls = serverCalls.map((call): JsonObject => ({ ...call }));
  return { id: firstCallId, [BEFORE]: digestOf(objectsOf(messages)), [CALLS]: calls };
}

export function keptCallsOf(message: JsonObject): readonly ServerCall[] {
  return (message as WithFound)[FOUND] ?? NO_CALLS;
}

const NO_CALLS: readonly ServerCall[] = [];

/** Kept calls as items: the calls, and their results. */
export function itemsOfKept(message: JsonObject): {
  readonly calls: readonly ToolCallItem[];
  readonly results: readonly ToolResultItem[];
} {
  const kept = keptCallsOf(message);
  return {
    calls: kept.map(({ callId, name, input }) => ({
      type: 'tool-call',
      kind: 'function',
      callId,
      name,
      input,
    })),
    results: kept.map(({ callId, output }) => ({
      type: 'tool-result',
      kind: 'function',
      callId,
      content: [{ type: 'text', text: output }],
    })),
  };
}

/** The messages with those of kept calls. Returns the same list if there are none. */
export function withKeptMessages(messages: Json | undefined): Json | undefined {
  if (!Array.isArray(messages) || !messages.some((each) => isJsonObject(each) && FOUND in each))
    return messages;
  return messages.flatMap((message): Json[] => {
    const kept = isJsonObject(message) ? keptCallsOf(message) : NO_CALLS;
    if (!isJsonObject(message) || kept.length === 0) return [message];
    const calls = kept.map(({ callId, name, input }) => ({
      id: callId,
      type: 'function',
      function: { name, arguments: input },
    }));
    const results = kept.map(({ callId, output }) => ({
      role: 'tool',
      tool_call_id: callId,
      content: output,
    }));
    return [{ ...message, tool_calls: [...calls, ...objectsAt(message, 'tool_calls')] }, ...results];
  });
}

export const itemReferences: ItemReferences = {
  find: () => [],
  replace: (body) => body,
  shownCalls({ messages }) {
    if (!Array.isArray(messages)) return [];
    return messages.flatMap((message) => firstCallOf(message) ?? []);
  },
  complete(body, items) {
    const messages = objectsOf(body.messages);
    return withEach(body, 'messages', (message, index) => {
      const kept = items.get(firstCallOf(message) ?? '');
      // Some upstreams give the same ids again and again: the conversation before the call must be the same.
      const isMeant = kept !== undefined && kept[BEFORE] === digestOf(messages.slice(0, index));
      return isMeant ? withFound(message, objectsAt(kept, CALLS)) : message;
    });
  },
};

function firstCallOf(message: Json | undefined): string | undefined {
  if (!isJsonObject(message) || message.role !== 'assistant' || !Array.isArray(message.tool_calls)) {
    return undefined;
  }
  return stringAt(objectsOf(message.tool_calls)[0], 'id');
}

function withFound(message: JsonObject, calls: readonly JsonObject[]): JsonObject {
  const found: WithFound = { ...message };
  found[FOUND] = calls.map((call) => ({
    callId: stringAt(call, 'callId') ?? '',
    name: stringAt(call, 'name') ?? '',
    input: stringAt(call, 'input') ?? '',
    output: stringAt(call, 'output') ?? '',
  }));
  return found;
}

/** Identifies a conversation by its roles, texts and calls. Instructions may change from request to request. */
function digestOf(messages: readonly JsonObject[]): string {
  const hash = createHash('sha256');
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') continue;
    const { role, content, tool_call_id: answers } = message;
    const texts = Array.isArray(content) ? objectsOf(content).map(({ text }) => text ?? '') : [content ?? ''];
    const calls = objectsAt(message, 'tool_calls').map(({ id }) => id ?? '');
    hash.update(JSON.stringify([role ?? '', texts.join('\n'), answers ?? '', calls]));
  }
  return hash.digest('base64url');
}
