import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  chatAnswer,
  chatBody,
  messagesAnswer,
  messagesFrames,
  responsesAnswer,
  sse,
} from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  SSE,
  stall,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic-messages' };

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    vendor: 'acme',
    server: { region: 'north' },
    providers: Object.entries(DIALECTS).map(([format, dialect]) => ({
      slug: `p-${format}`,
      name: `P ${format}`,
      dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: [
      ...Object.keys(DIALECTS).map((format) => ({
        id: `up/${format}`,
        aliases: [`up/${format}-latest`],
        input_modalities: ['text', 'image', 'file'],
        output_modalities: ['text', 'image'],
        max_output_tokens: 8000,
        endpoints: [
          { provider: `p-${format}`, model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } },
        ],
      })),
      {
        id: 'up/small',
        context_length: 1000,
        endpoints: [
          { provider: 'p-messages', model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } },
        ],
      },
    ],
    prompts: { greet: { instructions: 'You greet {{who}}.', input: 'Say hello to {{who}}' } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const json = async (response: Response) => (await response.json()) as any;
const sent = async (index = 0) => (await upstream.request(index)).json;

describe('the vendor word', () => {
  it('is in every identifier, and no other word is', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const body = { model: 'up/chat', input: 'x' };
    const reply = await json(await gateway.post('/responses', body, { 'X-Acme-Metadata': 'enabled' }));
    expect(reply.acme_metadata).toMatchObject({ region: 'north', requested: 'up/chat', strategy: 'direct' });
    expect(reply.signalbox_metadata).toBeUndefined();
    const refused = await json(
      await gateway.post('/responses', { ...body, tools: [{ type: 'acme:tool_search' }] }),
    );
    expect(refused.error.message).toContain('acme:tool_search');
    const other = await gateway.post('/responses', { ...body, tools: [{ type: 'signalbox:tool_search' }] });
    expect(other.status).toBe(200);
  });
});

describe('models', () => {
  it('are found by alias, and answer by their own name', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const reply = await json(
      await gateway.post(
        '/responses',
        { model: 'up/chat-latest', input: 'x' },
        { 'x-acme-metadata': 'enabled' },
      ),
    );
    expect(reply.model).toBe('up/chat');
    expect(reply.acme_metadata).toMatchObject({ requested: 'up/chat-latest', strategy: 'alias' });
  });

  it('fall back to the next when they refuse, in streams too, as long as nothing was forwarded', async () => {
    const refusal = messagesFrames({ text: '' }).map((frame: any) =>
      frame.data.type === 'message_delta'
        ? { ...frame, data: { ...frame.data, delta: { ...frame.data.delta, stop_reason: 'refusal' } } }
        : frame,
    );
    upstream.answer([head(200, SSE), write(sse(refusal)), end()]);
    upstream.answer(chatAnswer({ text: 'I do not mind' }));
    const body = {
      model: 'up/messages',
      fallbacks: [{ model: 'up/chat' }],
      max_tokens: 9,
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    };
    const events = await readEvents(await gateway.post('/messages', body, { 'x-acme-metadata': 'enabled' }));
    expect(events[0]?.data.message.model).toBe('up/chat');
    expect(events.at(-1)?.data.acme_metadata).toMatchObject({ attempt: 2, strategy: 'fallback' });
  });
});

describe('Server-Timing of a reply', () => {
  it.each([true, false])(
    'names the wait for the first byte, and nothing that was not ours (stream: %s)',
    async (stream) => {
      const chunk = { choices: [{ index: 0, delta: { content: 'ok' } }] };
      const late = stream
        ? sse([{ data: chunk }, { data: '[DONE]' }])
        : JSON.stringify(chatBody({ text: 'ok' }));
      upstream.answer([stall(100), head(200, stream ? SSE : JSON_TYPE), stall(4_000), write(late), end()]);
      const messages = [{ role: 'user', content: 'x' }];
      const response = await gateway.post('/chat/completions', { model: 'up/chat', messages, stream });
      const timing = response.headers.get('server-timing') ?? '';
      await response.text();
      const [, firstByte, ours] = /upstream;dur=([\d.]+), gateway;dur=([\d.]+)/.exec(timing) ?? [];
      expect(Number(firstByte)).toBeGreaterThanOrEqual(95);
      expect(Number(firstByte)).toBeLessThan(3_500);
      expect(Number(ours)).toBeLessThan(3_500);
    },
  );
});

