import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { likelyCatalogueMistakes } from '../../../src/gateway/request/likely-catalogue-mistakes.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** Tools that upstreams run themselves: what they cost, and what limits hold back of it. */

const PRICES = {
  prompt: '0.000001',
  completion: '0.000002',
  web_search: '0.01',
  x_search: '0.005',
  file_search: '0.0025',
  code_execution: '0.03',
  image_generation: '0.00004',
  image_generation_input: '0.00001',
};

const UNPRICED = { prompt: PRICES.prompt, completion: PRICES.completion };

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const of = (provider: string, pricing: object = PRICES) => ({
    context_length: 200_000,
    endpoints: [{ provider, model: 'one', context_length: 200_000, max_output_tokens: 2000, pricing }],
  });
  gateway = await openTestGateway({
    providers: [
      { slug: 'responder', dialect: 'openai-responses', base_url: upstream.url, api_key: 'k' },
      { slug: 'messenger', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
      {
        slug: 'allowing',
        dialect: 'openai-responses',
        base_url: upstream.url,
        api_key: 'k',
        unpriced: 'allow',
      },
      { slug: 'chatter', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
    ],
    models: [
      { id: 'm/responses', ...of('responder') },
      { id: 'm/messages', ...of('messenger') },
      { id: 'm/chat', ...of('chatter') },
      { id: 'm/unpriced', ...of('responder', UNPRICED) },
      { id: 'm/unpriced-messages', ...of('messenger', UNPRICED) },
      { id: 'm/unpriced-chat', ...of('chatter', UNPRICED) },
      { id: 'm/allowed', ...of('allowing', UNPRICED) },
      {
        id: 'm/both',
        context_length: 200_000,
        endpoints: [
          { provider: 'responder', tag: 'responder/cheap', model: 'cheap', pricing: UNPRICED },
          { provider: 'responder', model: 'one', max_output_tokens: 2000, pricing: PRICES },
        ],
      },
    ],
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const answer = (body: object) => upstream.answer([head(200, JSON_TYPE), write(JSON.stringify(body)), end()]);

const response = (output: object[], more: object = {}, tokens = 100) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'one',
  output: [
    ...output,
    { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
  ],
  usage: { input_tokens: tokens, output_tokens: 20, total_tokens: tokens + 20 },
  ...more,
});

const message = (content: object[], usage: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'one',
  content: [...content, { type: 'text', text: 'done' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
});

const completion = (usage: object) => ({
  id: 'c',
  object: 'chat.completion',
  model: 'one',
  choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, ...usage },
});

async function keyWith(limit: number | null): Promise<string> {
  const made = await gateway.fetch('/keys', {
    method: 'POST',
    key: gateway.managementKey,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Limited', limit }),
  });
  return ((await made.json()) as any).key;
}

async function ask(path: string, body: object, key?: string) {
  const reply = await gateway.post(path, body, key === undefined ? {} : { authorization: `Bearer ${key}` });
  const text = await reply.text();
  if (reply.status !== 200) return { status: reply.status, record: undefined as any, text };
  const shown = await gateway.fetch(`/generation?id=${reply.headers.get('x-generation-id')}`);
  return { status: 200, record: ((await shown.json()) as any).data, text };
}

/** 100 prompt tokens and 20 of output. */
const TOKENS = 100e-6 + 20 * 2e-6;

const drawing = (more: object = {}) => ({
  model: 'm/responses',
  input: 'Draw',
  tools: [{ type: 'image_generation', quality: 'high' }],
  ...more,
});

const PICTURE = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' };

describe('what upstreams do with tools of their own is charged', () => {
  it.each<[string, object, object[], object, number]>([
    [
      'pictures by the tokens that are reported',
      { type: 'image_generation' },
      [PICTURE],
      { tool_usage: { image_gen: { input_tokens: 1000, output_tokens: 6000 } } },
      6000 * 4e-5 + 1000 * 1e-5,
    ],
    [
      'pictures by quality where nothing is reported',
      { type: 'image_generation', quality: 'low' },
      [PICTURE],
      {},
      500 * 4e-5 + 5000 * 1e-5,
    ],
    [
      'containers by their memory',
      { type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } },
      ['a', 'a', 'b'].map((container_id) => ({
        type: 'code_interpreter_call',
        id: `ci_${container_id}`,
        status: 'completed',
        container_id,
        code: '1',
      })),
      {},
      2 * 4 * 0.03,
    ],
    [
      'searches of files',
      { type: 'file_search', vector_store_ids: ['vs_1'] },
      [{ type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['x'] }],
      {},
      0.0025,
    ],
  ])('%s', async (_, tool, output, more, price) => {
    answer(response(output, more));
    const { record } = await ask('/responses', { model: 'm/responses', input: 'Go', tools: [tool] });
    expect(record.total_cost).toBeCloseTo(price + TOKENS, 9);
    expect(record.written_off).toBe(0);
  });

  it('in a stream that breaks off too', async () => {
    const frames = [
      { type: 'response.created', response: { id: 'resp_1', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...PICTURE, result: null } },
      { type: 'response.output_item.done', output_index: 0, item: PICTURE },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    upstream.answer([head(200, { 'content-type': 'text/event-stream' }), write(frames.join('')), end()]);
    const reply = await gateway.post('/responses', drawing({ stream: true }));
    await reply.text();
    const shown = await gateway.fetch(`/generation?id=${reply.headers.get('x-generation-id')}`);
    const { total_cost: cost } = ((await shown.json()) as any).data;
    expect(cost).toBeCloseTo(7500 * 4e-5 + 5000 * 1e-5, 9);
  });

  it('once for all code of an answer in the messages format', async () => {
    const ran = ['a', 'b'].map((id) => ({
      type: 'server_tool_use',
      id: `srvtoolu_${id}`,
      name: 'bash_code_execution',
      input: {},
    }));
    answer(message(ran, { input_tokens: 100, output_tokens: 20 }));
    const { record } = await ask('/messages', {
      model: 'm/messages',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Compute' }],
      tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
    });
    expect(record.total_cost).toBeCloseTo(0.03 + TOKENS, 9);
  });

  it.each([
    ['server_tool_use_details', { server_tool_use_details: { web_search_requests: 3 } }, 3, 'measured'],
    ['num_search_queries', { num_search_queries: 2 }, 2, 'measured'],
    ['num_sources_used', { num_sources_used: 4 }, 4, 'measured'],
    ['a count of none', { num_search_queries: 0 }, 0, 'measured'],
    ['nothing', {}, 1, 'estimated'],
  ])('searches of chat upstreams by %s', async (_, usage, searches, source) => {
    answer(completion(usage));
    const { record } = await ask('/chat/completions', {
      model: 'm/chat',
      messages: [{ role: 'user', content: 'Look it up' }],
      web_search_options: {},
    });
    expect(record.total_cost).toBeCloseTo(searches * 0.01 + TOKENS, 9);
    expect([record.usage_source, record.web_search_engine]).toEqual([source, searches > 0 ? 'native' : null]);
  });

  it('and calls that xAI reports, each at its price', async () => {
    const calls = { web_search_calls: 2, x_search_calls: 3, code_interpreter_calls: 1, mcp_calls: 5 };
    answer(completion({ server_side_tool_usage_details: calls }));
    const { record } = await ask('/chat/completions', {
      model: 'm/chat',
      messages: [{ role: 'user', content: 'Look it up' }],
      tools: ['live_search', 'x_search', 'code_execution'].map((type) => ({ type })),
    });
    expect(record.total_cost).toBeCloseTo(0.02 + 0.015 + 0.03 + TOKENS, 9);
  });

  it('but not what no tool of the request could do: that is disputed', async () => {
    answer(response([], { tool_usage: { image_gen: { input_tokens: 0, output_tokens: 1000 } } }));
    const { record } = await ask('/responses', { model: 'm/responses', input: 'Hello' });
    expect(record.total_cost).toBeCloseTo(TOKENS, 9);
    expect(record).toMatchObject({ written_off: 0.04, written_off_cause: 'disputed' });
  });
});

describe('limits', () => {
  it('bound the calls that the upstream may make, and what is beyond them is written off as tools', async () => {
    const key = await keyWith(0.9);
    answer(response([PICTURE], { tool_usage: { image_gen: { input_tokens: 5000, output_tokens: 50_000 } } }));
    const { status, record } = await ask('/responses', drawing(), key);
    expect(status).toBe(200);
    const [sent] = upstream.requests.map((request) => request.json as any);
    const most = sent?.max_tool_calls;
    expect(most).toBeGreaterThanOrEqual(1);
    // A picture of high quality is reserved at 7,500 tokens and 5,000 of input.
    expect(most * (7500 * 4e-5 + 5000 * 1e-5)).toBeLessThanOrEqual(0.9);
    const bill = 50_000 * 4e-5 + 5000 * 1e-5 + TOKENS;
    expect(record.total_cost).toBeLessThanOrEqual(0.9);
    expect(record.total_cost + record.written_off).toBeCloseTo(bill, 6);
    expect(record.written_off_cause).toBe('tools');
  });

  it('refuse a picture that they do not pay for', async () => {
    const { status } = await ask('/responses', drawing(), await keyWith(0.1));
    expect(status).toBe(402);
    expect(upstream.requests).toHaveLength(0);
  });

  it('pay for the prompt once for each call of a tool, and believe the upstream that reports it so', async () => {
    const calls = [1, 2, 3, 4].map((id) => ({
      type: 'mcp_call',
      id: `mcp_${id}`,
      status: 'completed',
      name: 'f',
      server_label: 's',
      arguments: '{}',
    }));
    answer(response(calls, {}, 900_000));
    const { record } = await ask('/responses', {
      model: 'm/responses',
      input: 'Read all of it',
      tools: [{ type: 'code_interpreter', container: 'cntr_1' }],
    });
    expect(record.total_cost).toBeCloseTo(0.9 + 20 * 2e-6, 9);
    expect(record).toMatchObject({ written_off: 0, usage_source: 'measured' });
    upstream.clear();
    answer(response([], {}, 900_000));
    const { record: none } = await ask('/responses', {
      model: 'm/responses',
      input: 'Read all of it',
      tools: [{ type: 'code_interpreter', container: 'cntr_1' }],
    });
    expect(none.written_off_cause).toBe('disputed');
  });
});

describe('tools without a price', () => {
  const searched = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } };
  const asking = (model: string, type = 'web_search') => ({ model, input: 'Look', tools: [{ type }] });

  it.each(['web_search', 'oracle_20300101'])(
    'are not run for a key that a limit covers: %s',
    async (type) => {
      const { status, text } = await ask('/responses', asking('m/unpriced', type), await keyWith(5));
      expect(status).toBe(404);
      const { error } = JSON.parse(text);
      expect(error.message).toContain(`unpriced: bills ${type} and has no price for it`);
      expect(upstream.requests).toHaveLength(0);
    },
  );

  it.each([
    [
      '/responses',
      'm/unpriced',
      { type: 'web_search', external_web_access: false },
      { type: 'function', name: 'run', parameters: { type: 'object' }, strict: false },
      response([]),
      { type: 'web_search' },
    ],
    [
      '/messages',
      'm/unpriced-messages',
      { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
      { name: 'run', input_schema: { type: 'object' } },
      message([], { input_tokens: 100, output_tokens: 20 }),
      { type: 'tool', name: 'web_search' },
    ],
  ])(
    'are left out of a request to %s that offers tools of its own',
    async (path, model, search, own, body, choice) => {
      const key = await keyWith(5);
      answer(body);
      const asked = {
        model,
        tools: [own, search],
        ...(path === '/messages'
          ? { max_tokens: 100, messages: [{ role: 'user', content: 'Look' }] }
          : { input: 'Look' }),
      };
      const headers = { authorization: `Bearer ${key}`, 'x-signalbox-metadata': 'enabled' };
      const reply = await gateway.post(path, asked, headers);
      expect(reply.status).toBe(200);
      const { signalbox_metadata: metadata } = (await reply.json()) as any;
      expect(JSON.stringify(metadata.translation)).toContain(`the upstream bills ${search.type}`);
      const [sent] = upstream.requests.map(({ json }) => json as any);
      expect(sent.tools).toHaveLength(1);
      expect(sent.tools[0].name).toBe('run');
      const chosen = await ask(path, { ...asked, tool_choice: choice }, key);
      expect(chosen.status).toBe(404);
      upstream.clear();
      answer(body);
      expect((await ask(path, asked, await keyWith(null))).status).toBe(200);
      const [whole] = upstream.requests.map(({ json }) => json as any);
      expect(whole.tools).toHaveLength(2);
    },
  );

  it('leave the other tools and requests of such a key alone', async () => {
    const key = await keyWith(5);
    answer(response([]));
    expect((await ask('/responses', { model: 'm/unpriced', input: 'Hello' }, key)).status).toBe(200);
    answer(response([]));
    expect((await ask('/responses', asking('m/unpriced', 'local_shell'), key)).status).toBe(200);
  });

  it.each([
    ['/chat/completions', 'm/unpriced-chat', { web_search: { enable: true } }],
    ['/chat/completions', 'm/unpriced-chat', { web_search: true }],
    ['/chat/completions', 'm/unpriced-chat', { enable_web_search: true }],
    ['/chat/completions', 'm/unpriced-chat', { search_parameters: {} }],
    ['/chat/completions', 'm/unpriced-chat', { enable_search: 1 }],
    ['/chat/completions', 'm/unpriced-chat', { venice_parameters: { enable_web_search: 'auto' } }],
    ['/chat/completions', 'm/unpriced-chat', { force_search_enhancement: true }],
    ['/chat/completions', 'm/unpriced-chat', { enable_enhancement: true }],
    ['/chat/completions', 'm/unpriced-chat', { connectors: [{ id: 'web-search' }] }],
    ['/chat/completions', 'm/unpriced-chat', { compound_custom: { tools: {} } }],
    ['/chat/completions', 'm/unpriced-chat', { extra_body: { enable_search: true } }],
    ['/responses', 'm/unpriced', { search_parameters: { mode: 'on' } }],
    ['/messages', 'm/unpriced-messages', { enable_search: true }],
  ])('are not switched on for such a key by members of a provider: %s %s %j', async (path, model, member) => {
    const asked = {
      model,
      ...(path === '/responses' ? { input: 'Look' } : { messages: [{ role: 'user', content: 'Look' }] }),
      ...(path === '/messages' && { max_tokens: 100 }),
    };
    const { status, text } = await ask(path, { ...asked, ...member }, await keyWith(5));
    expect([status, text]).toEqual([404, expect.stringContaining('unpriced: bills web_search')]);
    expect(upstream.requests).toHaveLength(0);
    answer(
      {
        '/chat/completions': completion({}),
        '/responses': response([]),
        '/messages': message([], { input_tokens: 100, output_tokens: 20 }),
      }[path] ?? {},
    );
    expect((await ask(path, { ...asked, ...member }, await keyWith(null))).status).toBe(200);
    expect(upstream.requests[0]?.json).toMatchObject(member);
  });

  it.each([
    { web_search: { enable: false } },
    { search_parameters: { mode: 'off' } },
    { enable_search: false },
    { venice_parameters: { enable_web_search: 'off', character_slug: 'ada' } },
    { connectors: [] },
  ])('are not switched on by %j', async (member) => {
    answer(completion({}));
    const messages = [{ role: 'user', content: 'Hi' }];
    const asked = { model: 'm/unpriced-chat', messages, ...member };
    expect((await ask('/chat/completions', asked, await keyWith(5))).status).toBe(200);
  });

  it('leave endpoints that have the price, and the metadata says why', async () => {
    answer(response([searched]));
    const reply = await gateway.post('/responses', asking('m/both'), {
      authorization: `Bearer ${await keyWith(5)}`,
      'x-signalbox-metadata': 'enabled',
    });
    const { signalbox_metadata: metadata } = (await reply.json()) as any;
    expect(metadata.endpoints.rejected).toEqual([
      {
        provider: 'responder',
        model: 'm/both',
        filter: 'unpriced',
        reason: expect.stringContaining('web_search'),
      },
    ]);
    expect(upstream.requests.map(({ json }) => (json as any).model)).toEqual(['one']);
  });

  it('are explained', async () => {
    const explained = await gateway.fetch('/routing/explain', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      key: await keyWith(5),
      body: JSON.stringify(asking('m/both')),
    });
    const { candidates, rejected } = (((await explained.json()) as any).data ?? {}) as any;
    expect(candidates?.map(({ tag }: any) => tag)).toEqual(['responder']);
    expect(rejected).toMatchObject([{ tag: 'responder/cheap', filter: 'unpriced' }]);
  });

  it.each([
    ['for a key without a limit', 'm/unpriced', null],
    ['where the operator allows it', 'm/allowed', 5],
  ])('are run and counted %s', async (_, model, limit) => {
    answer(response([searched, { ...searched, id: 'ws_2' }]));
    const { status, record } = await ask('/responses', asking(model), await keyWith(limit));
    expect(status).toBe(200);
    expect(record.total_cost).toBeCloseTo(TOKENS, 9);
    expect(record).toMatchObject({ hosted_tools: { web_search: 2 }, unpriced: { web_search: 2 } });
    const headers = { authorization: `Bearer ${gateway.managementKey}` };
    const page = await (await fetch(`${gateway.origin}/metrics`, { headers })).text();
    const provider = model === 'm/allowed' ? 'allowing' : 'responder';
    expect(page).toContain(`signalbox_unpriced_tool_use_total{provider="${provider}",tool="web_search"} 2`);
  });

  it.each([
    ['left out for a key that a limit covers', 'm/messages', 5, undefined],
    ['sent for a key without a limit', 'm/messages', null, 'default'],
  ])('are also models that an upstream falls back to by itself: %s', async (_, model, limit, fallbacks) => {
    answer(message([], { input_tokens: 100, output_tokens: 20 }));
    const asked = {
      model,
      max_tokens: 100,
      fallbacks: 'default',
      messages: [{ role: 'user', content: 'Hi' }],
    };
    const key = await keyWith(limit);
    const reply = await gateway.post('/messages', asked, {
      authorization: `Bearer ${key}`,
      'x-signalbox-metadata': 'enabled',
    });
    const body = (await reply.json()) as any;
    expect(reply.status, JSON.stringify(body)).toBe(200);
    expect(upstream.requests[0]?.json?.fallbacks).toBe(fallbacks);
    const told = (body.signalbox_metadata.translation ?? []).filter(
      ({ field }: any) => field === 'fallbacks',
    );
    expect(told).toEqual(
      limit === null
        ? []
        : [{ field: 'fallbacks', action: 'dropped', detail: expect.stringContaining('has no price for it') }],
    );
  });

  it('are named by check-config', () => {
    const entry = { slug: 'own', dialect: 'openai-responses', base_url: 'http://h/v1', api_key: 'k' };
    const warned = (pricing: object, more: object = {}) =>
      likelyCatalogueMistakes({
        providers: [{ ...entry, ...more }],
        models: [{ id: 'm/x', endpoints: [{ provider: 'own', pricing }] }],
        presets: {},
        workspaces: [],
        tools: {},
        vendor: 'signalbox',
      } as never);
    expect(warned(UNPRICED)).toEqual([
      {
        path: 'models[0].endpoints[0].pricing',
        message: expect.stringContaining('has no web_search price although the upstream searches by itself'),
      },
    ]);
    for (const price of ['0', '0.01']) expect(warned({ ...UNPRICED, web_search: price })).toEqual([]);
    expect(warned(UNPRICED, { unpriced: 'allow' })).toEqual([]);
    expect(warned(UNPRICED, { dialect: 'openai-chat' })).toEqual([]);
  });
});
