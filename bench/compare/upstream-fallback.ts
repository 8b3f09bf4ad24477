import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANSWERS, type AnswerName, PACE_MS } from './lanes.ts';

/** What upstream.c is, in Node, for machines without a compiler: the same answers, with less headroom. */
interface Dialect {
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

const DIALECTS: readonly Dialect[] = [
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

/** The pieces of each answer, by path and marker. */
const answers = new Map(
  DIALECTS.flatMap((dialect) =>
    (Object.keys(ANSWERS) as AnswerName[]).map((name) => [`${dialect.path} ${name}`, pieces(dialect, name)]),
  ),
);

function pieces(dialect: Dialect, name: AnswerName): string[] {
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

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const name = /"bench-([a-z0-9]+)"/.exec(Buffer.concat(chunks).toString('latin1'))?.[1] as AnswerName;
  const path = DIALECTS.find((dialect) => request.url?.includes(dialect.path))?.path;
  const found = answers.get(`${path} ${name}`);
  if (found === undefined) {
    response.writeHead(400).end('{"error":{"message":"no such path, or no marker in the body"}}');
    return;
  }
  if (ANSWERS[name].streams) stream(name, found, response);
  else response.writeHead(200, { 'content-type': 'application/json' }).end(found[0]);
}

function stream(name: AnswerName, found: readonly string[], response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(found[0]);
  if (name === 'burst') response.end();
  if (name !== 'paced') return;
  let next = 1;
  const timer = setInterval(() => {
    response.write(found[next++]);
    if (next === found.length) response.end();
  }, PACE_MS);
  response.once('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 }, () =>
  console.log(`listening ${(server.address() as AddressInfo).port}`),
);
