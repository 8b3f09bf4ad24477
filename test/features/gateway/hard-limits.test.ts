import { countTokens as countAsCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { messagesFrames, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  SSE,
  type Step,
  stall,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/**
 * Limits against requests whose cost is not in their text: searches, files, pictures, caches. What counts is the bill
 * of the upstream, whether or not the gateway charges it.
 */

let upstream: FakeUpstream;
let gateway: TestGateway;

/** 3 USD a million prompt tokens, a cent a search. Output is cheap, so that the prompt decides. */
const pricing = {
  prompt: '0.000003',
  completion: '0.0000001',
  input_cache_write: '0.00000375',
  input_cache_write_1h: '0.000006',
  web_search: '0.01',
  file_search: '0.0025',
  code_execution: '0.03',
};
const size = { context_length: 200_000, max_output_tokens: 1000 };

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const provider = (slug: string, dialect: string, more: object = {}) => ({
    slug,
    name: slug,
    dialect,
    base_url: upstream.url,
    ...more,
  });
  const model = (id: string, slug: string) => ({
    id,
    input_modalities: ['text', 'image', 'file', 'audio'],
    ...size,
    endpoints: [{ provider: slug, model: 'one', ...size, pricing }],
  });
  /** Without cache prices, which would be the highest and hide other faults. */
  const uncached = (id: string, slug: string, upstreamModel = 'one') => ({
    ...model(id, slug),
    endpoints: [
      {
        provider: slug,
        model: upstreamModel,
        ...size,
        pricing: { prompt: pricing.prompt, completion: pricing.completion },
      },
    ],
  });
  gateway = await openTestGateway({
    providers: [
      provider('messages', 'anthropic-messages'),
      provider('responses', 'openai-responses'),
      provider('chat', 'openai-chat'),
      provider('short', 'openai-chat', { timeouts_ms: { total: 400 } }),
    ],
    models: [
      model('m/messages', 'messages'),
      model('m/responses', 'responses'),
      model('m/chat', 'chat'),
      model('m/learnt', 'chat'),
      model('m/around', 'chat'),
      model('m/thinking', 'chat'),
      {
        ...model('m/plain', 'chat'),
        endpoints: [
          { provider: 'chat', model: 'plain', ...size, supported_parameters: ['max_tokens'], pricing },
        ],
      },
      model('m/short', 'short'),
      uncached('m/uncached', 'messages'),
      uncached('m/uncached-chat', 'chat'),
      uncached('m/qwen', 'chat', 'qwen3-vl-plus'),
      uncached('m/gemini', 'chat', 'google/gemini-2.5-flash'),
    ],
  } as never);
});

beforeEach(() => upstream.clear());

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function newKey(limit?: number) {
  const response = await gateway.fetch('/keys', {
    method: 'POST',
    key: gateway.managementKey,
    body: JSON.stringify({ name: 'Limited', ...(limit !== undefined && { limit }) }),
    headers: { 'content-type': 'application/json' },
  });
  return ((await response.json()) as any).key as string;
}

async function ask(key: string, path: string, body: object) {
  const response = await gateway.post(path, body, { authorization: `Bearer ${key}` });
  const id = response.headers.get('x-generation-id');
  return { status: response.status, id, body: (await response.json()) as any };
}

const recordOf = async (id: string | null) =>
  ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;

const racing = (count: number, one: () => Promise<{ status: number; body: any }>) =>
  Promise.all(Array.from({ length: count }, one));

const json = (body: object): readonly Step[] => [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];

const message = (usage: object) =>
  json({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'one',
    content: [{ type: 'text', text: 'found' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5, ...usage },
  });

const completion = (usage: object) =>
  json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'one',
    choices: [{ index: 0, message: { role: 'assistant', content: 'found' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...usage },
  });

const response = (searches: number) =>
  json({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'one',
    output: [
      ...Array.from({ length: searches }, (_, index) => ({
        type: 'web_search_call',
        id: `ws_${index}`,
        status: 'completed',
        action: { type: 'search', query: 'x' },
      })),
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'found', annotations: [] }],
      },
    ],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  });

const SEARCH_TOOL = { type: 'web_search_20250305', name: 'web_search' };

