import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerContent, chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  reset,
  stepsOf,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let engine: FakeUpstream;
let gateway: TestGateway;
let bare: TestGateway;

beforeAll(async () => {
  [upstream, engine] = await Promise.all([openFakeUpstream(), openFakeUpstream()]);
  const of = (id: string, provider: string, pricing: object = {}, more: object = {}) => ({
    id,
    endpoints: [{ provider, model: 'one', pricing, ...more }],
  });
  const config = {
    providers: [
      { slug: 'chatter', dialect: 'openai-chat', base_url: upstream.url },
      { slug: 'responder', dialect: 'openai-responses', base_url: upstream.url, api_key: 'k' },
      { slug: 'messenger', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
    ],
    models: [
      of('m/chat', 'chatter'),
      of('m/paid', 'chatter', { web_search: '0.004' }),
      of('m/listing', 'chatter', {}, { supported_parameters: ['tools', 'tool_choice', 'max_tokens'] }),
      of('m/responses', 'responder'),
      of('m/messages', 'messenger'),
    ],
    egress: { allow: [`127.0.0.1:${engine.port}`] },
  };
  const web = { engines: { searxng: { url: `http://127.0.0.1:${engine.port}` } } };
  [gateway, bare] = await Promise.all([
    openTestGateway({ ...config, plugins: { web } } as never),
    openTestGateway(config as never),
  ]);
});
beforeEach(() => {
  upstream.clear();
  engine.clear();
});
afterAll(async () => {
  await Promise.all([gateway.close(), bare.close()]);
  await Promise.all([upstream.close(), engine.close()]);
});

const RESULTS = [
  { url: 'https://www.example.com/a', title: 'About A', content: 'A is the first letter.' },
  { url: 'https://other.test/c', title: 'About C', content: 'C is the third.' },
];
const json = (value: unknown) => [head(200, JSON_TYPE), write(JSON.stringify(value)), end()];
const html = (text: string) => [head(200, { 'content-type': 'text/html' }), write(text), end()];

const SEARCH = { name: 'web_search', arguments: '{"query":"letter A"}', id: 'call_s' };
const TEXT = 'See [example.com](https://www.example.com/a).';
const TWO_LEGS: readonly AnswerContent[] = [{ tools: [SEARCH] }, { text: TEXT }];

const answers = (
  make: typeof chatAnswer | typeof messagesAnswer,
  contents: readonly AnswerContent[] = TWO_LEGS,
) => {
  for (const content of contents) upstream.answer(make(content));
};

async function post(path: string, body: object, at: TestGateway = gateway) {
  const response = await at.post(path, body, { 'x-signalbox-metadata': 'enabled' });
  return { status: response.status, body: (await response.json()) as any };
}

const tool = (parameters: object = {}) => ({ type: 'signalbox:web_search', parameters });

describe('web_search', () => {
  it('tells the model the results, and cites links on /responses', async () => {
    engine.answer(json({ results: RESULTS }));
    answers(chatAnswer);
    const { body } = await post('/responses', { model: 'm/chat', input: 'A?', tools: [tool()] });
    expect(engine.requests[0]?.path).toContain('q=letter+A');
    const told = JSON.parse(upstream.requests[1]?.json.messages[2].content);
    expect(told).toEqual({ results: RESULTS });
    const [call, message] = body.output;
    expect(call).toMatchObject({
      type: 'signalbox:web_search',
      status: 'completed',
      action: {
        type: 'search',
        query: 'letter A',
        sources: RESULTS.map(({ url }) => ({ type: 'url', url })),
      },
    });
    expect(message.content[0].annotations).toMatchObject([
      {
        type: 'url_citation',
        url: RESULTS[0]?.url,
        title: 'About A',
        start_index: 4,
        end_index: TEXT.length - 1,
      },
    ]);
  });

  it('is in the record with its engine and the number of its results', async () => {
    engine.answer(json({ results: RESULTS }));
    answers(chatAnswer);
    const asked = { model: 'm/chat', input: 'A?', tools: [tool()] };
    const response = await gateway.post('/responses', asked);
    await response.text();
    const id = response.headers.get('x-generation-id');
    const find = async () => {
      const reply = await gateway.fetch(`/generation?id=${id}`);
      return reply.status === 200 ? ((await reply.json()) as any).data : undefined;
    };
    await expect.poll(find).toMatchObject({ web_search_engine: 'searxng', num_search_results: 2 });
  });

  describe('for web_search_options', () => {
    const messages = [{ role: 'user', content: 'A?' }];
    const place = { type: 'approximate', approximate: { city: 'Rome', country: 'IT' } };
    const asked = { messages, web_search_options: { search_context_size: 'low', user_location: place } };

    it.each([
      ['m/listing', chatAnswer],
      ['m/messages', messagesAnswer],
      ['m/responses', responsesAnswer],
    ] as const)('runs here if %s does not take them', async (model, make) => {
      engine.answer(json({ results: RESULTS }));
      for (const content of TWO_LEGS) upstream.answer(make(content));
      const { status, body } = await post('/chat/completions', { model, ...asked });
      expect(status).toBe(200);
      expect(body.choices[0].message).toMatchObject({
        content: TEXT,
        annotations: [{ type: 'url_citation', url_citation: { url: RESULTS[0]?.url } }],
      });
      const [sent] = upstream.requests.map((request) => request.json as any);
      expect(JSON.stringify(sent.tools)).toContain('"web_search"');
      expect(sent).not.toHaveProperty('web_search_options');
      expect(JSON.stringify(body)).not.toContain('"web_search_options"');
      // This engine takes no place.
      expect(JSON.stringify(body.signalbox_metadata)).toContain('"field":"web_search_options.user_location"');
    });

    /** A model that searches in each turn in which it may, so many times at once. */
    function searching(count = 1): void {
      engine.answer(json({ results: RESULTS }));
      upstream.answer((request) => {
        const { tool_choice: choice } = request.json as any;
        const tools = Array.from({ length: count }, (_, index) => ({
          ...SEARCH,
          id: `call_${upstream.requests.length}_${index}`,
        }));
        const content = choice === 'none' ? { text: 'Enough.' } : { tools };
        return stepsOf(chatAnswer(content), request);
      });
    }

    it.each([
      ['10 times without a limit', 10, {}],
      ['as often as max_tool_calls says', 12, { max_tool_calls: 12 }],
      [
        'as often as its conditions say',
        3,
        { stop_server_tools_when: [{ type: 'step_count_is', step_count: 3 }] },
      ],
      ['as often as the operator allows beside other tools', 30, { tools: [{ type: 'signalbox:datetime' }] }],
    ])('runs %s, then the model answers in text', async (_, searches, more) => {
      searching();
      const { status, body } = await post('/chat/completions', { model: 'm/listing', ...asked, ...more });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Enough.' } });
      expect(upstream.requests).toHaveLength(searches + 1);
      expect(
        body.signalbox_metadata.pipeline.find(({ name }: any) => name === 'tool-loop').data,
      ).toMatchObject({ steps: searches, tool_calls: searches });
      // The limit is the gateway's own: no field of the request is lost by it.
      const lost = body.signalbox_metadata.translation.map(({ field }: any) => field);
      if (!('max_tool_calls' in more)) expect(lost.join()).not.toMatch(/max_/);
    });

    it('runs 10 times without a limit although a step has several searches', async () => {
      searching(4);
      const { body } = await post('/chat/completions', { model: 'm/listing', ...asked });
      expect(body.choices[0].message.content).toBe('Enough.');
      expect(engine.requests).toHaveLength(10);
    });

    it('does not run if no tool may be called', async () => {
      engine.answer(json({ results: RESULTS }));
      upstream.answer(chatAnswer({ tools: [SEARCH] }));
      const { body } = await post('/chat/completions', { model: 'm/listing', ...asked, tool_choice: 'none' });
      expect([engine.requests.length, upstream.requests.length]).toEqual([0, 1]);
      expect(body.choices[0].message).not.toHaveProperty('tool_calls');
    });

    it('is left to a chat upstream that takes them', async () => {
      upstream.answer(chatAnswer({ text: 'Searched.' }));
      await post('/chat/completions', { model: 'm/chat', ...asked });
      expect(upstream.requests.map(({ json }) => json)).toMatchObject([
        { web_search_options: asked.web_search_options },
      ]);
      expect(upstream.requests[0]?.json).not.toHaveProperty('tools');
    });

    it('is a reported loss without an engine', async () => {
      upstream.answer(messagesAnswer({ text: 'No.' }));
      const { body } = await post('/chat/completions', { model: 'm/messages', ...asked }, bare);
      expect(JSON.stringify(body)).toContain('"field":"web_search_options","action":"dropped"');
    });

    it('is explained without a loss of the options', async () => {
      const body = { format: 'chat', model: 'm/messages', ...asked };
      const explained = await post('/routing/explain', body);
      expect(explained.status).toBe(200);
      expect(JSON.stringify(explained.body)).not.toContain('"field":"web_search_options"');
      const lost = await post('/routing/explain', body, bare);
      expect(JSON.stringify(lost.body)).toContain('"field":"web_search_options"');
    });

    it('refuses a size that there is not, by its place', async () => {
      const web_search_options = { search_context_size: 'huge' };
      const { status, body } = await post('/chat/completions', {
        model: 'm/messages',
        messages,
        web_search_options,
      });
      expect([status, JSON.stringify(body)]).toEqual([
        400,
        expect.stringContaining('web_search_options.search_context_size'),
      ]);
    });
  });

  it('is not explained as a loss', async () => {
    const asked = { model: 'm/chat', input: 'A?' };
    for (const type of ['signalbox:web_search', 'web_search', 'signalbox:datetime']) {
      const { status, body } = await post('/routing/explain', { ...asked, tools: [{ type }] });
      expect(status).toBe(200);
      expect(JSON.stringify(body.data.candidates[0].translation)).not.toContain('cannot run');
    }
    const lost = await post('/routing/explain', { ...asked, tools: [{ type: 'web_search' }] }, bare);
    expect(JSON.stringify(lost.body.data.candidates[0].translation)).toContain('cannot run');
  });

  it('has the official blocks on /messages, and restores the results of a replay', async () => {
    engine.answer(json({ results: RESULTS }));
    answers(chatAnswer, [...TWO_LEGS, { text: 'Yes.' }]);
    const ask = { model: 'm/chat', max_tokens: 99, tools: [tool()] };
    const question = { role: 'user', content: 'A?' };
    const { body } = await post('/messages', { ...ask, messages: [question] });
    expect(body.content.map(({ type }: any) => type)).toEqual([
      'server_tool_use',
      'web_search_tool_result',
      'text',
    ]);
    const [use, result] = body.content;
    expect(use).toMatchObject({ name: 'web_search', input: { query: 'letter A' } });
    expect(use.id).toMatch(/^srvtoolu_/);
    expect(result.tool_use_id).toBe(use.id);
    expect(result.content[0]).toMatchObject({
      type: 'web_search_result',
      url: RESULTS[0]?.url,
      page_age: null,
    });
    expect(body.stop_reason).toBe('end_turn');
    const again = { role: 'user', content: 'Sure?' };
    const messages = [question, { role: 'assistant', content: body.content }, again];
    await post('/messages', { ...ask, messages });
    const sent = upstream.requests[2]?.json.messages;
    expect(sent.map(({ role }: any) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    expect(JSON.parse(sent[2].content)).toEqual({ results: RESULTS });
    // Relayed to an upstream of the same dialect, which could not read our blocks.
    answers(messagesAnswer, [{ text: 'Yes.' }]);
    await post('/messages', { model: 'm/messages', max_tokens: 99, messages });
    const relayed = upstream.requests[3]?.json.messages;
    expect(relayed.map(({ role }: any) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect(relayed[1].content[0]).toMatchObject({ type: 'tool_use', id: 'call_s', name: 'web_search' });
    expect(JSON.parse(relayed[2].content[0].content)).toEqual({ results: RESULTS });
  });

  it('shows hosted names in the words of the format', async () => {
    engine.answer(json({ results: RESULTS }));
    answers(chatAnswer);
    const body = { model: 'm/chat', input: 'A?', stream: true, tools: [{ type: 'web_search_2025_08_26' }] };
    const events = await readEvents(await gateway.post('/responses', body));
    const types = events.map(({ data }) => data.type).filter((type) => /item|web_search/.test(type ?? ''));
    expect(types.slice(0, 5)).toEqual([
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
    ]);
    const { output } = events.at(-2)?.data.response ?? {};
    expect(output[0]).toMatchObject({
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search' },
    });
    expect(output[0].id).toMatch(/^ws_/);
  });

  it('leaves hosted tools to upstreams that have them, and drops them without an engine', async () => {
    answers(responsesAnswer, [{ text: 'Hello' }]);
    const ask = { input: 'A?', tools: [{ type: 'web_search' }] };
    await post('/responses', { model: 'm/responses', ...ask });
    expect(upstream.requests[0]?.json.tools).toEqual([{ type: 'web_search' }]);
    upstream.clear();
    answers(chatAnswer, [{ text: 'Hello' }]);
    const { body } = await post('/responses', { model: 'm/chat', ...ask }, bare);
    expect(upstream.requests[0]?.json.tools).toBeUndefined();
    expect(body.signalbox_metadata.translation).toMatchObject([{ field: 'tools[0]', action: 'dropped' }]);
  });

  it('does not search for a caller who forbids new content from the web', async () => {
    answers(chatAnswer, [{ text: 'Hello' }]);
    const tools = [{ type: 'web_search', external_web_access: false }];
    const { body } = await post('/responses', { model: 'm/chat', input: 'A?', tools });
    expect(upstream.requests[0]?.json.tools).toBeUndefined();
    expect(body.signalbox_metadata.translation).toMatchObject([{ field: 'tools[0]', action: 'dropped' }]);
  });

  it('tells the model when an engine fails, and when no more searches are allowed', async () => {
    engine.answer([reset()]);
    answers(chatAnswer, [{ tools: [SEARCH] }, { tools: [SEARCH] }, { text: 'Sorry.' }]);
    const ask = { model: 'm/paid', max_tokens: 99, messages: [{ role: 'user', content: 'A?' }] };
    const { body } = await post('/messages', { ...ask, tools: [tool({ max_uses: 1 })] });
    const told = upstream.requests[2]?.json.messages.filter(({ role }: any) => role === 'tool');
    expect(told.map(({ content }: any) => JSON.parse(content).status)).toEqual(['error', 'error']);
    expect(body.content[1].content).toEqual({
      type: 'web_search_tool_result_error',
      error_code: 'unavailable',
    });
    expect(body.content[3].content.error_code).toBe('max_uses_exceeded');
    expect(engine.requests).toHaveLength(1);
    // The engine had the request: it may bill the search.
    expect(body.usage.cost).toBe(0.004);
  });

  it('charges each search by the price of the endpoint', async () => {
    engine.answer(json({ results: RESULTS }));
    engine.answer(json({ results: [] }));
    answers(chatAnswer, [{ tools: [SEARCH, { ...SEARCH, id: 'call_t' }] }, { text: 'Found.' }]);
    const { body } = await post('/responses', { model: 'm/paid', input: 'A?', tools: [tool()] });
    expect(body.usage.cost).toBeCloseTo(0.008);
    expect(body.output.map(({ type }: any) => type)).toEqual([
      'signalbox:web_search',
      'signalbox:web_search',
      'message',
    ]);
  });

  it('finds no more than max_total_results in all, however many searches run at once', async () => {
    const results = Array.from({ length: 9 }, (_, at) => ({ ...RESULTS[0], url: `https://a.test/${at}` }));
    engine.answer(json({ results }));
    const calls = ['a', 'b', 'c', 'd'].map((id) => ({ ...SEARCH, id }));
    answers(chatAnswer, [{ tools: calls }, { tools: [SEARCH] }, { text: 'Found.' }]);
    const parameters = { max_results: 3, max_total_results: 7 };
    const { body } = await post('/responses', { model: 'm/chat', input: 'A?', tools: [tool(parameters)] });
    const found = body.output.slice(0, 5).map(({ action }: any) => action.sources?.length ?? 0);
    expect(found).toEqual([3, 3, 1, 0, 0]);
    expect(body.output[3].error).toBe('no more searches are allowed in this answer');
    expect(engine.requests).toHaveLength(3);
  });

  it('lets a later search have what an earlier one did not find', async () => {
    engine.answer(json({ results: RESULTS }));
    answers(chatAnswer, [{ tools: [SEARCH] }, { tools: [SEARCH] }, { text: 'Found.' }]);
    const parameters = { max_results: 3, max_total_results: 3 };
    const { body } = await post('/responses', { model: 'm/chat', input: 'A?', tools: [tool(parameters)] });
    expect(body.output.slice(0, 2).map(({ action }: any) => action.sources.length)).toEqual([2, 1]);
  });

  it.each([
    [{ engine: 'exa' }, 'parameters.engine'],
    [{ engine: 'native' }, 'parameters.engine'],
    [{ max_results: 0 }, 'parameters.max_results'],
    [{ allowed_domains: ['a:80'] }, 'parameters.allowed_domains[0]'],
  ])('refuses %j', async (parameters, path) => {
    const { status, body } = await post('/responses', {
      model: 'm/chat',
      input: 'A?',
      tools: [tool(parameters)],
    });
    expect(status).toBe(400);
    expect(body.error.metadata.issues[0].path).toBe(`tools[0].${path}`);
  });

  it('has the upstream search where it is the only one that can', async () => {
    answers(responsesAnswer, [{ text: 'Hello' }]);
    const native = await post('/responses', { model: 'm/responses', input: 'A?', tools: [tool()] }, bare);
    expect(native.status).toBe(200);
    expect(upstream.requests[0]?.json.tools[0].type).toMatch(/^web_search/);
    const none = await post('/responses', { model: 'm/chat', input: 'A?', tools: [tool()] }, bare);
    expect(none.body.error.metadata.issues[0].path).toBe('tools[0].type');
  });
});

describe('web_fetch', () => {
  const fetchCall = (url: string) => ({
    name: 'web_fetch',
    arguments: JSON.stringify({ url }),
    id: 'call_f',
  });
  const ours = { type: 'signalbox:web_fetch' };
  const page = () => `http://127.0.0.1:${engine.port}/page`;

  it('reads a page for the model, and shows it', async () => {
    engine.answer(html('<title>T</title><main><p>Words of the page.</p></main>'));
    answers(chatAnswer, [{ tools: [fetchCall(page())] }, { text: 'Read.' }]);
    const { body } = await post('/responses', { model: 'm/chat', input: 'Read', tools: [ours] });
    expect(JSON.parse(upstream.requests[1]?.json.messages[2].content)).toMatchObject({
      url: page(),
      title: 'T',
      content: 'Words of the page.',
      status: 'completed',
    });
    expect(body.output[0]).toMatchObject({
      type: 'signalbox:web_fetch',
      url: page(),
      title: 'T',
      httpStatus: 200,
    });
  });

  it('shows the status of a page that is not there, and none without a reply', async () => {
    engine.answer(reply(404, 'gone'));
    const calls = [fetchCall(page()), { ...fetchCall('http://10.0.0.1/'), id: 'call_g' }];
    answers(chatAnswer, [{ tools: calls }, { text: 'Sorry.' }]);
    const { body } = await post('/responses', { model: 'm/chat', input: 'Read', tools: [ours] });
    expect(body.output[0]).toMatchObject({ status: 'failed', httpStatus: 404 });
    expect(body.output[1]).not.toHaveProperty('httpStatus');
    const told = upstream.requests[1]?.json.messages.at(-2).content;
    expect(told).not.toContain('httpStatus');
  });

  it('has the official blocks on /messages, also for what cannot be fetched', async () => {
    engine.answer(html('<title>T</title><p>Words.</p>'));
    const calls = [fetchCall(page()), { ...fetchCall('http://10.0.0.1/'), id: 'call_g' }];
    answers(chatAnswer, [{ tools: calls }, { text: 'Read.' }]);
    const body = {
      model: 'm/chat',
      max_tokens: 99,
      stream: true,
      tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
    };
    const response = await gateway.post('/messages', {
      ...body,
      messages: [{ role: 'user', content: 'Read' }],
    });
    const blocks = (await readEvents(response))
      .filter(({ event }) => event === 'content_block_start')
      .map(({ data }) => data.content_block);
    expect(blocks.map(({ type }: any) => type)).toEqual([
      'server_tool_use',
      'web_fetch_tool_result',
      'server_tool_use',
      'web_fetch_tool_result',
      'text',
    ]);
    expect(blocks[1].content).toMatchObject({
      type: 'web_fetch_result',
      url: page(),
      content: { type: 'document', source: { type: 'text', data: 'Words.' }, title: 'T' },
    });
    expect(blocks[3].content).toEqual({
      type: 'web_fetch_tool_result_error',
      error_code: 'url_not_allowed',
    });
  });
});
