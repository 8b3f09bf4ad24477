import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { nameless, type WireAnswer } from './wire-answer.ts';

const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

/** A completion with the given message. `choice`: what stands beside the message. */
export function chatAnswer(
  message: JsonObject,
  choice: JsonObject = {},
  usage: JsonObject = USAGE,
  more: JsonObject = {},
): WireAnswer {
  const head = { id: 'chatcmpl-1', created: 1, model: 'large', ...more };
  const { finish_reason = 'stop', ...beside } = choice;
  const chunk = (delta: JsonObject, end: JsonObject[string] = null, around: JsonObject = {}) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: end, ...around }],
  });
  const { tool_calls: calls = [], content, ...beforehand } = message;
  return {
    body: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason, ...beside }],
      usage,
    },
    frames: [
      ...nameless([
        chunk({ role: 'assistant', content: '' }),
        ...(Object.keys(beforehand).length > 0 ? [chunk(beforehand)] : []),
        ...(content ? [chunk({ content }, null, beside)] : []),
        ...(calls as JsonObject[]).flatMap((call, index) => {
          const kind = String(call.type);
          const { name, ...rest } = call[kind] as JsonObject;
          return [
            chunk({ tool_calls: [{ index, ...call, [kind]: { name } }] }),
            chunk({ tool_calls: [{ index, [kind]: rest }] }),
          ];
        }),
        chunk({}, finish_reason),
        { ...head, object: 'chat.completion.chunk', choices: [], usage },
      ]),
      { data: '[DONE]' },
    ],
  };
}