const searching = (tool: object = SEARCH_TOOL) => ({
  model: 'm/messages',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Look it up' }],
  tools: [tool],
});

describe('searches', () => {
  it('are reserved: 60 requests that race for one cent cost the upstream no more than that', async () => {
    let billed = 0;
    upstream.answer((request) => {
      const most = (request.json as any).tools[0].max_uses ?? 5;
      billed += most * 0.01;
      return message({ server_tool_use: { web_search_requests: most } });
    });
    const key = await newKey(0.01);
    const replies = await racing(60, () => ask(key, '/messages', searching()));
    expect(billed).toBeLessThanOrEqual(0.01);
    expect(replies.filter(({ status }) => status === 402).length).toBeGreaterThanOrEqual(59);
  });

  it('are limited to what is paid for, and the report says so', async () => {
    upstream.answer(message({}));
    const key = await newKey(0.3);
    const { status, body } = await ask(key, '/messages', searching());
    expect(status).toBe(200);
    const sent = (await upstream.request(0)).json as any;
    expect(sent.tools[0]).toMatchObject(SEARCH_TOOL);
    expect(sent.tools[0].max_uses).toBe(2);
    expect(body.usage.cost).toBeGreaterThan(0);
    const reported = await gateway.post('/messages', searching(), {
      authorization: `Bearer ${key}`,
      'x-signalbox-metadata': 'enabled',
    });
    expect(((await reported.json()) as any).signalbox_metadata.translation).toContainEqual({
      field: 'tools',
      action: 'coerced',
      detail: expect.stringMatching(
        /^at most \d+ calls of the upstream's own tools, what the limits of the key still pay for$/,
      ),
    });
  });

  it('keep the limit of the caller if that is paid for, and have none if no limit binds', async () => {
    upstream.answer(message({}));
    const limited = { ...SEARCH_TOOL, max_uses: 2 };
    await ask(await newKey(5), '/messages', searching(limited));
    await ask(await newKey(), '/messages', searching());
    expect(upstream.requests.map(({ json }) => (json as any).tools)).toEqual([[limited], [SEARCH_TOOL]]);
  });

  it('of the responses format are limited by its own field', async () => {
    upstream.answer((request) => response((request.json as any).max_tool_calls ?? 7));
    const key = await newKey(0.3);
    const { status, id } = await ask(key, '/responses', {
      model: 'm/responses',
      input: 'Look it up',
      max_output_tokens: 50,
      tools: [{ type: 'web_search' }],
    });
    expect(status).toBe(200);
    expect((await upstream.request(0)).json).toMatchObject({ max_tool_calls: 2 });
    expect(await recordOf(id)).toMatchObject({ written_off: 0 });
  });

  it('of chat completions cannot be limited: the usual number is reserved', async () => {
    upstream.answer(completion({ server_tool_use_details: { web_search_requests: 4 } }));
    const body = {
      model: 'm/chat',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Look it up' }],
      web_search_options: {},
    };
    expect((await ask(await newKey(0.1), '/chat/completions', body)).status).toBe(402);
    expect((await ask(await newKey(2), '/chat/completions', body)).status).toBe(200);
  });

  it('of tools that an item adds are reserved for too', async () => {
    let billed = 0;
    upstream.answer((request) => {
      const searches = (request.json as any).max_tool_calls ?? 7;
      billed += searches * 0.01;
      return response(searches);
    });
    const key = await newKey(0.01);
    const added = { type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] };
    const input = [{ role: 'user', content: 'Look it up' }, added];
    const asking = { model: 'm/responses', max_output_tokens: 50, input };
    await racing(20, () => ask(key, '/responses', asking));
    expect(billed).toBeLessThanOrEqual(0.01);
    await ask(await newKey(0.3), '/responses', asking);
    expect(upstream.requests.at(-1)?.json).toMatchObject({ max_tool_calls: expect.any(Number) });
  });

  it.each([0.5, -1, 1e308])(
    'of a tool of no documented type with a limit of %d are bounded',
    async (max_uses) => {
      upstream.answer(message({}));
      const tool = { type: 'web_search_20270101', name: 'web_search', max_uses };
      expect((await ask(await newKey(0.01), '/messages', searching(tool))).status).toBe(402);
      expect((await ask(await newKey(), '/messages', searching(tool))).status).toBe(200);
    },
  );

  it('keep the limit of the request if there is enough money', async () => {
    upstream.answer(message({}));
    const tool = { ...SEARCH_TOOL, max_uses: 50 };
    await ask(await newKey(1000), '/messages', searching(tool));
    expect((await upstream.request(0)).json).toMatchObject({ tools: [tool] });
  });

  it('of an option that the endpoint does not take are not reserved for', async () => {
    upstream.answer(completion({}));
    const { status } = await ask(await newKey(0.02), '/chat/completions', {
      model: 'm/plain',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Look it up' }],
      web_search_options: {},
    });
    expect(status).toBe(200);
  });

  it('stay charged if the upstream fails after them or the caller leaves', async () => {
    const start = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'one',
      content: [],
      stop_reason: null,
    };
    const usage = { input_tokens: 10, output_tokens: 1 };
    const call = (index: number) => [
      {
        event: 'content_block_start',
        data: {
          type: 'content_block_start',
          index,
          content_block: { type: 'server_tool_use', id: `s${index}`, name: 'web_search', input: {} },
        },
      },
      { event: 'content_block_stop', data: { type: 'content_block_stop', index } },
    ];
    const frames = [
      { event: 'message_start', data: { type: 'message_start', message: { ...start, usage } } },
      ...[0, 1, 2].flatMap(call),
    ];
    const failure = { event: 'error', data: { type: 'error', error: { type: 'api_error', message: 'x' } } };
    const body = { ...searching({ ...SEARCH_TOOL, max_uses: 5 }), stream: true };
    upstream.answer([head(200, SSE), write(sse([...frames, failure])), end()]);
    const failed = await gateway.post('/messages', body);
    await failed.text();
    expect(await recordOf(failed.headers.get('x-generation-id'))).toMatchObject({ total_cost: 0.03 });

    upstream.answer([head(200, SSE), write(sse(frames)), stall(5000), end()]);
    const leaving = new AbortController();
    const left = await gateway.fetch('/messages', {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const id = left.headers.get('x-generation-id');
    leaving.abort();
    await expect.poll(async () => (await recordOf(id))?.total_cost ?? 0).toBeGreaterThanOrEqual(0.03);
  });

  it('that were not requested are not charged', async () => {
    upstream.answer(message({ server_tool_use: { web_search_requests: 1_000_000 } }));
    const { id } = await ask(await newKey(), '/messages', { ...searching(), tools: [] });
    expect(await recordOf(id)).toMatchObject({ tokens_prompt: 10, total_cost: 0.0000305 });
  });

  it('stay charged if the tokens beside them cannot be true', async () => {
    upstream.answer(message({ input_tokens: 900_000_000, server_tool_use: { web_search_requests: 2 } }));
    const { id } = await ask(await newKey(), '/messages', searching({ ...SEARCH_TOOL, max_uses: 3 }));
    const record = await recordOf(id);
    expect(record.usage_source).toBe('estimated');
    expect(record.total_cost).toBeGreaterThanOrEqual(0.02);
    expect(record.total_cost).toBeLessThan(0.03);
  });

  it('beyond those that the request allows are not charged', async () => {
    upstream.answer(message({ server_tool_use: { web_search_requests: 1_000_000 } }));
    const { id } = await ask(await newKey(), '/messages', searching({ ...SEARCH_TOOL, max_uses: 3 }));
    expect(await recordOf(id)).toMatchObject({ total_cost: 0.0300305 });
  });
});

