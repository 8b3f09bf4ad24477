import type { Format } from '../../../src/ir/items.ts';
import { SseReader } from '../../../src/kit/frames/sse.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';

/** Folds a caller's stream into the whole answer, as clients do. */
export function readReply(format: Format, stream: string): JsonObject {
  const reader = new SseReader();
  const events = [...reader.push(Buffer.from(stream)), ...reader.end()]
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data));
  return READERS[format](events);
}

const READERS: Readonly<Record<Format, (events: any[]) => JsonObject>> = {
  responses: (events) => events.at(-1).response,
  messages: readMessage,
  chat: readCompletion,
};

function readMessage(events: any[]): JsonObject {
  let message: any = {};
  const inputs = new Map<number, string>();
  for (const event of events) {
    const block = message.content?.[event.index];
    switch (event.type) {
      case 'message_start':
        message = { ...event.message, content: [] };
        break;
      case 'content_block_start':
        message.content[event.index] = { ...event.content_block };
        break;
      case 'content_block_delta':
        addDelta(block, event.delta, event.index, inputs);
        break;
      case 'content_block_stop':
        if (inputs.has(event.index)) block.input = objectOrText(inputs.get(event.index) || '{}');
        break;
      case 'message_delta':
        message = { ...message, ...event.delta, usage: { ...message.usage, ...event.usage } };
        break;
    }
  }
  return message;
}

/** Input that is no JSON stays the text that it is. */
function objectOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function addDelta(block: any, delta: any, index: number, inputs: Map<number, string>): void {
  switch (delta.type) {
    case 'text_delta':
      block.text += delta.text;
      return;
    case 'thinking_delta':
      block.thinking += delta.thinking;
      return;
    case 'signature_delta':
      block.signature = delta.signature;
      return;
    case 'citations_delta':
      block.citations = [...(block.citations ?? []), delta.citation];
      return;
    case 'input_json_delta':
      inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json);
      return;
  }
}

function readCompletion(chunks: any[]): JsonObject {
  const message: any = { role: 'assistant', content: null };
  const choice: any = { index: 0, message, finish_reason: null, logprobs: null };
  for (const chunk of chunks) {
    for (const { delta, finish_reason, logprobs } of chunk.choices) {
      choice.finish_reason = finish_reason ?? choice.finish_reason;
      if (logprobs) choice.logprobs = { content: [...(choice.logprobs?.content ?? []), ...logprobs.content] };
      addToMessage(message, delta);
    }
  }
  return { ...chunks.at(-1), choices: [choice] };
}

function addToMessage(message: any, delta: any): void {
  for (const name of ['content', 'refusal', 'reasoning']) {
    if (typeof delta[name] === 'string') message[name] = (message[name] ?? '') + delta[name];
  }
  for (const name of ['images', 'annotations', 'reasoning_details']) {
    if (delta[name] !== undefined) message[name] = [...(message[name] ?? []), ...delta[name]];
  }
  for (const { index, function: called, custom, ...head } of delta.tool_calls ?? []) {
    message.tool_calls ??= [];
    message.tool_calls[index] ??= { ...head, ...(custom ? { custom: {} } : { function: {} }) };
    addStrings(
      message.tool_calls[index].function ?? message.tool_calls[index].custom,
      called ?? custom ?? {},
    );
  }
}

function addStrings(whole: any, pieces: any): void {
  for (const [name, piece] of Object.entries(pieces)) whole[name] = (whole[name] ?? '') + piece;
}