describe('usage', () => {
  it('is estimated when the upstream reports none', async () => {
    const { usage: _, ...silent } = chatBody({ text: 'one two three' }) as any;
    upstream.answer(reply(200, silent));
    const body = await json(
      await gateway.post('/responses', { model: 'up/chat', input: 'four five six seven' }),
    );
    expect(body.usage.output_tokens).toBe(3);
    expect(body.usage.input_tokens).toBeGreaterThan(3);
    expect(body.usage.cost).toBeGreaterThan(0);
    expect(gateway.logged('generation').at(-1)).toMatchObject({ usage_source: 'estimated' });
  });

  it('keeps an explicit zero, and counts cached tokens once', async () => {
    upstream.answer(
      reply(200, {
        ...chatBody({ text: 'free' }),
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      }),
    );
    const zero = await json(await gateway.post('/responses', { model: 'up/chat', input: 'x' }));
    expect(zero.usage).toMatchObject({ input_tokens: 0, output_tokens: 0, cost: 0 });
    upstream.clear();
    upstream.answer(chatAnswer({ text: 'ok', usage: { input: 100, output: 10, cached: 60 } }));
    const message = await json(
      await gateway.post('/messages', {
        model: 'up/chat',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'x' }],
      }),
    );
    expect(message.usage).toMatchObject({
      input_tokens: 40,
      cache_read_input_tokens: 60,
      output_tokens: 10,
      cost: 0.00012,
    });
  });

  it('is counted by a messages upstream itself for count_tokens', async () => {
    upstream.answer(reply(200, { input_tokens: 4711 }));
    const body = {
      model: 'up/messages',
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    };
    expect(await json(await gateway.post('/messages/count_tokens', body))).toEqual({ input_tokens: 4711 });
    expect((await upstream.request(0)).path).toBe('/v1/messages/count_tokens');
    expect(await sent()).not.toHaveProperty('max_tokens');
    upstream.clear();
    upstream.answer(reply(500, {}));
    expect((await json(await gateway.post('/messages/count_tokens', body))).input_tokens).toBeGreaterThan(0);
  });

  it('is counted although it is longer than the context', async () => {
    const content = 'word '.repeat(3000);
    const body = { model: 'up/small', messages: [{ role: 'user', content }] };
    upstream.answer(reply(200, { input_tokens: 3007 }));
    expect(await json(await gateway.post('/messages/count_tokens', body))).toEqual({ input_tokens: 3007 });
    upstream.clear();
    upstream.answer(reply(400, { error: { message: 'prompt is too long' } }));
    const counted = await json(await gateway.post('/messages/count_tokens', body));
    expect(counted.input_tokens).toBeGreaterThan(2900);
    expect((await gateway.post('/messages', { ...body, max_tokens: 10, plugins: [] })).status).toBe(400);
  });
});

describe('prompt templates', () => {
  it('fill instructions and input, in both lanes', async () => {
    upstream.answer(responsesAnswer({ text: 'ok' }));
    const body = { prompt: { id: 'greet', variables: { who: 'Ada {{who}}' } }, input: 'Now.' };
    const reply = await json(await gateway.post('/responses', { model: 'up/responses', ...body }));
    expect(await sent()).toMatchObject({ instructions: 'You greet Ada {{who}}.' });
    expect(JSON.stringify((await sent()).input)).toContain('Say hello to Ada {{who}}');
    expect(await sent()).not.toHaveProperty('prompt');
    expect(reply.prompt).toMatchObject({ id: 'greet' });
    upstream.clear();
    upstream.answer(chatAnswer({ text: 'ok' }));
    await gateway.post('/responses', { model: 'up/chat', ...body, input: undefined });
    expect((await sent()).messages.map(({ role }: any) => role)).toEqual(['system', 'user']);
  });
});

