import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { typed, type WireAnswer } from './wire-answer.ts';

const USAGE = { input_tokens: 9, output_tokens: 4 };

/** A message with the given blocks. */
export function messagesAnswer(
  content: readonly JsonObject[],
  end: JsonObject = {},
  usage: JsonObject = USAGE,
): WireAnswer {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-large' };
  const delta = { stop_reason: 'end_turn', stop_sequence: null, ...end };
  const { output_tokens: written, ...input } = usage;
  return {
    body: { ...head, content: [...content], ...delta, usage },
    frames: typed([
      {
        type: 'message_start',
        message: {
          ...head,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...input, output_tokens: 1 },
        },
      },
      ...content.flatMap(blockEvents),
      { type: 'message_delta', delta, usage: { ...usage, output_tokens: written } },
      { type: 'message_stop' },
    ]),
  };
}

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const { start, deltas } = opened(block);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** A block as it begins, and the rest of it. */
function opened(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  switch (block.type) {
    case 'text':
      return {
        start: { type: 'text', text: '' },
        deltas: [
          { type: 'text_delta', text: block.text },
          ...((block.citations ?? []) as JsonObject[]).map((citation) => ({
            type: 'citations_delta',
            citation,
          })),
        ],
      };
    case 'thinking':
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature: block.signature },
        ],
      };
    case 'tool_use': {
      const input = typeof block.input === 'string' ? block.input : JSON.stringify(block.input);
      return {
        start: { ...block, input: {} },
        deltas: [input.slice(0, 5), input.slice(5)].map((piece) => ({
          type: 'input_json_delta',
          partial_json: piece,
        })),
      };
    }
    default:
      return { start: block, deltas: [] };
  }
}
