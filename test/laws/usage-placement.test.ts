import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { sse } from '../kit/fakes/answers.ts';
import { end, type FakeUpstream, head, openFakeUpstream, SSE, write } from '../kit/fakes/fake-upstream.ts';
import { awsEvent } from '../kit/fixtures/bedrock/aws-events.ts';
import { openTestGateway, readEvents, type TestGateway } from '../kit/gateway-harness.ts';

/** What every answer of this file used, wherever its upstream says so. */
const INPUT = 1_000;
const CACHED = 300;
const WRITTEN = 100;
const OUTPUT = 70;
const THOUGHTS = 20;
const FRESH = INPUT - CACHED - WRITTEN;
/** Of `WRITTEN`, where a dialect tells lifetimes of caches apart. */
const WRITTEN_1H = 40;

const PRICING = {
  prompt: '0.00001',
  completion: '0.00005',
  input_cache_read: '0.000001',
  input_cache_write: '0.0000125',
  input_cache_write_1h: '0.00002',
};

const costOf = (written1h: number) =>
  FRESH * 1e-5 + CACHED * 1e-6 + (WRITTEN - written1h) * 1.25e-5 + written1h * 2e-5 + OUTPUT * 5e-5;

type Frames = string | Uint8Array;

interface Upstream {
  readonly slug: string;
  readonly headers: Record<string, string>;
  /** Cost of the answer: the same for all placements. */
  readonly cost: number;
  /** Streams by the place of their counts. */
  readonly placements: Record<string, () => Frames>;
}

/* chat */

const CHAT_USAGE = {
  prompt_tokens: INPUT,
  completion_tokens: OUTPUT,
  total_tokens: INPUT + OUTPUT,
  prompt_tokens_details: { cached_tokens: CACHED, cache_write_tokens: WRITTEN },
  completion_tokens_details: { reasoning_tokens: THOUGHTS },
};
const CHAT_PARTIAL = { prompt_tokens: INPUT, completion_tokens: 1, total_tokens: INPUT + 1 };
const CHAT_ZERO = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

const chunk = (more: object) => ({
  data: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'one', ...more },
});
const choice = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason, ...more }],
});
const TEXT = [chunk(choice({ role: 'assistant', content: 'Hello' })), chunk(choice({ content: ' there' }))];
const STOP = chunk(choice({}, 'stop'));
const DONE = { data: '[DONE]' };
const chatStream = (...frames: { data: unknown }[]) => sse([...TEXT, ...frames, DONE]);

const CHAT: Record<string, () => Frames> = {
  'in a chunk of its own with empty choices': () =>
    chatStream(STOP, chunk({ choices: [], usage: CHAT_USAGE })),
  'in a chunk of its own without choices': () => chatStream(STOP, chunk({ usage: CHAT_USAGE })),
  'in a chunk of its own whose choices are null': () =>
    chatStream(STOP, chunk({ choices: null, usage: CHAT_USAGE })),
  'with the finish reason': () => chatStream(chunk({ ...choice({}, 'stop'), usage: CHAT_USAGE })),
  'with the finish reason, in the choice': () => chatStream(chunk(choice({}, 'stop', { usage: CHAT_USAGE }))),
  'with the finish reason, and again alone': () =>
    chatStream(
      chunk({ ...choice({}, 'stop'), usage: CHAT_USAGE }),
      chunk({ choices: [], usage: CHAT_USAGE }),
    ),
  'with a choice that comes after the finish reason': () =>
    chatStream(STOP, chunk({ ...choice({ content: '' }), usage: CHAT_USAGE })),
  'in the last chunk but one': () =>
    chatStream(STOP, chunk({ choices: [], usage: CHAT_USAGE }), chunk({ choices: [] })),
  'in the last chunk but one, the last with null': () =>
    chatStream(STOP, chunk({ choices: [], usage: CHAT_USAGE }), chunk({ choices: [], usage: null })),
  'before the finish reason': () => chatStream(chunk({ choices: [], usage: CHAT_USAGE }), STOP),
  'in every chunk, growing': () =>
    sse([
      chunk({ ...choice({ role: 'assistant', content: 'Hello' }), usage: CHAT_PARTIAL }),
      chunk({ ...choice({ content: ' there' }), usage: { ...CHAT_PARTIAL, completion_tokens: 40 } }),
      chunk({ ...choice({}, 'stop'), usage: CHAT_USAGE }),
      DONE,
    ]),
  'at the end, after zeros': () =>
    sse([
      chunk({ ...choice({ role: 'assistant', content: 'Hello' }), usage: CHAT_ZERO }),
      chunk({ ...choice({ content: ' there' }), usage: CHAT_ZERO }),
      STOP,
      chunk({ choices: [], usage: CHAT_USAGE }),
      DONE,
    ]),
  'before zeros': () =>
    chatStream(chunk({ ...choice({}, 'stop'), usage: CHAT_USAGE }), chunk({ choices: [], usage: CHAT_ZERO })),
  'in a member of Groq': () => chatStream(chunk({ ...choice({}, 'stop'), x_groq: { usage: CHAT_USAGE } })),
  'with names of caches beside the counts': () => {
    const { prompt_tokens_details: _, ...others } = CHAT_USAGE;
    const cache = { cache_read_input_tokens: CACHED, cache_creation_input_tokens: WRITTEN };
    return chatStream(STOP, chunk({ choices: [], usage: { ...others, ...cache } }));
  },
  'without [DONE]': () => sse([...TEXT, STOP, chunk({ choices: [], usage: CHAT_USAGE })]),
};