describe('files', () => {
  const data = Buffer.from('%PDF-1.4 tiny').toString('base64');
  const document = { type: 'base64', media_type: 'application/pdf', data };
  const reading = {
    model: 'm/messages',
    max_tokens: 50,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', source: document },
          { type: 'text', text: 'Read it' },
        ],
      },
    ],
  };

  it('may fill the context: 16 requests that race for five cents do not cost the upstream more', async () => {
    upstream.answer(message({ input_tokens: 150_000 }));
    const key = await newKey(0.05);
    const replies = await racing(16, () => ask(key, '/messages', reading));
    expect(upstream.requests).toHaveLength(0);
    for (const { status, body } of replies) {
      expect(status).toBe(402);
      expect(body.error.message).toContain('files, recordings or pages may fill the context');
    }
  });

  it('are served where the limit pays for a full context, once at a time', async () => {
    upstream.answer(message({ input_tokens: 150_000 }));
    const key = await newKey(1.3);
    const replies = await racing(4, () => ask(key, '/messages', reading));
    expect(upstream.requests).toHaveLength(1);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 402, 402, 402]);
  });

  it.each([
    [
      'pages that the upstream fetches',
      { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 1 }] },
    ],
    ['servers that it asks', { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'n' }] }],
  ])('and %s are charged as the upstream counts them', async (_, more) => {
    upstream.answer(message({ input_tokens: 150_000 }));
    const messages = [{ role: 'user', content: 'Read it' }];
    const { status, id } = await ask(await newKey(9), '/messages', {
      model: 'm/messages',
      max_tokens: 50,
      messages,
      ...more,
    });
    expect(status).toBe(200);
    expect(await recordOf(id)).toMatchObject({ tokens_prompt: 150_000, usage_source: 'measured' });
  });

  it('of plain text count by their bytes', async () => {
    upstream.answer(completion({}));
    const key = await newKey(0.05);
    const file = { filename: 'a.txt', file_data: `data:text/plain;base64,${btoa('hello '.repeat(50))}` };
    const body = {
      model: 'm/chat',
      max_tokens: 50,
      messages: [{ role: 'user', content: [{ type: 'file', file }] }],
    };
    expect((await ask(key, '/chat/completions', body)).status).toBe(200);
  });

  it.each([
    ['text/pdf', 'hello'],
    ['text/plain', '%PDF-1.4 tiny'],
    ['text/plain', 'PK\u0003\u0004tiny'],
  ])('that are said to be %s may fill the context: %j', async (type, content) => {
    upstream.answer(completion({ prompt_tokens: 150_000, total_tokens: 150_005 }));
    const key = await newKey(0.05);
    const file = { filename: 'a.txt', file_data: `data:${type};base64,${btoa(content)}` };
    const messages = [{ role: 'user', content: [{ type: 'file', file }] }];
    const { status } = await ask(key, '/chat/completions', { model: 'm/chat', max_tokens: 50, messages });
    expect(status).toBe(402);
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    ['a PDF behind a line break', Buffer.from('\n%PDF-1.4 tiny')],
    ['a PDF behind a byte order mark', Buffer.from('\ufeff%PDF-1.4 tiny')],
    ['a PDF behind a thousand characters', Buffer.from(`${'x'.repeat(1000)}%PDF-1.4 tiny`)],
    ['an old Word file', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['bytes that no text has', Buffer.from('MM\0\x2a\0\0\0\x08')],
  ])('that are called text may fill the context where they are %s', async (_, bytes) => {
    upstream.answer(completion({ prompt_tokens: 150_000 }));
    const file = { filename: 'a.txt', file_data: `data:text/plain;base64,${bytes.toString('base64')}` };
    const messages = [{ role: 'user', content: [{ type: 'file', file }] }];
    const body = { model: 'm/chat', max_tokens: 50, messages };
    expect((await ask(await newKey(0.05), '/chat/completions', body)).status).toBe(402);
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le')],
    ['Latin-1', Buffer.from('h\xe9llo', 'latin1')],
  ])('of plain text in %s count by their bytes', async (_, bytes) => {
    upstream.answer(completion({}));
    const file = { filename: 'a.txt', file_data: `data:text/plain;base64,${bytes.toString('base64')}` };
    const messages = [{ role: 'user', content: [{ type: 'file', file }] }];
    const body = { model: 'm/chat', max_tokens: 50, messages };
    expect((await ask(await newKey(0.05), '/chat/completions', body)).status).toBe(200);
  });

  it.each([
    ['may fill the context where the upstream runs it', 'container_auto', 402],
    ['does not where the caller runs it', 'local', 200],
  ])('what a shell reads %s', async (_, environment, status) => {
    upstream.answer(response(0));
    const replied = await ask(await newKey(0.05), '/responses', {
      model: 'm/responses',
      max_output_tokens: 50,
      input: 'x',
      tools: [{ type: 'shell', environment: { type: environment } }],
    });
    expect(replied.status).toBe(status);
  });

  it('that are recordings may fill the context too', async () => {
    upstream.answer(completion({ prompt_tokens: 150_000 }));
    const content = [{ type: 'input_audio', input_audio: { data: btoa('sound'), format: 'wav' } }];
    const body = { model: 'm/chat', max_tokens: 50, messages: [{ role: 'user', content }] };
    expect((await ask(await newKey(0.05), '/chat/completions', body)).status).toBe(402);
    expect(upstream.requests).toHaveLength(0);
  });
});

