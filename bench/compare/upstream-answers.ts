import { ANSWERS, type AnswerName } from './lanes.ts';

/** How a dialect of upstreams writes answers of text. */
export interface Dialect {
  readonly path: string;
  whole(text: string): object;
  readonly opening: readonly string[];
  delta(text: string): string;
  readonly closing: readonly string[];
}

const CHUNK = {
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'bench',
};
const CHAT_USAGE = { prompt_tokens: 420, completion_tokens: 300, total_tokens: 720 };
const MESSAGE = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' };

const chatEvent = (data: object) => `data: ${JSON.stringify({ ...CHUNK, ...data })}\n\n`;
const choiceEvent = (delta: object, finish: string | null) =>
  chatEvent({ choices: [{ index: 0, delta, finish_reason: finish }] });
const messagesEvent = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

export const UPSTREAM_DIALECTS: readonly Dialect[] = [
  {
    path: '/chat/completions',
    whole: (content) => ({
      ...CHUNK,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: CHAT_USAGE,
    }),
    opening: [choiceEvent({ role: 'assistant', content: '' }, null)],
    delta: (content) => choiceEvent({ content }, null),
    closing: [choiceEvent({}, 'stop'), chatEvent({ choices: [], usage: CHAT_USAGE }), 'data: [DONE]\n\n'],
  },
  {
    path: '/messages',
    whole: (text) => ({
      ...MESSAGE,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 420, output_tokens: 300 },
    }),
    opening: [
      messagesEvent('message_start', {
        message: {
          ...MESSAGE,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 420, output_tokens: 1 },
        },
      }),
      messagesEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ],
    delta: (text) => messagesEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    closing: [
      messagesEvent('content_block_stop', { index: 0 }),
      messagesEvent('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 300 },
      }),
      messagesEvent('message_stop', {}),
    ],
  },
];

const WORDS = ['signal ', 'points ', 'of ', 'the ', 'line ', 'are ', 'set ', 'before ', 'trains ', 'arrive '];
const wordAt = (index: number) => WORDS[index % WORDS.length] ?? '';
const WHOLE_BYTES: Partial<Record<AnswerName, number>> = { '2k': 1600, '200k': 199_600 };

/** The pieces of an answer: a whole body, or the texts that a stream sends one after another. */
export function answerPieces(dialect: Dialect, name: AnswerName): string[] {
  const bytes = WHOLE_BYTES[name];
  if (bytes !== undefined) {
    const text = WORDS.join('').repeat(Math.ceil(bytes / WORDS.join('').length));
    return [JSON.stringify(dialect.whole(text.slice(0, bytes)))];
  }
  const deltas = Array.from({ length: ANSWERS[name].events }, (_, index) => dialect.delta(wordAt(index)));
  deltas[0] = dialect.opening.join('') + deltas[0];
  if (name === 'idle') return deltas;
  deltas.push(dialect.closing.join(''));
  return name === 'burst' ? [deltas.join('')] : deltas;
}