/* responses */

const RESPONSES_USAGE = {
  input_tokens: INPUT,
  input_tokens_details: { cached_tokens: CACHED, cache_write_tokens: WRITTEN },
  output_tokens: OUTPUT,
  output_tokens_details: { reasoning_tokens: THOUGHTS },
  total_tokens: INPUT + OUTPUT,
};
const RESPONSES_ZERO = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
};

function responsesStream(usages: { begun?: object | null; ended?: object | null; again?: object | null }) {
  const response = (status: string, output: object[], usage: object | null | undefined) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status,
    model: 'one',
    output,
    ...(usage !== undefined && { usage }),
  });
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const [part] = MESSAGE.content;
  const events: [string, object][] = [
    ['response.created', { response: response('in_progress', [], usages.begun) }],
    ['response.in_progress', { response: response('in_progress', [], usages.begun) }],
    [
      'response.output_item.added',
      { output_index: 0, item: { ...MESSAGE, status: 'in_progress', content: [] } },
    ],
    ['response.content_part.added', { ...at, part: { ...part, text: '' } }],
    ['response.output_text.delta', { ...at, delta: 'Hello', logprobs: [] }],
    ['response.output_text.done', { ...at, text: 'Hello', logprobs: [] }],
    ['response.content_part.done', { ...at, part }],
    ['response.output_item.done', { output_index: 0, item: MESSAGE }],
    ['response.completed', { response: response('completed', [MESSAGE], usages.ended) }],
  ];
  return sse(
    events.map(([type, members], sequence_number) => ({
      event: type,
      data: { type, sequence_number, ...members },
    })),
  );
}

const RESPONSES: Record<string, () => Frames> = {
  'at the end': () => responsesStream({ ended: RESPONSES_USAGE }),
  'at the end, after null': () => responsesStream({ begun: null, ended: RESPONSES_USAGE }),
  'at the end, after zeros': () => responsesStream({ begun: RESPONSES_ZERO, ended: RESPONSES_USAGE }),
  'at the start, before zeros': () => responsesStream({ begun: RESPONSES_USAGE, ended: RESPONSES_ZERO }),
};

/* messages */

const MESSAGES_PROMPT = {
  input_tokens: FRESH,
  cache_read_input_tokens: CACHED,
  cache_creation_input_tokens: WRITTEN,
  cache_creation: {
    ephemeral_5m_input_tokens: WRITTEN - WRITTEN_1H,
    ephemeral_1h_input_tokens: WRITTEN_1H,
  },
};
const MESSAGES_USAGE = { ...MESSAGES_PROMPT, output_tokens: OUTPUT };

function messagesStream(opening: object | undefined, ...closing: object[]) {
  const events: [string, object][] = [
    [
      'message_start',
      {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'one',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          ...(opening !== undefined && { usage: opening }),
        },
      },
    ],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }],
    ['content_block_stop', { index: 0 }],
    ...closing.map((usage, place): [string, object] => [
      'message_delta',
      { delta: place === closing.length - 1 ? { stop_reason: 'end_turn', stop_sequence: null } : {}, usage },
    ]),
    ['message_stop', {}],
  ];
  return sse(events.map(([type, members]) => ({ event: type, data: { type, ...members } })));
}

const NO_PROMPT = {
  input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
};