it('an earlier turn that looked at a page does not fill the context', async () => {
  upstream.answer(response(0));
  const call = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
  const input = [
    { role: 'user', content: 'x' },
    { ...call, action: { type: 'open_page', url: 'https://a.example/b' } },
    { role: 'user', content: 'y' },
  ];
  const { status } = await ask(await newKey(0.05), '/responses', {
    model: 'm/responses',
    max_output_tokens: 50,
    input,
  });
  expect(status).toBe(200);
});

it('tools that the upstream itself defines are reserved for by what it says of them', async () => {
  const tokens = 499 + 735 + 700 + 245 + 10;
  upstream.answer(message({ input_tokens: tokens, output_tokens: 1 }));
  const body = {
    model: 'm/uncached',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
    tools: [
      { type: 'computer_20250124', name: 'computer', display_width_px: 1024, display_height_px: 768 },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      { type: 'bash_20250124', name: 'bash' },
    ],
  };
  const short = tokens * 0.000003 * 0.9;
  const key = await newKey(Number(short.toFixed(6)));
  await racing(4, () => ask(key, '/messages', body));
  expect(upstream.requests.length * tokens * 0.000003).toBeLessThanOrEqual(short);
  expect((await ask(await newKey(0.02), '/messages', body)).status).toBe(200);
});

