import type { Item, Part } from '../../ir/items.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';

/** True if a guardrail redacted the prompt: destinations and classifiers must not get the caller's own text. */
export function isRedacted(notes: readonly PipelineEntry[]): boolean {
  return notes.some(
    ({ type, data }) =>
      type === 'guardrail' && data?.action === 'redacted' && data.direction === 'sent' && data.added !== true,
  );
}

/** The conversation as it went to the model, after guardrails, as messages. Of what is no text only the kind. */
export function sentPrompt({ items, embedding }: Pick<GenerationRequest, 'items' | 'embedding'>): JsonObject {
  if (embedding === undefined) return { messages: items.flatMap(messagesOf) };
  const texts = embedding.inputs.filter((input) => typeof input === 'string');
  return { messages: texts.map((content) => ({ role: 'user', content })) };
}

function messagesOf(item: Item): JsonObject[] {
  switch (item.type) {
    case 'message':
      return [{ role: item.role, content: item.content.map(partOf) }];
    case 'reasoning': {
      const thoughts = item.text.length > 0 ? item.text : item.summary;
      return [{ role: 'assistant', content: thoughts.map((thinking) => ({ type: 'thinking', thinking })) }];
    }
    case 'tool-call':
      return [callOf(item.callId, item.name, item.input)];
    case 'tool-result':
      return [resultOf(item.callId, item.content.map(partOf))];
    case 'opaque':
      return [
        { role: item.role ?? 'assistant', content: [{ type: stringAt(item.value, 'type') ?? 'other' }] },
      ];
    default:
      return [{ role: 'assistant', content: [{ type: item.type }] }];
  }
}

function callOf(id: string, name: string, input: string): JsonObject {
  const call = { id, type: 'function', function: { name, arguments: input } };
  return { role: 'assistant', content: [], tool_calls: [call] };
}

function resultOf(id: string, content: JsonObject[]): JsonObject {
  return { role: 'tool', tool_call_id: id, content };
}

function partOf(part: Part): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.refusal };
  return { type: part.type === 'opaque' ? (stringAt(part.value, 'type') ?? 'other') : part.type };
}