const MESSAGES: Record<string, () => Frames> = {
  'the prompt at the start, the output at the end': () =>
    messagesStream({ ...MESSAGES_PROMPT, output_tokens: 1 }, { output_tokens: OUTPUT }),
  'the prompt at the start, all of it at the end': () =>
    messagesStream({ ...MESSAGES_PROMPT, output_tokens: 1 }, MESSAGES_USAGE),
  'only at the end': () => messagesStream(undefined, MESSAGES_USAGE),
  'zeros at the start, all of it at the end': () =>
    messagesStream({ ...NO_PROMPT, output_tokens: 0 }, MESSAGES_USAGE),
  'the prompt at the start, zeros of it at the end': () =>
    messagesStream({ ...MESSAGES_PROMPT, output_tokens: 1 }, { ...NO_PROMPT, output_tokens: OUTPUT }),
  'the output twice, growing': () =>
    messagesStream(
      { ...MESSAGES_PROMPT, output_tokens: 1 },
      { output_tokens: 30 },
      { output_tokens: OUTPUT },
    ),
  'before zeros': () => messagesStream(undefined, MESSAGES_USAGE, { ...NO_PROMPT, output_tokens: 0 }),
  'the same twice': () => messagesStream(undefined, MESSAGES_USAGE, MESSAGES_USAGE),
  'lifetimes of the cache only at the start': () => {
    const { cache_creation: _, ...others } = MESSAGES_USAGE;
    return messagesStream({ ...MESSAGES_PROMPT, output_tokens: 1 }, others);
  },
  'null where nothing is known': () =>
    messagesStream(
      { ...MESSAGES_PROMPT, output_tokens: 1 },
      {
        input_tokens: null,
        cache_read_input_tokens: null,
        cache_creation_input_tokens: null,
        output_tokens: OUTPUT,
      },
    ),
};

/* gemini: a prompt with what was cached; what is written to a cache is not counted */

const GEMINI_USAGE = {
  promptTokenCount: INPUT,
  cachedContentTokenCount: CACHED,
  candidatesTokenCount: OUTPUT - THOUGHTS,
  thoughtsTokenCount: THOUGHTS,
  totalTokenCount: INPUT + OUTPUT,
};
const GEMINI_ZERO = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
const geminiChunk = (text: string | undefined, more: object, finishReason?: string) => ({
  data: {
    candidates: [
      {
        content: { role: 'model', parts: text === undefined ? [] : [{ text }] },
        index: 0,
        ...(finishReason !== undefined && { finishReason }),
      },
    ],
    modelVersion: 'one',
    responseId: 'r1',
    ...more,
  },
});

const GEMINI: Record<string, () => Frames> = {
  'with the finish reason': () =>
    sse([geminiChunk('Hello', {}), geminiChunk(undefined, { usageMetadata: GEMINI_USAGE }, 'STOP')]),
  'in every chunk, growing': () =>
    sse([
      geminiChunk('Hello', {
        usageMetadata: { promptTokenCount: INPUT, candidatesTokenCount: 1, totalTokenCount: INPUT + 1 },
      }),
      geminiChunk(' there', { usageMetadata: GEMINI_USAGE }, 'STOP'),
    ]),
  'in a chunk without candidates': () =>
    sse([
      geminiChunk('Hello', {}, 'STOP'),
      { data: { usageMetadata: GEMINI_USAGE, modelVersion: 'one', responseId: 'r1' } },
    ]),
  'in the last chunk but one': () =>
    sse([geminiChunk('Hello', { usageMetadata: GEMINI_USAGE }), geminiChunk(undefined, {}, 'STOP')]),
  'before zeros': () =>
    sse([
      geminiChunk('Hello', { usageMetadata: GEMINI_USAGE }),
      geminiChunk(undefined, { usageMetadata: GEMINI_ZERO }, 'STOP'),
    ]),
  twice: () =>
    sse([
      geminiChunk('Hello', { usageMetadata: GEMINI_USAGE }),
      geminiChunk(undefined, { usageMetadata: GEMINI_USAGE }, 'STOP'),
    ]),
};

/* bedrock */

const BEDROCK_USAGE = {
  inputTokens: FRESH,
  cacheReadInputTokens: CACHED,
  cacheWriteInputTokens: WRITTEN,
  cacheDetails: [
    { ttl: '5m', inputTokens: WRITTEN - WRITTEN_1H },
    { ttl: '1h', inputTokens: WRITTEN_1H },
  ],
  outputTokens: OUTPUT,
  totalTokens: INPUT + OUTPUT,
};

const metadataEvents = (metadata: JsonObject[]) => metadata.map((each) => awsEvent('metadata', each));