it('tokens that are kept in the United States are reserved for and charged at 1.1 times their price', async () => {
  upstream.answer((request) =>
    message({
      input_tokens: 10_000,
      output_tokens: 5,
      inference_geo: (request.json as any).inference_geo ?? 'global',
    }),
  );
  const body = (more: object) => ({
    model: 'm/uncached',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'word '.repeat(10_000) }],
    ...more,
  });
  const listed = 10_000 * 0.000003 + 5 * 0.0000001;
  const costs = async (more: object) =>
    (await recordOf((await ask(await newKey(), '/messages', body(more))).id)).total_cost;
  expect(await costs({ inference_geo: 'us' })).toBeCloseTo(1.1 * listed, 12);
  expect(await costs({ inference_geo: 'global' })).toBeCloseTo(listed, 12);
  expect(await costs({})).toBeCloseTo(listed, 12);
  // The reservation is one and a half times our count of the text: 0.0452 as listed, 0.0497 at this price.
  const between = async (more: object) => (await ask(await newKey(0.047), '/messages', body(more))).status;
  expect(await between({})).toBe(200);
  expect(await between({ inference_geo: 'us' })).toBe(402);
});

describe('images', () => {
  /** The header of a PNG of so many pixels on each side. */
  function png(pixels: number): string {
    const bytes = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000080600000000000000', 'hex');
    bytes.writeUInt32BE(pixels, 16);
    bytes.writeUInt32BE(pixels, 20);
    return `data:image/png;base64,${bytes.toString('base64')}`;
  }

  it.each([
    ['16,384 tokens with high resolution', 'm/qwen', png(1), 16_384, 0.06],
    ['tiles of an image that comes along', 'm/gemini', png(12_288), 66_048, 0.25],
    ['tiles of an image somewhere else', 'm/gemini', 'https://a.example/b.png', 66_048, 0.7],
  ])('are reserved for by what the model may count: %s', async (_, model, url, tokens, enough) => {
    const body = {
      model,
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    };
    upstream.answer(completion({ prompt_tokens: tokens, total_tokens: tokens + 5 }));
    const short = tokens * 0.000003 * 0.9;
    const key = await newKey(Number(short.toFixed(6)));
    await racing(4, () => ask(key, '/chat/completions', body));
    expect(upstream.requests.length * tokens * 0.000003).toBeLessThanOrEqual(short);
    expect((await ask(await newKey(enough), '/chat/completions', body)).status).toBe(200);
  });
});

