import { isJsonObject, type Json, type JsonObject } from '../kit/json/json.ts';
import { objectsAt, objectsOf, stringAt, textAt } from '../kit/json/members.ts';
import type { GenerationContent } from '../ports/content/content.ts';

/** A part of a message. Of pictures, files, sound and film only the kind is known. */
export type MessagePart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly id: Json;
      readonly name: string | null;
      /** Arguments as text: what a model writes need not be JSON. */
      readonly arguments: string;
    }
  | { readonly type: 'tool_call_response'; readonly id: Json; readonly response: string }
  | { readonly type: 'other'; readonly kind: string };

/** A message of any format. */
export interface ContentMessage {
  readonly role: string;
  readonly parts: readonly MessagePart[];
}

export function promptMessages({ input }: Pick<GenerationContent, 'input'>): readonly ContentMessage[] {
  const { prompt, messages } = input;
  if (typeof prompt === 'string') return [{ role: 'user', parts: [textPart(prompt)] }];
  if (Array.isArray(messages)) return messages.flatMap((message) => messageOf(message));
  // Embeddings and decisions have no messages.
  return [{ role: 'user', parts: [textPart(JSON.stringify(input))] }];
}

/** The parts of the answer: thoughts, text, and calls with the results that are known. */
export function answerParts({ output }: Pick<GenerationContent, 'output'>): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  if (output.reasoning !== null) parts.push({ type: 'reasoning', text: output.reasoning });
  if (output.completion !== null) parts.push(textPart(output.completion));
  for (const { id = null, name, arguments: given, output: result } of output.tool_calls ?? []) {
    const called = typeof name === 'string' ? name : null;
    parts.push({ type: 'tool_call', id, name: called, arguments: argumentsOf(given) });
    if (typeof result === 'string') parts.push(resultPart(id, result));
  }
  return parts;
}

/** A message, or an item of a conversation, of any format: known by its members. */
function messageOf(message: Json): ContentMessage[] {
  if (!isJsonObject(message)) return [];
  const type = stringAt(message, 'type');
  const callId = stringAt(message, 'call_id') ?? stringAt(message, 'tool_call_id') ?? null;
  if (message.output !== undefined) return [{ role: 'tool', parts: [resultPart(callId, message.output)] }];
  if (message.arguments !== undefined || (callId !== null && message.input !== undefined)) {
    return [{ role: 'assistant', parts: [callPart(callId, message)] }];
  }
  const role = textAt(message, 'role');
  if (role === undefined) return [{ role: 'assistant', parts: [itemPart(message, type)] }];
  if (callId !== null) return [{ role: 'tool', parts: [resultPart(callId, message.content)] }];
  const calls = objectsAt(message, 'tool_calls').map((call) =>
    callPart(stringAt(call, 'id') ?? null, isJsonObject(call.function) ? call.function : call),
  );
  return [{ role, parts: [...partsOf(message.content), ...calls] }];
}

function partsOf(content: Json | undefined): MessagePart[] {
  if (typeof content === 'string') return [textPart(content)];
  return objectsOf(content).map(partOf);
}

function partOf(part: JsonObject): MessagePart {
  const text = stringAt(part, 'text') ?? stringAt(part, 'refusal');
  if (text !== undefined) return textPart(text);
  const thought = stringAt(part, 'thinking');
  if (thought !== undefined) return { type: 'reasoning', text: thought };
  const callId = stringAt(part, 'tool_use_id');
  if (callId !== undefined) return resultPart(callId, part.content);
  if (part.input !== undefined && part.name !== undefined) {
    return callPart(stringAt(part, 'id') ?? null, part);
  }
  return { type: 'other', kind: stringAt(part, 'type') ?? 'other' };
}

/** An item without a role: thoughts, or something that is only named. */
function itemPart(item: JsonObject, kind = 'other'): MessagePart {
  const thoughts = [...objectsAt(item, 'content'), ...objectsAt(item, 'summary')];
  const text = thoughts.flatMap((thought) => textAt(thought, 'text') ?? []).join('\n');
  return text === '' ? { type: 'other', kind } : { type: 'reasoning', text };
}

function callPart(id: string | null, call: JsonObject): MessagePart {
  return {
    type: 'tool_call',
    id,
    name: stringAt(call, 'name') ?? null,
    arguments: argumentsOf(call.arguments ?? call.input),
  };
}

function resultPart(id: Json, result: Json | undefined): MessagePart {
  const texts = typeof result === 'string' ? [result] : partsOf(result).map(shownPart);
  return { type: 'tool_call_response', id, response: texts.join('\n') };
}

/** A part as text: what is not text stands in brackets. */
export function shownPart(part: MessagePart): string {
  if (part.type === 'text' || part.type === 'reasoning') return part.text;
  return `[${part.type === 'other' ? part.kind : part.type}]`;
}

function argumentsOf(given: Json | undefined): string {
  return typeof given === 'string' ? given : JSON.stringify(given ?? null);
}

function textPart(text: string): MessagePart {
  return { type: 'text', text };
}
