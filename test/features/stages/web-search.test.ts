import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  flood,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  reset,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

const METADATA = { 'x-signalbox-metadata': 'enabled' };

let upstream: FakeUpstream;
let native: FakeUpstream;
let engine: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  [upstream, native, engine] = await Promise.all([
    openFakeUpstream(),
    openFakeUpstream(),
    openFakeUpstream(),
  ]);
  const own = { api_key: 'secret-of-the-engine', url: `http://127.0.0.1:${engine.port}` };
  const of = (provider: string, pricing: object = {}) => ({
    endpoints: [{ provider, model: 'one', pricing }],
  });
  gateway = await openTestGateway({
    providers: [
      { slug: 'acme', dialect: 'openai-chat', base_url: upstream.url },
      { slug: 'responder', dialect: 'openai-responses', base_url: native.url, api_key: 'k' },
      { slug: 'messenger', dialect: 'anthropic-messages', base_url: native.url, api_key: 'k' },
      { slug: 'twin', dialect: 'google-gemini', base_url: native.url, api_key: 'k' },
    ],
    models: [
      { id: 'm/one', ...of('acme') },
      { id: 'm/paid', ...of('acme', { web_search: '0.004' }) },
      { id: 'm/free', ...of('acme', { web_search: '0' }) },
      { id: 'm/responses', ...of('responder') },
      { id: 'm/messages', ...of('messenger') },
      { id: 'm/gemini', ...of('twin') },
    ],
    plugins: {
      web: {
        engines: {
          exa: own,
          tavily: own,
          brave: own,
          firecrawl: own,
          parallel: { ...own, price_per_search: 0.002 },
          perplexity: own,
          searxng: { url: `http://127.0.0.1:${engine.port}/search-here/` },
        },
        default: 'searxng',
      },
    },
    tools: { limits: { fetch_ms: 1000, read_bytes: 100_000 } },
  } as never);
});
beforeEach(() => {
  for (const server of [upstream, native, engine]) server.clear();
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream, native, engine].map((server) => server.close()));
});

const RESULTS = [
  { url: 'https://www.example.com/a', title: 'About A', content: 'A is the first letter.' },
  { url: 'https://docs.example.org/guide/b?x=1', title: 'About B', content: 'B comes second.' },
  { url: 'https://other.test/c', title: 'About C', content: 'C' },
];

const json = (value: unknown) => [head(200, JSON_TYPE), write(JSON.stringify(value)), end()];

/** With characters of one, two and more units before the link. */
const TEXT = 'Grüße 🙂: see [example.com](https://www.example.com/a) and [x](https://nowhere.test/).';
const LINK = '[example.com](https://www.example.com/a)';
const START = TEXT.indexOf(LINK);

/** The same question in the three formats, and where the citations of the answer stand. */
const FORMATS = {
  '/chat/completions': {
    body: { messages: [{ role: 'user', content: 'What is A?' }] },
    citations: (answer: any) => answer.choices[0].message.annotations.map((entry: any) => entry.url_citation),
    streamed: (events: any[]) =>
      events
        .flatMap(({ data }) => data.choices?.[0]?.delta.annotations ?? [])
        .map((entry: any) => entry.url_citation),
  },
  '/responses': {
    body: { input: 'What is A?' },
    citations: (answer: any) => answer.output[0].content[0].annotations,
    streamed: (events: any[]) =>
      events
        .filter(({ data }) => data.type === 'response.output_text.annotation.added')
        .map(({ data }) => data.annotation),
  },
  '/messages': {
    body: { max_tokens: 99, messages: [{ role: 'user', content: [{ type: 'text', text: 'What is A?' }] }] },
    citations: (answer: any) => answer.content[0].citations,
    streamed: (events: any[]) =>
      events
        .filter(({ data }) => data.delta?.type === 'citations_delta')
        .map(({ data }) => data.delta.citation),
  },
} as const;
type Path = keyof typeof FORMATS;
const PATHS = Object.keys(FORMATS) as Path[];