describe('a context that is compacted first', () => {
  const compacting = (trigger = 50_000) => ({
    model: 'm/messages',
    max_tokens: 500,
    messages: [{ role: 'user', content: 'word '.repeat(59_000) }],
    context_management: {
      edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: trigger } }],
    },
  });
  const usage = {
    input_tokens: 8000,
    output_tokens: 500,
    iterations: [
      { type: 'compaction', input_tokens: 60_000, output_tokens: 3500 },
      { type: 'message', input_tokens: 8000, output_tokens: 500 },
    ],
  };
  const price = 68_000 * 0.000003 + 4000 * 0.0000001;

  it('is charged for both passes', async () => {
    upstream.answer(message(usage));
    const { id } = await ask(await newKey(5), '/messages', compacting());
    const record = await recordOf(id);
    expect(record).toMatchObject({ tokens_prompt: 68_000, tokens_completion: 4000, written_off: 0 });
    expect(record.total_cost).toBeCloseTo(price, 9);
  });

  it('is reserved for: 8 requests that race cost the upstream no more than their limit', async () => {
    const pass = { input_tokens: 59_000, output_tokens: 500 };
    const iterations = [
      { type: 'compaction', ...pass },
      { type: 'message', ...pass },
    ];
    const race = async (limit: number) => {
      upstream.clear();
      upstream.answer(message({ ...pass, iterations }));
      const key = await newKey(limit);
      await racing(8, () => ask(key, '/messages', { ...compacting(), model: 'm/uncached' }));
      return upstream.requests.length;
    };
    expect((await race(0.3)) * 2 * 59_000 * 0.000003).toBeLessThanOrEqual(0.3);
    expect(await race(0.6)).toBe(1);
  });

  it('is accepted if both passes together count more than the context holds', async () => {
    const pass = { type: 'compaction', input_tokens: 230_000, output_tokens: 1000 };
    upstream.answer(message({ ...usage, iterations: [pass, pass] }));
    const { id } = await ask(await newKey(), '/messages', compacting());
    expect(await recordOf(id)).toMatchObject({ tokens_prompt: 468_000, usage_source: 'measured' });
  });
});

it('thoughts that are billed and not shown are paid for, although answers were short before', async () => {
  const key = await newKey(0.0015);
  const body = { model: 'm/thinking', max_tokens: 1000, messages: [{ role: 'user', content: 'Hi' }] };
  upstream.answer(completion({}));
  expect((await ask(key, '/chat/completions', body)).status).toBe(200);
  upstream.clear();
  let billed = 0;
  upstream.answer((request) => {
    const tokens = (request.json as any).max_tokens;
    billed += tokens * 0.0000001;
    return [
      head(200, SSE),
      stall(50),
      write(
        sse([
          { data: { id: 'c', model: 'one', choices: [{ index: 0, delta: { content: 'ok' } }] } },
          {
            data: {
              id: 'c',
              model: 'one',
              choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
              usage: { prompt_tokens: 10, completion_tokens: tokens, total_tokens: tokens + 10 },
            },
          },
          { data: '[DONE]' },
        ]),
      ),
      end(),
    ];
  });
  await Promise.all(
    Array.from({ length: 60 }, async () => {
      const streamed = await gateway.post(
        '/chat/completions',
        { ...body, stream: true },
        { authorization: `Bearer ${key}` },
      );
      await streamed.text();
    }),
  );
  expect(billed).toBeLessThanOrEqual(0.0015);
});

it('a script that another tokenizer does not know is reserved as that one counts it', async () => {
  const text = 'გამარჯობა, მე ვარ ახალი ტიპის ენობრივი მოდელი, სასიამოვნოა თქვენი გაცნობა! '.repeat(100);
  const tokens = countAsCl100k(text) + 7;
  const limit = tokens * 0.000003 * 0.9;
  upstream.answer(completion({ prompt_tokens: tokens, total_tokens: tokens + 5 }));
  const body = { model: 'm/uncached-chat', max_tokens: 5, messages: [{ role: 'user', content: text }] };
  const key = await newKey(Number(limit.toFixed(6)));
  await racing(4, () => ask(key, '/chat/completions', body));
  expect(upstream.requests.length * tokens * 0.000003).toBeLessThanOrEqual(limit);
  expect((await ask(await newKey(2 * limit), '/chat/completions', body)).status).toBe(200);
});