describe('prompt caching', () => {
  it('marks the last cacheable block, from any format, in both lanes', async () => {
    upstream.answer(messagesAnswer({ text: 'ok' }));
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    await gateway.post('/responses', { model: 'up/messages', input: 'x', instructions: 'y', cache_control });
    expect((await sent()).messages.at(-1).content.at(-1)).toMatchObject({ type: 'text', cache_control });
    await gateway.post('/messages', {
      model: 'up/messages',
      max_tokens: 5,
      cache_control,
      messages: [{ role: 'user', content: 'x' }],
    });
    expect((await sent(1)).messages.at(-1).content.at(-1)).toMatchObject({ type: 'text', cache_control });
    expect(await sent(1)).not.toHaveProperty('cache_control');
  });

  it('passes its options on to the family that knows them, and reports the rest', async () => {
    upstream.answer(responsesAnswer({ text: 'ok' }));
    const body = {
      input: 'x',
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    };
    await gateway.post('/responses', { model: 'up/responses', ...body });
    expect(await sent()).toMatchObject({ prompt_cache_options: { mode: 'explicit', ttl: '30m' } });
    upstream.clear();
    upstream.answer(messagesAnswer({ text: 'ok' }));
    const reply = await json(
      await gateway.post('/responses', { model: 'up/messages', ...body }, { 'x-acme-metadata': 'enabled' }),
    );
    expect(await sent()).not.toHaveProperty('prompt_cache_options');
    expect(reply.acme_metadata.translation.map(({ field }: any) => field)).toContain('prompt_cache_options');
  });
});

describe('tools that only one format has', () => {
  const tools = [
    {
      type: 'namespace',
      name: 'files',
      description: 'Files',
      tools: [
        {
          type: 'function',
          name: 'read',
          parameters: { type: 'object', properties: { path: { type: 'string' } } },
        },
      ],
    },
    { type: 'custom', name: 'shell', description: 'Runs a command' },
    { type: 'web_search' },
  ];

  it.each(['chat', 'messages'] as const)(
    'are flattened for a %s upstream, and calls come back as they were named',
    async (format) => {
      const answer = format === 'chat' ? chatAnswer : messagesAnswer;
      upstream.answer(
        answer({
          tools: [
            { name: 'files__read', arguments: '{"path":"a.txt"}' },
            { name: 'shell', arguments: '{"input":"ls -l"}' },
          ],
        }),
      );
      for (const stream of [false, true]) {
        const response = await gateway.post(
          '/responses',
          { model: `up/${format}`, input: 'x', tools, stream },
          { 'x-acme-metadata': 'enabled' },
        );
        const result = stream ? (await readEvents(response)).at(-2)?.data.response : await json(response);
        expect(result.output).toMatchObject([
          { type: 'function_call', name: 'read', namespace: 'files', arguments: '{"path":"a.txt"}' },
          { type: 'custom_tool_call', name: 'shell', input: 'ls -l' },
        ]);
        expect(result.acme_metadata.translation.map(({ field }: any) => field)).toEqual([
          'tools[0].description',
          'tools[2]',
        ]);
      }
      const names = (await sent()).tools.map((tool: any) => tool.name ?? tool.function.name);
      expect(names).toEqual(['files__read', 'shell']);
    },
  );
});

describe('the addresses', () => {
  it('answer under both bases, with or without a slash at the end', async () => {
    for (const path of ['/api/v1/models', '/v1/models', '/v1/models/', '/api/v1/models/']) {
      expect((await fetch(gateway.origin + path)).status).toBe(200);
    }
  });
});

describe('trace', () => {
  it('is in the record of the generation, with any members', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const trace = { trace_id: 't-1', span_name: 'search', team: 'blue', tags: ['a', { b: 1 }] };
    for (const [path, body] of [
      ['/responses', { model: 'up/chat', input: 'x' }],
      ['/messages', { model: 'up/chat', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }],
      ['/chat/completions', { model: 'up/chat', messages: [{ role: 'user', content: 'x' }] }],
    ] as const) {
      const response = await gateway.post(path, { ...body, trace });
      expect(response.status).toBe(200);
      const id = response.headers.get('x-generation-id');
      const record = await json(await gateway.fetch(`/generation?id=${id}`));
      expect(record.data.trace).toEqual(trace);
    }
    expect(await sent()).not.toHaveProperty('trace');
  });

  it('is refused if it is too long to store', async () => {
    const body = { model: 'up/chat', input: 'x', trace: { note: 'x'.repeat(20_000) } };
    const refused = await gateway.post('/responses', body);
    expect(refused.status).toBe(400);
    expect((await json(refused)).error.message).toMatch(/^trace: must have at most 16384 characters/);
  });
});

