import { answerParts, type MessagePart, promptMessages } from '../../following/content-messages.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { GenerationContent } from '../../ports/content/content.ts';

/** Characters of one text, and of all messages of an attribute as JSON. Receivers refuse large spans. */
const MAX_TEXT_CHARACTERS = 16_384;
const MAX_MESSAGES_CHARACTERS = 131_072;

export interface MessagesText {
  readonly text: string;
  /** The oldest, left out because there were too many. */
  readonly leftOut: number;
}

type Message = { role: string; parts: JsonObject[]; finish_reason?: string };

/** The prompt, with texts and calls of tools. Of pictures, files, sound and film only the kind. */
export function inputMessages(content: Pick<GenerationContent, 'input'>): MessagesText {
  const messages = promptMessages(content);
  return boundedMessages(messages.map(({ role, parts }) => ({ role, parts: parts.map(partOf) })));
}

export function outputMessages(
  content: Pick<GenerationContent, 'output'>,
  finishReason: string | null,
): MessagesText {
  const parts = answerParts(content).map(partOf);
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

/** A part in the shape of the conventions. */
function partOf(part: MessagePart): JsonObject {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: short(part.text) };
    case 'tool_call':
      return { type: part.type, id: part.id, name: part.name, arguments: short(part.arguments) };
    case 'tool_call_response':
      return { type: part.type, id: part.id, response: short(part.response) };
    case 'other':
      return { type: part.kind };
  }
}

function short(text: string): string {
  return boundedText(text, MAX_TEXT_CHARACTERS);
}