it('prompts that an upstream counted low do not lower later reservations', async () => {
  const key = await newKey(0.039);
  const body = (words: number) => ({
    model: 'm/learnt',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'word '.repeat(words) }],
  });
  upstream.answer(completion({ prompt_tokens: 100, total_tokens: 105 }));
  for (let round = 0; round < 3; round++) {
    expect((await ask(key, '/chat/completions', body(1000))).status).toBe(200);
  }
  upstream.clear();
  upstream.answer(completion({ prompt_tokens: 4000, total_tokens: 4005 }));
  await racing(12, () => ask(key, '/chat/completions', body(4000)));
  expect(upstream.requests.length).toBeGreaterThan(0);
  expect(upstream.requests.length * 4000 * 0.000003).toBeLessThanOrEqual(0.039);
});

it('the overhead of a short prompt is not used as a ratio for long ones', async () => {
  const key = await newKey(0.02);
  const body = (words: number) => ({
    model: 'm/around',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'word '.repeat(words) }],
  });
  // 400 tokens beside the 104 that we count.
  upstream.answer(completion({ prompt_tokens: 504, total_tokens: 509 }));
  expect((await ask(key, '/chat/completions', body(100))).status).toBe(200);
  upstream.clear();
  upstream.answer(completion({ prompt_tokens: 1404, total_tokens: 1409 }));
  expect((await ask(key, '/chat/completions', body(1000))).status).toBe(200);
});

it('a chat request with both names of the output limit is paid for at the higher one', async () => {
  let billed = 0;
  upstream.answer((request) => {
    const tokens = (request.json as any).max_tokens ?? (request.json as any).max_completion_tokens;
    billed += 10 * 0.000003 + tokens * 0.0000001;
    return completion({ completion_tokens: tokens, total_tokens: 10 + tokens });
  });
  const key = await newKey(0.001);
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = { model: 'm/chat', max_completion_tokens: 10, max_tokens: 1000, messages };
  await racing(40, () => ask(key, '/chat/completions', body));
  expect(upstream.requests.length).toBeGreaterThan(0);
  expect(billed).toBeLessThanOrEqual(0.001);
});

it.each([
  ['digits, of which an upstream makes a token each', '1234567890'.repeat(400), 4000],
  ['runes, of which an upstream makes a token of each byte', 'ᚠ'.repeat(1000), 3000],
])('racing prompts of %s keep to the limit', async (_, content, tokens) => {
  upstream.answer(completion({ prompt_tokens: tokens, total_tokens: tokens + 5 }));
  const key = await newKey(0.06);
  const body = { model: 'm/uncached-chat', max_tokens: 10, messages: [{ role: 'user', content }] };
  await racing(20, () => ask(key, '/chat/completions', body));
  expect(upstream.requests.length).toBeGreaterThan(0);
  expect(upstream.requests.length * tokens * 0.000003).toBeLessThanOrEqual(0.06);
});

it('a prompt that is written to the cache of an hour is reserved for at that price', async () => {
  upstream.answer(
    message({
      input_tokens: 0,
      cache_creation_input_tokens: 10_000,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 10_000 },
    }),
  );
  const body = {
    model: 'm/messages',
    max_tokens: 10,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'word '.repeat(10_000), cache_control: { type: 'ephemeral', ttl: '1h' } },
        ],
      },
    ],
  };
  expect((await ask(await newKey(0.05), '/messages', body)).status).toBe(402);
  const { status, id } = await ask(await newKey(0.1), '/messages', body);
  expect(status).toBe(200);
  expect(await recordOf(id)).toMatchObject({ total_cost: 0.0600005, written_off: 0 });
});