async function ask(path: Path, plugin: object | undefined, more: object = {}) {
  const response = await gateway.post(
    path,
    {
      model: 'm/one',
      ...FORMATS[path].body,
      ...(plugin !== undefined && { plugins: [{ id: 'web', ...plugin }] }),
      ...more,
    },
    METADATA,
  );
  const answer = (await response.json()) as any;
  const pipeline = (answer.signalbox_metadata?.pipeline ?? []) as any[];
  return { status: response.status, answer, note: pipeline.find(({ name }) => name === 'web') };
}

const promptSent = (request: { json: any } | undefined) => JSON.stringify(request?.json.messages);

/** The members of a usage object that count searches. */
const countsOf = (path: Path, { usage }: any) =>
  path === '/messages' ? usage.server_tool_use : usage.server_tool_use_details;

describe('a search before the call', () => {
  it.each(PATHS)('is counted in the usage on %s', async (path) => {
    const count = path === '/messages' ? { web_fetch_requests: 0 } : {};
    for (const [plugin, model] of [
      [{}, 'm/one'],
      [undefined, 'm/one:online'],
    ] as const) {
      engine.answer(json({ results: RESULTS }));
      upstream.answer(chatAnswer({ text: TEXT }));
      const { answer } = await ask(path, plugin, { model });
      expect(countsOf(path, answer), model).toEqual({ web_search_requests: 1, ...count });
    }
    engine.clear();
    engine.answer([head(500, JSON_TYPE), write('{}'), end()]);
    upstream.answer(chatAnswer({ text: TEXT }));
    const { answer } = await ask(path, {});
    expect(countsOf(path, answer) ?? undefined).toBeUndefined();
  });

  it.each(PATHS)('puts results into the prompt and cites links on %s', async (path) => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: TEXT }));
    const { status, answer, note } = await ask(path, {});
    expect(status).toBe(200);
    expect(engine.requests[0]?.path).toBe('/search-here/search?q=What+is+A%3F&format=json');
    const prompt = promptSent(upstream.requests[0]);
    expect(prompt).toContain('What is A?');
    expect(prompt).toMatch(/A web search was made on \d{4}-\d\d-\d\d/);
    for (const { url, title, content } of RESULTS) {
      for (const text of [url, title, content]) expect(prompt).toContain(text);
    }
    expect(note).toMatchObject({ type: 'plugin', data: { engine: 'searxng', results: 3 } });
    const citations = FORMATS[path].citations(answer);
    expect(citations).toMatchObject([{ url: RESULTS[0]?.url, title: 'About A' }]);
    if (path === '/messages') {
      expect(citations[0]).toMatchObject({
        type: 'web_search_result_location',
        cited_text: RESULTS[0]?.content,
      });
    } else {
      expect(citations[0]).toMatchObject({ start_index: START, end_index: START + LINK.length });
    }
  });

  it.each(PATHS)('cites links of a stream on %s, wherever it is cut', async (path) => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: TEXT, split: 'bytes' }));
    const plugins = [{ id: 'web' }];
    const response = await gateway.post(path, {
      model: 'm/one',
      ...FORMATS[path].body,
      plugins,
      stream: true,
    });
    const events = await readEvents(response);
    const citations = FORMATS[path].streamed(events);
    expect(citations).toMatchObject([{ url: RESULTS[0]?.url }]);
    if (path !== '/messages') {
      expect(citations[0]).toMatchObject({ start_index: START, end_index: START + LINK.length });
    }
    expect(events.map(({ data }) => JSON.stringify(data)).join('')).toContain('Grüße');
  });

  it('is what the variant :online asks for', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: TEXT }));
    const { answer, note } = await ask('/chat/completions', undefined, { model: 'm/one:online' });
    expect(note).toMatchObject({ data: { results: 3 } });
    expect(answer.model).toBe('m/one');
    expect(answer.choices[0].message.annotations).toHaveLength(1);
    const off = await ask('/chat/completions', { enabled: false }, { model: 'm/one:online' });
    expect([off.status, off.note, engine.requests.length]).toEqual([200, undefined, 1]);
  });

  it('takes the words, numbers and domains of the plugin', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { note } = await ask('/responses', {
      search_prompt: 'READ THIS',
      include_domains: ['example.com', '*.example.org/guide'],
      exclude_domains: ['example.com/secret'],
      max_results: 1,
      max_uses: 1,
      mode: 'deep',
      user_location: { type: 'approximate', country: 'de' },
    });
    const prompt = promptSent(upstream.requests[0]);
    expect(prompt).toContain('READ THIS');
    expect(prompt).not.toContain('A web search was made');
    expect(prompt).toContain('https://www.example.com/a');
    expect(prompt).not.toContain('docs.example.org');
    const query = new URL(engine.requests[0]?.path ?? '', 'http://x').searchParams.get('q');
    expect(query).toBe('What is A? site:example.com OR site:example.org');
    expect(note).toMatchObject({ data: { results: 1, ignored: ['mode', 'user_location'] } });
  });

  it('cuts a long query at the end of a word, before the domains', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const input = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');
    await ask('/responses', { include_domains: ['example.com'] }, { input });
    const query = new URL(engine.requests[0]?.path ?? '', 'http://x').searchParams.get('q') ?? '';
    expect(query.length).toBeLessThanOrEqual(500);
    const words = query.replace(' site:example.com', '').split(' ');
    expect(input.split(' ').slice(0, words.length)).toEqual(words);
  });

  it('filters by domains what the engine returns', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    await ask('/responses', { include_domains: ['*.org', 'other.test'], exclude_domains: ['other.test/c'] });
    const prompt = promptSent(upstream.requests[0]);
    expect(prompt).toContain('docs.example.org');
    expect(prompt).not.toContain('example.com/a');
    expect(prompt).not.toContain('other.test');
  });
});

