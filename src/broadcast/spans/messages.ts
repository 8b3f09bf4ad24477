import { boundedText } from '../../kit/json/bounded-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectsAt, objectsOf, stringAt, textAt } from '../../kit/json/members.ts';
import type { GenerationContent } from '../../ports/content.ts';

/** Characters of one text, and of all messages of an attribute as JSON. Receivers refuse large spans. */
const MAX_TEXT_CHARACTERS = 16_384;
const MAX_MESSAGES_CHARACTERS = 131_072;

/** Messages in the shape of the conventions, as JSON text. */
export interface MessagesText {
  readonly text: string;
  /** The oldest, left out because there were too many. */
  readonly leftOut: number;
}

/** A message with its parts. */
type Message = { role: string; parts: JsonObject[]; finish_reason?: string };

/** The prompt, with texts and calls of tools. Of pictures, files, sound and film only the kind. */
export function inputMessages({ input }: GenerationContent): MessagesText {
  return boundedMessages(messagesIn(input));
}

/** The answer as one message. */
export function outputMessages({ output }: GenerationContent, finishReason: string | null): MessagesText {
  const parts: JsonObject[] = [];
  if (output.reasoning !== null) parts.push({ type: 'reasoning', content: short(output.reasoning) });
  if (output.completion !== null) parts.push(textPart(output.completion));
  for (const call of output.tool_calls ?? []) {
    const { id = null, name = null, output: result = null } = call;
    parts.push({ type: 'tool_call', id, name, arguments: argumentsOf(call.arguments) });
    if (typeof result === 'string') parts.push(resultPart(id, result));
  }
  return boundedMessages([{ role: 'assistant', parts, finish_reason: finishReason ?? 'error' }]);
}

/** The newest messages that fit. */
function boundedMessages(messages: readonly Message[]): MessagesText {
  const kept: string[] = [];
  let left = MAX_MESSAGES_CHARACTERS;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const text = JSON.stringify(messages[at]);
    left -= text.length + 1;
    if (left < 0) break;
    kept.unshift(text);
  }
  return { text: `[${kept.join(',')}]`, leftOut: messages.length - kept.length };
}

function messagesIn(input: JsonObject): Message[] {
  const { prompt, messages } = input;
  if (typeof prompt === 'string') return [{ role: 'user', parts: [textPart(prompt)] }];
  if (Array.isArray(messages)) return messages.flatMap((message) => messageOf(message));
  // Embeddings and decisions have no messages.
  return [{ role: 'user', parts: [textPart(JSON.stringify(input))] }];
}

/** A message, or an item of a conversation, of any format: known by its members. */
function messageOf(message: Json): Message[] {
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

function partsOf(content: Json | undefined): JsonObject[] {
  if (typeof content === 'string') return [textPart(content)];
  return objectsOf(content).map(partOf);
}

/** A part of a message of any format. */
function partOf(part: JsonObject): JsonObject {
  const text = stringAt(part, 'text') ?? stringAt(part, 'refusal');
  if (text !== undefined) return textPart(text);
  const thought = stringAt(part, 'thinking');
  if (thought !== undefined) return { type: 'reasoning', content: short(thought) };
  const callId = stringAt(part, 'tool_use_id');
  if (callId !== undefined) return resultPart(callId, part.content);
  if (part.input !== undefined && part.name !== undefined) {
    return callPart(stringAt(part, 'id') ?? null, part);
  }
  return { type: stringAt(part, 'type') ?? 'other' };
}

/** An item without a role: thoughts, or something that is only named. */
function itemPart(item: JsonObject, type = 'other'): JsonObject {
  const thoughts = [...objectsAt(item, 'content'), ...objectsAt(item, 'summary')];
  const text = thoughts.flatMap((thought) => textAt(thought, 'text') ?? []).join('\n');
  return text === '' ? { type } : { type, content: short(text) };
}

function callPart(id: string | null, call: JsonObject): JsonObject {
  const given = call.arguments ?? call.input;
  return { type: 'tool_call', id, name: stringAt(call, 'name') ?? null, arguments: argumentsOf(given) };
}

function resultPart(id: Json, result: Json | undefined): JsonObject {
  const texts = typeof result === 'string' ? [result] : partsOf(result).flatMap(contentOf);
  return { type: 'tool_call_response', id, response: short(texts.join('\n')) };
}

function contentOf(part: JsonObject): string {
  return stringAt(part, 'content') ?? `[${stringAt(part, 'type') ?? 'other'}]`;
}

/** Arguments as text: what a model writes need not be JSON. */
function argumentsOf(given: Json | undefined): string {
  return short(typeof given === 'string' ? given : JSON.stringify(given ?? null));
}

function textPart(text: string): JsonObject {
  return { type: 'text', content: short(text) };
}

function short(text: string): string {
  return boundedText(text, MAX_TEXT_CHARACTERS);
}