it('zeros at the end of a stream do not erase the prompt tokens reported at its start', async () => {
  const frames = messagesFrames({ text: 'hello' }).map(({ event, data }) => {
    const given = data as any;
    if (event === 'message_start') {
      const usage = { input_tokens: 1000, output_tokens: 1 };
      return { event, data: { ...given, message: { ...given.message, usage } } };
    }
    if (event !== 'message_delta') return { event, data };
    const usage = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 };
    return { event, data: { ...given, usage } };
  });
  upstream.answer([head(200, SSE), write(sse(frames as never)), end()]);
  const streamed = await gateway.post('/messages', {
    model: 'm/messages',
    max_tokens: 50,
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  await streamed.text();
  expect(await recordOf(streamed.headers.get('x-generation-id'))).toMatchObject({
    tokens_prompt: 1000,
    tokens_completion: 5,
    usage_source: 'measured',
  });
});

it('a stream that the time limit of its provider ends is charged for what was passed on', async () => {
  const chunk = (content: string) => ({
    data: {
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'one',
      choices: [{ index: 0, delta: { content } }],
    },
  });
  const pieces = Array.from({ length: 40 }, (_, index) => [
    write(sse([chunk(`w${index} `)])),
    stall(50),
  ]).flat();
  upstream.answer([head(200, SSE), ...pieces, end()]);
  const streamed = await gateway.post('/chat/completions', {
    model: 'm/short',
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const text = await streamed.text();
  expect(text).toContain('took too long');
  const record = await recordOf(streamed.headers.get('x-generation-id'));
  expect(record).toMatchObject({ finish_reason: 'error', usage_source: 'estimated' });
  expect(record.tokens_completion).toBeGreaterThan(0);
  expect(record.total_cost).toBeGreaterThan(0);
});

it('usage beyond reservation and limit is written off, with its cause', async () => {
  const writtenOff = async () => {
    const page = await (
      await fetch(`${gateway.origin}/metrics`, {
        headers: { authorization: `Bearer ${gateway.managementKey}` },
      })
    ).text();
    return Number(/signalbox_written_off_usd_total\{cause="prompt"\} (\S+)/.exec(page)?.[1]);
  };
  const before = await writtenOff();
  upstream.answer(completion({ prompt_tokens: 20_000, total_tokens: 20_005 }));
  const { status, id } = await ask(await newKey(0.01), '/chat/completions', {
    model: 'm/chat',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(status).toBe(200);
  const record = await recordOf(id);
  expect(record).toMatchObject({ total_cost: 0.01, written_off_cause: 'prompt' });
  expect(record.written_off).toBeCloseTo(0.0500005, 9);
  expect((await writtenOff()) - before).toBeCloseTo(0.0500005, 9);
});

it('a generation abandoned before its first content is not charged; its worst cost is written off', async () => {
  const beginnings = {
    stream: [head(200, SSE), write(sse(messagesFrames({ text: 'x' }).slice(0, 1)))],
    whole: [],
  };
  for (const [name, beginning] of Object.entries(beginnings)) {
    upstream.clear();
    upstream.answer([...beginning, stall(5000), end()]);
    const leaving = new AbortController();
    const asking = gateway.fetch('/messages', {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', 'x-request-id': `left-${name}` },
      body: JSON.stringify({
        model: 'm/messages',
        max_tokens: 50,
        stream: name === 'stream',
        messages: [{ role: 'user', content: 'word '.repeat(10_000) }],
      }),
    });
    await upstream.request(0);
    leaving.abort();
    await expect(asking).rejects.toThrow();
    const left = () => {
      const line = gateway.logged('generation').findLast(({ outcome }) => outcome === 'aborted');
      return recordOf(String(line?.id));
    };
    await expect.poll(async () => (await left())?.request_id).toBe(`left-${name}`);
    const record = await left();
    expect(record).toMatchObject({ cancelled: true, total_cost: 0, written_off_cause: 'abandoned' });
    expect(record.written_off).toBeGreaterThan(0.03);
    expect(record.written_off).toBeLessThan(0.1);
    const abandoned = async () => {
      const overview = await gateway.fetch('/overview', { key: gateway.managementKey });
      const { written_off } = ((await overview.json()) as any).data;
      return written_off.find(({ cause }: { cause: string }) => cause === 'abandoned')?.cost ?? 0;
    };
    await expect.poll(abandoned).toBeGreaterThanOrEqual(record.written_off);
  }
});
