import { COUNTED, eventBytes, piecesOf, type UpstreamDouble } from './upstream-double.ts';

/** Messages, with signed thinking. */
export const messagesDouble: UpstreamDouble = {
  dialect: 'anthropic-messages',
  model: 'claude-fake-1',
  path: '/messages',
  mediaType: 'text/event-stream',
  keyHeader: (key) => ['x-api-key', key],
  hidesThoughts: ({ thinking }) => thinking?.display === 'omitted',
  toolsOf: (body) =>
    body.tools.flatMap(({ name, input_schema }: any) =>
      input_schema === undefined ? [] : [{ name, schema: input_schema }],
    ),
  stepStream: ({ thoughts, seal, says, call, isChecked }) =>
    stream({ stop: 'tool_use', checked: isChecked ? [call.id] : undefined }, [
      {
        block: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...piecesOf(thoughts).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: seal },
        ],
      },
      ...(says === undefined ? [] : [textBlock(says)]),
      {
        block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
        deltas: piecesOf(JSON.stringify(call.arguments)).map((text) => ({
          type: 'input_json_delta',
          partial_json: text,
        })),
      },
    ]),
  textStream: (text, isChecked) =>
    stream({ stop: 'end_turn', checked: isChecked ? [] : undefined }, [textBlock(text)]),
  stepsOf: ({ messages }) =>
    messages.flatMap(({ role, content }: any, index: number) => {
      if (role !== 'assistant' || typeof content === 'string') return [];
      const thinking = content.find((block: any) => block.type === 'thinking');
      const next = messages[index + 1];
      const answers: any[] = next?.role === 'user' && Array.isArray(next.content) ? next.content : [];
      return content
        .filter((block: any) => block.type === 'tool_use')
        .map((use: any) => {
          const answer = answers.find(
            (block) => block.type === 'tool_result' && block.tool_use_id === use.id,
          );
          return {
            thoughts: thinking?.thinking || undefined,
            seal: thinking?.signature,
            call: { id: use.id, name: use.name, arguments: use.input },
            output: answer === undefined ? undefined : textOf(answer.content),
          };
        });
    }),
};

function textBlock(text: string) {
  return {
    block: { type: 'text', text: '' },
    deltas: piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
  };
}

/** `checked`: ids of the calls that the upstream has checked. */
function stream(
  { stop, checked }: { readonly stop: string; readonly checked: readonly string[] | undefined },
  blocks: readonly { block: object; deltas: readonly object[] }[],
): Uint8Array {
  const event = (type: string, members: object = {}) => ({ event: type, data: { type, ...members } });
  return eventBytes([
    event('message_start', {
      message: {
        id: 'msg_double',
        type: 'message',
        role: 'assistant',
        model: messagesDouble.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: COUNTED.input,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 1,
        },
      },
    }),
    event('ping'),
    ...blocks.flatMap(({ block, deltas }, index) => [
      event('content_block_start', { index, content_block: block }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', {
      delta: {
        stop_reason: stop,
        stop_sequence: null,
        ...(checked !== undefined && { safeguard_results: [harmless(checked)] }),
      },
      usage: { output_tokens: COUNTED.output },
    }),
    event('message_stop'),
  ]);
}

function harmless(calls: readonly string[]): object {
  const found = { type: 'evaluated', outcome: 'not_flagged' };
  const tool_uses = Object.fromEntries(calls.map((id) => [id, found]));
  return { type: 'dangerous_tool_use', status: { type: 'available', tool_uses } };
}

function textOf(content: any): string {
  return typeof content === 'string' ? content : content.map((block: any) => block.text).join('');
}