const CALLS: Record<string, [request: object, answer: object]> = {
  exa: [
    {
      path: '/search',
      headers: { 'x-api-key': 'secret-of-the-engine' },
      json: {
        query: 'What is A?',
        type: 'fast',
        numResults: 15,
        includeDomains: ['example.com'],
        userLocation: 'US',
      },
    },
    { results: RESULTS.map(({ content, ...rest }) => ({ ...rest, text: content })) },
  ],
  tavily: [
    {
      path: '/search',
      headers: { authorization: 'Bearer secret-of-the-engine' },
      json: {
        query: 'What is A?',
        max_results: 15,
        search_depth: 'fast',
        include_domains: ['example.com'],
        country: 'united states',
      },
    },
    { results: RESULTS },
  ],
  brave: [
    {
      method: 'GET',
      path: '/res/v1/web/search?q=What+is+A%3F+site%3Aexample.com&count=15&extra_snippets=true&country=US',
      headers: { 'x-subscription-token': 'secret-of-the-engine' },
    },
    {
      web: {
        results: RESULTS.map(({ content, ...rest }) => ({
          ...rest,
          description: `<strong>${content}</strong>`,
        })),
      },
    },
  ],
  firecrawl: [
    {
      path: '/v2/search',
      headers: { authorization: 'Bearer secret-of-the-engine' },
      json: { query: 'What is A? site:example.com', limit: 15, country: 'US', location: 'Reno' },
    },
    {
      success: true,
      data: { web: RESULTS.map(({ content, ...rest }) => ({ ...rest, description: content })) },
    },
  ],
  parallel: [
    {
      path: '/v1/search',
      headers: { 'x-api-key': 'secret-of-the-engine' },
      json: {
        objective: 'What is A?',
        search_queries: ['What is A?'],
        advanced_settings: {
          max_results: 15,
          location: 'US',
          source_policy: { include_domains: ['example.com'] },
        },
      },
    },
    { results: RESULTS.map(({ content, ...rest }) => ({ ...rest, excerpts: [content] })) },
  ],
  perplexity: [
    {
      path: '/search',
      headers: { authorization: 'Bearer secret-of-the-engine' },
      json: { query: 'What is A?', max_results: 15, country: 'US', search_domain_filter: ['example.com'] },
    },
    { results: RESULTS.map(({ content, ...rest }) => ({ ...rest, snippet: content })) },
  ],
  searxng: [
    { method: 'GET', path: '/search-here/search?q=What+is+A%3F+site%3Aexample.com&format=json' },
    { results: RESULTS },
  ],
};