describe('functions of the chat format beside tools', () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const asking = { model: 'up/chat', messages: [{ role: 'user', content: 'x' }], tools };

  it.each([[[]], [null], [[{ name: 'look' }]]])(
    'that are %j change nothing of the calls',
    async (functions) => {
      upstream.answer(chatAnswer({ tools: [{ name: 'look', arguments: '{}' }] }));
      const { choices } = await json(await gateway.post('/chat/completions', { ...asking, functions }));
      expect(choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: { tool_calls: [{ function: { name: 'look' } }] },
      });
      const events = await readEvents(
        await gateway.post('/chat/completions', { ...asking, functions, stream: true }),
      );
      const reasons = events.flatMap(({ data }) => data.choices?.[0]?.finish_reason ?? []);
      expect(reasons).toEqual(['tool_calls']);
    },
  );
});

it('functions alone get a call that the caller can read, from an upstream that answers with tool calls', async () => {
  upstream.answer(chatAnswer({ tools: [{ name: 'look', arguments: '{"a":1}' }] }));
  const asking = {
    model: 'up/chat',
    messages: [{ role: 'user', content: 'x' }],
    functions: [{ name: 'look', parameters: { type: 'object' } }],
  };
  const { choices } = await json(await gateway.post('/chat/completions', asking));
  expect(choices[0]).toMatchObject({
    finish_reason: 'function_call',
    message: { function_call: { name: 'look', arguments: '{"a":1}' } },
  });
  const events = await readEvents(await gateway.post('/chat/completions', { ...asking, stream: true }));
  const told = events.flatMap(({ data }) => data.choices ?? []);
  expect(told.some(({ delta }) => delta?.tool_calls?.[0]?.function?.name === 'look')).toBe(true);
  expect(told.flatMap(({ finish_reason }) => finish_reason ?? [])).toEqual(['tool_calls']);
});

describe('the debug echo', () => {
  const asking = { model: 'up/chat', input: 'x', stream: true, debug: { echo_upstream_body: true } };

  it('comes first if the only upstream fails after the stream has begun', async () => {
    const broken = JSON.stringify({ error: { message: 'broken' } });
    upstream.answer([stall(3500), head(500, JSON_TYPE), write(broken), end()]);
    const response = await gateway.post('/responses', asking, { 'x-acme-metadata': 'enabled' });
    expect(response.status).toBe(200);
    const events = await readEvents(response);
    expect(events.findLast(({ data }) => data?.response)?.data.response.acme_metadata).toMatchObject({
      attempts: [{ status: 500, provider_name: expect.any(String), raw: expect.stringContaining('broken') }],
    });
    expect(events.map(({ event }) => event).filter((event) => event !== undefined)).toEqual([
      'response.debug',
      'response.created',
      'response.in_progress',
      'response.failed',
    ]);
    expect(events[0]?.data).toMatchObject({
      sequence_number: 0,
      debug: { echo_upstream_body: { model: 'm' } },
    });
  });

  it.each([
    [400, 400, {}],
    [500, 502, {}],
    [429, 429, { 'retry-after': '7' }],
  ])('leaves an early failure its status, and stands in its metadata: %i', async (status, shown, headers) => {
    upstream.answer(reply(status, { error: { message: 'broken' } }, { ...JSON_TYPE, ...headers }));
    const response = await gateway.post('/responses', asking);
    expect(response.status).toBe(shown);
    expect(response.headers.get('retry-after')).toBe(shown === 429 ? '7' : null);
    expect(await response.json()).toMatchObject({
      error: {
        metadata: {
          provider_name: expect.any(String),
          raw: expect.stringContaining('broken'),
          echo_upstream_body: [{ model: 'm' }],
        },
      },
    });
  });
});
