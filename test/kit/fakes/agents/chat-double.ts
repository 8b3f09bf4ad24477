import { COUNTED, eventBytes, piecesOf, type ReturnedStep, type UpstreamDouble } from './upstream-double.ts';

/** Chat completions, with thoughts and their seal as services that front several families write them. */
export const chatDouble: UpstreamDouble = {
  dialect: 'openai-chat',
  model: 'fake-chat-1',
  path: '/chat/completions',
  mediaType: 'text/event-stream',
  keyHeader: (key) => ['authorization', `Bearer ${key}`],
  hidesThoughts: () => false,
  toolsOf: (body) =>
    body.tools.map(({ function: { name, parameters } }: any) => ({ name, schema: parameters })),
  stepStream: ({ thoughts, seal, says = '', call }) =>
    stream(
      [
        { role: 'assistant', content: '' },
        ...piecesOf(thoughts).map((text) => ({
          reasoning: text,
          reasoning_details: [{ ...DETAIL, text }],
        })),
        { reasoning_details: [{ ...DETAIL, signature: seal }] },
        ...piecesOf(says).map((content) => ({ content })),
        {
          tool_calls: [
            { index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
          ],
        },
        ...piecesOf(JSON.stringify(call.arguments)).map((text) => ({
          tool_calls: [{ index: 0, function: { arguments: text } }],
        })),
      ],
      'tool_calls',
    ),
  textStream: (text) =>
    stream([{ role: 'assistant', content: '' }, ...piecesOf(text).map((content) => ({ content }))], 'stop'),
  stepsOf: ({ messages }) =>
    messages.flatMap((message: any, index: number): ReturnedStep[] => {
      if (message.role !== 'assistant' || message.tool_calls === undefined) return [];
      const details: any[] = message.reasoning_details ?? [];
      return message.tool_calls.map((call: any, position: number) => {
        const answer = messages[index + 1 + position];
        const isAnswer = answer?.role === 'tool' && answer.tool_call_id === call.id;
        return {
          thoughts: details.find((detail) => detail.text !== undefined)?.text || undefined,
          seal: details.find((detail) => detail.signature !== undefined)?.signature,
          call: { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) },
          output: isAnswer ? textOf(answer.content) : undefined,
        };
      });
    }),
};

const DETAIL = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };

function stream(deltas: readonly object[], finish: string): Uint8Array {
  const chunk = (choices: readonly object[], more: object = {}) => ({
    data: {
      id: 'chatcmpl-double',
      object: 'chat.completion.chunk',
      created: 1_790_000_000,
      model: chatDouble.model,
      choices,
      ...more,
    },
  });
  return eventBytes([
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], {
      usage: {
        prompt_tokens: COUNTED.input,
        completion_tokens: COUNTED.output,
        total_tokens: COUNTED.input + COUNTED.output,
      },
    }),
    { data: '[DONE]' },
  ]);
}

function textOf(content: any): string {
  return typeof content === 'string' ? content : content.map((part: any) => part.text).join('');
}