/** Price of a search at the model of the tests that fail. */
const PAID = 0.004;

describe('engines', () => {
  it.each(Object.entries(CALLS))('%s is asked in its own words', async (name, [request, answer]) => {
    engine.answer(json(answer));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { status, note } = await ask('/chat/completions', {
      engine: name,
      mode: 'fast',
      include_domains: ['example.com'],
      user_location: { type: 'approximate', country: 'US', city: 'Reno' },
    });
    expect(status).toBe(200);
    expect(engine.requests[0]).toMatchObject(request);
    expect(note).toMatchObject({ data: { engine: name, results: 1 } });
    expect(promptSent(upstream.requests[0])).toContain(
      'About A\\nURL: https://www.example.com/a\\nA is the first',
    );
  });

  it('that are not configured are a 400 that names them', async () => {
    const { status, answer } = await ask('/responses', { engine: 'bing' });
    expect(status).toBe(400);
    expect(answer.error.message).toContain('plugins[0].engine: the search engine "bing" is not configured');
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    [{ include_domains: ['a.test', ''] }, 'include_domains[1]: must be a host'],
    [{ exclude_domains: ['https://'] }, 'exclude_domains[0]: must be a host'],
    [{ exclude_domains: ['a.test:8080'] }, 'exclude_domains[0]: must be a host'],
    [{ user_location: { type: 'approximate', zip: '1' } }, 'user_location.zip: is not a known field'],
  ])('%o is a 400 with the path', async (settings, message) => {
    const { status, answer } = await ask('/messages', settings);
    expect([status, answer.error.message]).toEqual([400, expect.stringContaining(`plugins[0].${message}`)]);
  });

  it('"auto" is the default of the configuration', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { note } = await ask('/responses', { engine: 'auto' });
    expect(note).toMatchObject({ data: { engine: 'searxng' } });
  });

  it.each([
    ['refuse', [head(503), end()], 'status 503', 0],
    ['are late for a proxy', [head(504), end()], 'status 504', PAID],
    ['hang', [never()], 'took too long', PAID],
    ['break off', [head(200, JSON_TYPE), write('{"resu'), reset()], 'connection closed', PAID],
    ['break off at once', [reset()], 'connection closed', PAID],
    ['answer no JSON', [head(200, JSON_TYPE), write('<html>'), end()], 'no JSON', PAID],
    ['answer a list', json([]), 'no JSON object', PAID],
    ['answer another object', json({ message: 'welcome' }), 'no list of results', PAID],
    ['never stop', [head(200, JSON_TYPE), flood(' '.repeat(4096))], 'too long', PAID],
    ['redirect', [head(302, { location: 'http://127.0.0.1:1/' }), end()], 'status 302', 0],
  ])('that %s leave the model without results, and a note', async (_, script, words, cost) => {
    engine.answer(script);
    upstream.answer(chatAnswer({ text: 'without' }));
    const { status, answer, note } = await ask('/chat/completions', {}, { model: 'm/paid' });
    expect([status, answer.choices[0].message.content]).toEqual([200, 'without']);
    expect(note.data).toMatchObject({ engine: 'searxng', results: 0, error: expect.stringContaining(words) });
    expect(JSON.stringify(note)).not.toContain('127.0.0.1');
    // A search costs nothing only if the engine certainly did not search.
    expect([answer.usage.cost, note.cost_usd ?? 0]).toEqual([cost, cost]);
    expect(promptSent(upstream.requests[0])).not.toContain('web search');
  });

  it('that answer something else find nothing', async () => {
    const odd = [
      { url: 'javascript:alert(1)' },
      { url: 5 },
      'x',
      { title: 'no address' },
      { url: 'file:///etc/passwd' },
    ];
    engine.answer(json({ results: odd }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { status, note } = await ask('/responses', {});
    expect([status, note.data]).toEqual([200, { engine: 'searxng', results: 0 }]);
  });
});

describe('money', () => {
  it('charges a search by the price of the endpoint and records it', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { answer, note } = await ask('/chat/completions', { engine: 'exa' }, { model: 'm/paid' });
    expect([answer.usage.cost, note.cost_usd]).toEqual([0.004, 0.004]);
    const reply = await gateway.fetch(`/generation?id=${answer.id}`);
    const { data } = (await reply.json()) as any;
    expect(data).toMatchObject({ total_cost: 0.004, web_search_engine: 'exa', num_search_results: 3 });
  });

  it.each(['m/paid', 'm/free', 'm/one'])('charges an engine by its own price at %s', async (model) => {
    engine.answer(
      json({ results: RESULTS.map(({ content, ...rest }) => ({ ...rest, excerpts: [content] })) }),
    );
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { answer, note } = await ask('/chat/completions', { engine: 'parallel' }, { model });
    expect([answer.usage.cost, note.cost_usd]).toEqual([0.002, 0.002]);
  });

  it('refuses a search that the limit of the key does not pay for', async () => {
    const keys = { key: gateway.managementKey, headers: { 'content-type': 'application/json' } };
    const made = await gateway.fetch('/keys', {
      ...keys,
      method: 'POST',
      body: '{"name": "small", "limit": 0.001}',
    });
    const { key } = (await made.json()) as any;
    const body = { model: 'm/paid:online', messages: [{ role: 'user', content: 'What is A?' }] };
    const reply = await gateway.fetch('/chat/completions', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      key,
    });
    expect(reply.status).toBe(402);
    expect([engine.requests.length, upstream.requests.length]).toEqual([0, 0]);
  });

  it('charges a search that the caller does not wait for', async () => {
    engine.answer([never()]);
    const headers = { 'content-type': 'application/json' };
    const made = await gateway.fetch('/keys', {
      method: 'POST',
      key: gateway.managementKey,
      headers,
      body: '{"name": "hasty"}',
    });
    const { key } = (await made.json()) as any;
    const body = { model: 'm/paid:online', messages: [{ role: 'user', content: 'What is A?' }] };
    const leaving = new AbortController();
    const asked = gateway.fetch('/chat/completions', {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
      key,
      signal: leaving.signal,
    });
    await expect.poll(() => engine.requests).toHaveLength(1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    const usage = async () => ((await (await gateway.fetch('/key', { key })).json()) as any).data.usage;
    await expect.poll(usage).toBe(0.004);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('results', () => {
  it('with odd addresses are left out', async () => {
    const odd = [
      'javascript:alert(1)',
      'https://a.test/\n\nIgnore',
      'https://bank.test@evil.test/',
      'data:,x',
    ];
    const results = [...odd, ' https://good.test/ '].map((url) => ({ url, title: 'T', content: 'C' }));
    engine.answer(json({ results }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { note } = await ask('/chat/completions', { max_results: 25 });
    expect(note.data.results).toBe(1);
    expect(promptSent(upstream.requests[0])).toContain(String.raw`\nURL: https://good.test/\nC`);
  });
});

describe('beside other things', () => {
  it('needs no search for an answer that is kept', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: TEXT }));
    const body = { model: 'm/one:online', ...FORMATS['/chat/completions'].body };
    const replies = [];
    for (let time = 0; time < 2; time++) {
      const reply = await gateway.post('/chat/completions', body, { 'x-signalbox-cache': 'true' });
      replies.push([reply.headers.get('x-signalbox-cache-status'), ((await reply.json()) as any).choices]);
    }
    expect(replies.map(([status]) => status)).toEqual(['MISS', 'HIT']);
    expect(replies[1]?.[1]).toEqual(replies[0]?.[1]);
    expect(engine.requests).toHaveLength(1);
  });

  it('does not have results visited, and visits no address of them', async () => {
    engine.answer(json({ results: RESULTS }));
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { answer } = await ask('/chat/completions', undefined, {
      plugins: [{ id: 'web' }, { id: 'web-fetch' }],
    });
    expect(answer.signalbox_metadata.pipeline.map(({ name }: any) => name)).toEqual(['web', 'web-fetch']);
  });

  it('has no meaning for embeddings', async () => {
    const reply = await gateway.post('/embeddings', { model: 'm/one:online', input: 'x' });
    expect([reply.status, JSON.stringify(await reply.json())]).toEqual([
      400,
      expect.stringContaining(':online'),
    ]);
  });
});

describe('the search of the upstream itself', () => {
  const location = { type: 'approximate', country: 'DE' };
  const plugin = {
    engine: 'native',
    include_domains: ['*.example.com/a'],
    max_uses: 2,
    user_location: location,
  };

  it('is a tool of openai-responses', async () => {
    native.answer(responsesAnswer({ text: 'ok' }));
    const { status, note } = await ask(
      '/chat/completions',
      { ...plugin, max_results: 3 },
      { model: 'm/responses' },
    );
    expect(status).toBe(200);
    expect(native.requests[0]?.json).toMatchObject({
      tools: [{ type: 'web_search', filters: { allowed_domains: ['example.com'] }, user_location: location }],
      max_tool_calls: 2,
    });
    expect(note).toMatchObject({ data: { engine: 'native', ignored: ['max_results'] } });
    expect(engine.requests).toHaveLength(0);
  });

  it('is a tool of anthropic-messages', async () => {
    native.answer(messagesAnswer({ text: 'ok' }));
    const { status } = await ask('/messages', plugin, { model: 'm/messages' });
    expect(status).toBe(200);
    expect(native.requests[0]?.json.tools).toEqual([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 2,
        allowed_domains: ['*.example.com/a'],
        user_location: location,
      },
    ]);
  });

  it('is a tool of google-gemini', async () => {
    native.answer(json({ candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] }));
    const { status, note } = await ask('/responses', plugin, { model: 'm/gemini' });
    expect(status).toBe(200);
    expect(native.requests[0]?.json.tools).toEqual([{ googleSearch: {} }]);
    expect(note.data.ignored).toEqual(['include_domains', 'max_uses', 'user_location']);
  });

  it('is a 400 elsewhere', async () => {
    const { status, answer } = await ask('/responses', { engine: 'native' });
    expect([status, answer.error.message]).toEqual([
      400,
      'plugins[0].engine: no endpoint of the model searches by itself ("native")',
    ]);
    expect(upstream.requests).toHaveLength(0);
  });

  it('of a fallback model does not rule the first model out', async () => {
    const without = await openTestGateway({
      providers: [
        { slug: 'acme', dialect: 'openai-chat', base_url: upstream.url },
        { slug: 'responder', dialect: 'openai-responses', base_url: native.url, api_key: 'k' },
      ],
      models: ['acme', 'responder'].map((provider) => ({
        id: `m/${provider}`,
        endpoints: [{ provider, model: 'one', pricing: {} }],
      })),
      plugins: { web: { engines: { searxng: { url: `http://127.0.0.1:${engine.port}` } } } },
    } as never);
    try {
      upstream.answer(chatAnswer({ text: 'ok' }));
      native.answer(responsesAnswer({ text: 'ok' }));
      engine.answer(json({ results: RESULTS }));
      const body = { input: 'What is A?', plugins: [{ id: 'web' }] };
      const models = ['m/acme', 'm/responder'];
      await without.post('/responses', { ...body, models });
      expect([upstream, native, engine].map(({ requests }) => requests.length)).toEqual([1, 0, 1]);
      await without.post('/responses', { ...body, models: models.toReversed() });
      expect([upstream, native, engine].map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
    } finally {
      await without.close();
    }
  });
});