const BEDROCK_TEXT = [
  awsEvent('messageStart', { role: 'assistant' }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }),
  awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
];
const BEDROCK_STOP = awsEvent('messageStop', { stopReason: 'end_turn' });

const bedrockStream = (...metadata: JsonObject[]) =>
  Buffer.concat([...BEDROCK_TEXT, BEDROCK_STOP, ...metadataEvents(metadata)]);

const BEDROCK_ZERO = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

const BEDROCK: Record<string, () => Frames> = {
  'at the end': () => bedrockStream({ usage: BEDROCK_USAGE, metrics: { latencyMs: 5 } }),
  twice: () => bedrockStream({ usage: BEDROCK_USAGE }, { usage: BEDROCK_USAGE }),
  'before zeros': () => bedrockStream({ usage: BEDROCK_USAGE }, { usage: BEDROCK_ZERO }),
  'before zeros and the stop': () =>
    Buffer.concat([
      ...BEDROCK_TEXT,
      ...metadataEvents([{ usage: BEDROCK_USAGE }, { usage: BEDROCK_ZERO }]),
      BEDROCK_STOP,
    ]),
};

const AWS_KEY = JSON.stringify({
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a-secret-of-the-tests',
  region: 'us-east-1',
});

const AWS = { 'content-type': 'application/vnd.amazon.eventstream' };
const WITHOUT_WRITES = (INPUT - CACHED) * 1e-5 + CACHED * 1e-6 + OUTPUT * 5e-5;

const UPSTREAMS: Record<string, Upstream> = {
  chat: { slug: 'openai-chat', headers: SSE, cost: costOf(0), placements: CHAT },
  responses: {
    slug: 'openai-responses',
    headers: SSE,
    cost: costOf(0),
    placements: RESPONSES,
  },
  messages: {
    slug: 'anthropic-messages',
    headers: SSE,
    cost: costOf(WRITTEN_1H),
    placements: MESSAGES,
  },
  gemini: { slug: 'google-gemini', headers: SSE, cost: WITHOUT_WRITES, placements: GEMINI },
  bedrock: { slug: 'aws-bedrock', headers: AWS, cost: costOf(WRITTEN_1H), placements: BEDROCK },
};

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(UPSTREAMS).map(([slug, { slug: dialect }]) => ({
      slug,
      name: slug,
      dialect,
      base_url: upstream.url,
      ...(slug === 'bedrock' && { api_key: AWS_KEY }),
    })),
    models: Object.keys(UPSTREAMS).map((slug) => ({
      id: `m/${slug}`,
      endpoints: [{ provider: slug, model: 'one', context_length: 200_000, pricing: PRICING }],
    })),
  } as never);
});

beforeEach(() => upstream.clear());

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const PROMPT = 'word '.repeat(600);

/** How each format asks for a stream, and where its last event has the usage. */
const FORMATS: Record<string, { path: string; body: object; usageIn: (events: any[]) => any }> = {
  chat: {
    path: '/chat/completions',
    body: { messages: [{ role: 'user', content: PROMPT }] },
    usageIn: (events) => events.findLast((event) => event.usage != null)?.usage,
  },
  responses: {
    path: '/responses',
    body: { input: PROMPT },
    usageIn: (events) => events.find((event) => event.type === 'response.completed')?.response.usage,
  },
  messages: {
    path: '/messages',
    body: { max_tokens: 1_000, messages: [{ role: 'user', content: PROMPT }] },
    usageIn: (events) => events.find((event) => event.type === 'message_delta')?.usage,
  },
};

describe.each(Object.entries(UPSTREAMS))('counts of a %s upstream', (name, { headers, cost, placements }) => {
  describe.each(Object.entries(FORMATS))('for a caller of %s', (_, { path, body, usageIn }) => {
    it.each(Object.entries(placements))('%s', async (_place, frames) => {
      upstream.answer([head(200, headers), write(frames()), end()]);
      const response = await gateway.post(path, { model: `m/${name}`, stream: true, ...body });
      const events = (await readEvents(response)).map(({ data }) => data);
      const id = response.headers.get('x-generation-id');
      const { data } = (await (await gateway.fetch(`/generation?id=${id}`)).json()) as any;
      expect(data).toMatchObject({
        tokens_prompt: INPUT,
        tokens_completion: OUTPUT,
        native_tokens_cached: CACHED,
        usage_source: 'measured',
      });
      expect(data.total_cost).toBeCloseTo(cost, 9);
      expect(usageIn(events)?.cost).toBeCloseTo(cost, 9);
    });
  });
});
