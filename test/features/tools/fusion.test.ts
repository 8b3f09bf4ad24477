import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerContent, chatAnswer, messagesAnswer } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  stall,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';
import { PATHS, type Path, textOf } from './tool-gateway.ts';

const PRICING = { prompt: '0.000001', completion: '0.000002' };
const ANALYSIS = {
  consensus: ['It is blue.'],
  contradictions: [{ topic: 'shade', stances: [{ model: 'p/a', stance: 'light' }] }],
  partial_coverage: [{ models: ['p/a'], point: 'Clouds are white.' }],
  unique_insights: [{ model: 'p/b', insight: 'At night it is black.' }],
  blind_spots: ['Sunsets.'],
};
const QUESTION: Record<Path, object> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'What colour is the sky?' }] },
  '/responses': { input: 'What colour is the sky?' },
  '/messages': { max_tokens: 99, messages: [{ role: 'user', content: 'What colour is the sky?' }] },
};

/** What a model of the upstream does: an answer, or the status of its error. */
type Behaviour = AnswerContent | number | 'hangs' | { readonly refusal: string };

let upstream: FakeUpstream;
let engine: FakeUpstream;
let gateway: TestGateway;
let behaviours: Record<string, Behaviour>;

beforeAll(async () => {
  [upstream, engine] = await Promise.all([openFakeUpstream(), openFakeUpstream()]);
  const model = (id: string, provider = 'chatter', more: object = {}) => ({
    id,
    endpoints: [{ provider, model: id.replace('/', '-'), pricing: PRICING }],
    ...more,
  });
  const strict = (name: string) => ({
    provider: 'chatter',
    model: name,
    pricing: PRICING,
    supported_parameters: ['temperature', 'tools', 'tool_choice', 'response_format', 'structured_outputs'],
  });
  gateway = await openTestGateway({
    providers: [
      { slug: 'chatter', dialect: 'openai-chat', base_url: upstream.url },
      { slug: 'messenger', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
    ],
    models: [
      model('p/a', 'chatter', { quality: { general: 0.9 } }),
      model('p/b'),
      model('p/c', 'messenger'),
      model('p/judge'),
      model('m/outer'),
      { ...model('p/strict'), endpoints: [strict('p-judge')] },
      { ...model('p/toolless'), endpoints: [{ ...strict('p-b'), supported_parameters: ['temperature'] }] },
      model('m/messages', 'messenger'),
    ],
    egress: { allow: [`127.0.0.1:${engine.port}`] },
    plugins: {
      web: { engines: { searxng: { url: `http://127.0.0.1:${engine.port}` } } },
      fusion: {
        panel: ['p/a', 'p/b', 'p/c'],
        judge: 'p/judge',
        presets: { 'general-fast': { panel: ['p/b'], judge: 'p/a' } },
      },
    },
    routing: { cooldown: { failures: 1000, base_ms: 1, max_ms: 1 } },
  } as never);
});
beforeEach(() => {
  upstream.clear();
  behaviours = {
    'p-a': { text: 'Light blue.', usage: { input: 10, output: 1 } },
    'p-b': { text: 'Blue or black.', usage: { input: 20, output: 2 } },
    'p-c': { text: 'Azure.', usage: { input: 40, output: 4 } },
    'p-judge': { text: `\`\`\`json\n${JSON.stringify(ANALYSIS)}\n\`\`\``, usage: { input: 100, output: 10 } },
    'm-outer': { text: 'Blue by day.', usage: { input: 1000, output: 100 } },
    'm-messages': { text: 'Blue by day.', usage: { input: 1000, output: 100 } },
  };
  upstream.answer((request) => {
    const behaviour = behaviours[request.json.model] ?? 500;
    if (behaviour === 'hangs') return [head(200, JSON_TYPE), stall(30_000)];
    if (typeof behaviour === 'object' && 'refusal' in behaviour) {
      const error = JSON.stringify({ error: { message: behaviour.refusal } });
      return [head(400, JSON_TYPE), write(error), end()];
    }
    if (typeof behaviour === 'number') {
      return [head(behaviour, JSON_TYPE), write('{"error":{"message":"is down"}}'), end()];
    }
    const script = (request.path.endsWith('/messages') ? messagesAnswer : chatAnswer)(behaviour);
    return typeof script === 'function' ? script(request) : script;
  });
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream.close(), engine.close()]);
});

const METADATA = { 'x-signalbox-metadata': 'enabled' };
const FUSION = { plugins: [{ id: 'fusion' }] };

async function ask(path: Path, body: object, headers: Record<string, string> = METADATA) {
  const response = await gateway.post(path, { model: 'm/outer', ...QUESTION[path], ...body }, headers);
  return {
    status: response.status,
    id: response.headers.get('x-generation-id') ?? '',
    body: (await response.json()) as any,
  };
}

async function stream(path: Path, body: object) {
  const asked = { model: 'm/outer', ...QUESTION[path], ...body, stream: true };
  return readEvents(await gateway.post(path, asked, METADATA));
}

async function recorded(id: string) {
  return ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;
}

/** What an upstream model was sent. */
const sentTo = (model: string) => upstream.requests.find(({ json }) => json.model === model);

const fusionNote = (body: any) => body.signalbox_metadata.pipeline.find(({ name }: any) => name === 'fusion');

describe.each(PATHS)('fusion by the plugin on %s', (path) => {
  it('gives the model the answers of a panel and their analysis, in one bill', async () => {
    const { status, body, id } = await ask(path, FUSION);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(textOf[path](body)).toBe('Blue by day.');
    for (const model of ['p-a', 'p-b', 'p-c']) {
      expect(JSON.stringify(sentTo(model)?.json)).toContain('What colour is the sky?');
      expect(sentTo(model)?.headers['x-signalbox-fusion-depth']).toBe('1');
    }
    expect(sentTo('p-judge')?.json).toMatchObject({ temperature: 0 });
    const told = JSON.stringify(sentTo('m-outer')?.json);
    for (const text of ['Light blue.', 'Blue or black.', 'Azure.', 'Sunsets.']) expect(told).toContain(text);
    expect(sentTo('m-outer')?.headers['x-signalbox-fusion-depth']).toBeUndefined();
    expect(body.usage.cost).toBeCloseTo((1170 + 2 * 117) / 1e6, 9);
    const { legs, total_cost } = await recorded(id);
    expect(total_cost).toBeCloseTo((1170 + 2 * 117) / 1e6, 9);
    expect(legs.map(({ kind, model }: any) => `${kind} ${model}`).sort()).toEqual([
      'judge p/judge',
      'main m/outer',
      'panel p/a',
      'panel p/b',
      'panel p/c',
    ]);
    expect(body.signalbox_metadata).toMatchObject({ requested: 'm/outer', strategy: 'direct' });
    expect(fusionNote(body).data).toMatchObject({ panel: ['p/a', 'p/b', 'p/c'], judge: 'p/judge' });
  });

  it('streams', async () => {
    const events = await stream(path, FUSION);
    const text = events
      .map(({ data }) => {
        if (path === '/responses') return data.type === 'response.output_text.delta' ? data.delta : '';
        return path === '/messages' ? (data.delta?.text ?? '') : (data.choices?.[0]?.delta?.content ?? '');
      })
      .join('');
    expect(text).toBe('Blue by day.');
    if (path !== '/responses') expect(JSON.stringify(events)).not.toContain('Light');
  });

  it('charges for a panel of three of which one is dead, and names it', async () => {
    behaviours['p-b'] = 500;
    const { status, body, id } = await ask(path, FUSION);
    expect(status).toBe(200);
    expect(textOf[path](body)).toBe('Blue by day.');
    expect(body.usage.cost).toBeCloseTo((1150 + 2 * 115) / 1e6, 9);
    const { legs, total_cost } = await recorded(id);
    expect(total_cost).toBeCloseTo((1150 + 2 * 115) / 1e6, 9);
    expect(legs.find(({ model }: any) => model === 'p/b')).toMatchObject({ status: 'failed', cost: 0 });
    expect(fusionNote(body).data.failed_models).toMatchObject([{ model: 'p/b', status_code: 502 }]);
  });

  it('lets the model answer alone if the whole panel is dead', async () => {
    for (const model of ['p-a', 'p-b', 'p-c']) behaviours[model] = 500;
    const { status, body } = await ask(path, FUSION);
    expect(status).toBe(200);
    expect(textOf[path](body)).toBe('Blue by day.');
    expect(sentTo('p-judge')).toBeUndefined();
    expect(fusionNote(body).data.failed_models.map(({ model }: any) => model)).toEqual(['p/a', 'p/b', 'p/c']);
  });

  it('is a 502 by the model id if the whole panel is dead, streamed or not', async () => {
    for (const model of ['p-a', 'p-b', 'p-c']) behaviours[model] = 500;
    const { status, body } = await ask(path, { model: 'signalbox/fusion' });
    expect(status, JSON.stringify(body)).toBe(502);
    expect(JSON.stringify(body)).toContain('"all_panels_failed"');
    const asked = { ...QUESTION[path], model: 'signalbox/fusion', stream: true };
    const streamed = await gateway.post(path, asked);
    expect(streamed.status).toBe(502);
    await streamed.text();
  });
});

describe('the item of fusion on /responses', () => {
  it('has the analysis and the answers', async () => {
    behaviours['p-c'] = 429;
    const { body } = await ask('/responses', FUSION);
    expect(body.output.map(({ type }: any) => type)).toEqual(['signalbox:fusion', 'message']);
    expect(body.output[0]).toMatchObject({
      status: 'completed',
      analysis: ANALYSIS,
      responses: [
        { model: 'p/a', content: 'Light blue.' },
        { model: 'p/b', content: 'Blue or black.' },
      ],
      failed_models: [{ model: 'p/c', status_code: 429 }],
    });
  });

  it('has its events in the stream', async () => {
    behaviours['p-c'] = 500;
    const events = (await stream('/responses', FUSION)).map(({ data }) => data);
    const own = events.filter(({ type }) => type?.startsWith('response.fusion_call.'));
    const [added] = events.filter(({ type }) => type === 'response.output_item.added');
    expect(added).toMatchObject({
      output_index: 0,
      item: { type: 'signalbox:fusion', status: 'in_progress' },
    });
    expect(own.every((event) => event.item_id === added.item.id && event.output_index === 0)).toBe(true);
    const steps = own.map(({ type }) => type.slice('response.fusion_call.'.length));
    expect(steps[0]).toBe('in_progress');
    expect(steps.slice(-3)).toEqual(['analysis.in_progress', 'analysis.completed', 'completed']);
    const of = (model: string) => own.filter((event) => event.model === model);
    expect(
      of('p/a')
        .map(({ delta }) => delta ?? '')
        .join(''),
    ).toBe('Light blue.');
    expect(of('p/a').at(-1)).toMatchObject({ content: 'Light blue.' });
    expect(of('p/c').at(-1)).toMatchObject({
      type: 'response.fusion_call.panel.failed',
      message: expect.stringContaining('Provider returned error'),
      status_code: 502,
    });
    expect(events.filter((event) => event?.error)).toEqual([]);
    expect(own.find(({ judge_model }) => judge_model)).toMatchObject({ judge_model: 'p/judge' });
    expect(own.at(-2)).toMatchObject({ analysis: ANALYSIS });
    const completed = events.find(({ type }) => type === 'response.completed');
    expect(completed.response.output.map(({ type }: any) => type)).toEqual(['signalbox:fusion', 'message']);
    const numbers = events.map(({ sequence_number }) => sequence_number).filter((each) => each !== undefined);
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });

  it('shows thoughts of a member before its text, as it wrote them', async () => {
    behaviours['p-a'] = { reasoning: 'Think of the sky.', text: 'Light blue.' };
    const own = (await stream('/responses', FUSION)).filter(({ data }) => data?.model === 'p/a');
    const types = own.map(({ data }) => data.type.slice('response.fusion_call.panel.'.length));
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      'added',
      'reasoning.delta',
      'delta',
      'completed',
    ]);
  });

  it('reaches the official client to the end although a member is dead', async () => {
    behaviours['p-c'] = 500;
    const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, maxRetries: 0 });
    const asked = { model: 'm/outer', input: 'What colour is the sky?', stream: true, ...FUSION } as const;
    const events: any[] = [];
    for await (const event of await client.responses.create(asked as never as typeof asked))
      events.push(event);
    expect(events.map(({ type }) => type)).toContain('response.fusion_call.panel.failed');
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
  });

  it('names a judge that writes no JSON', async () => {
    behaviours['p-judge'] = { text: 'I cannot say.' };
    const { body } = await ask('/responses', FUSION);
    expect(body.output[0]).toMatchObject({ status: 'completed', failure_reason: 'judge_invalid_analysis' });
    expect(body.output[0]).not.toHaveProperty('analysis');
    expect(JSON.stringify(sentTo('m-outer')?.json)).toContain('Light blue.');
  });

  it('goes on without a judge that is dead', async () => {
    behaviours['p-judge'] = 500;
    const { body } = await ask('/responses', FUSION);
    expect(body.status).toBe('completed');
    expect(body.output[0]).toMatchObject({ status: 'completed', failure_reason: 'judge_failed' });
  });

  it('can be sent back', async () => {
    const { body } = await ask('/responses', FUSION);
    upstream.requests.length = 0;
    const again = await ask('/responses', {
      input: [{ role: 'user', content: 'What colour?' }, ...body.output, { role: 'user', content: 'Sure?' }],
    });
    expect(again.status, JSON.stringify(again.body)).toBe(200);
    expect(JSON.stringify(sentTo('m-outer')?.json)).toContain('Sunsets.');
  });
});

describe('the team of fusion', () => {
  it('is that of the model id, whose judge answers', async () => {
    behaviours['p-judge'] = { text: JSON.stringify(ANALYSIS) };
    const { body } = await ask('/responses', { model: 'signalbox/fusion' });
    expect(body.model).toBe('p/judge');
    expect(body.signalbox_metadata).toMatchObject({ requested: 'signalbox/fusion', strategy: 'fusion' });
    expect(upstream.requests.map(({ json }) => json.model).sort()).toEqual([
      'p-a',
      'p-b',
      'p-c',
      'p-judge',
      'p-judge',
    ]);
  });

  it('is that of a preset', async () => {
    await ask('/responses', { model: 'signalbox/fusion-flash' });
    expect(upstream.requests.map(({ json }) => json.model)).toEqual(['p-b', 'p-a', 'p-a']);
    upstream.requests.length = 0;
    await ask('/chat/completions', { plugins: [{ id: 'fusion', preset: 'general-fast' }] });
    expect(upstream.requests.map(({ json }) => json.model)).toEqual(['p-b', 'p-a', 'm-outer']);
  });

  it('is that of the request', async () => {
    const plugin = { id: 'fusion', preset: 'general-fast', analysis_models: ['p/c', 'p/c'], model: 'p/b' };
    await ask('/messages', { plugins: [plugin] });
    expect(upstream.requests.map(({ json }) => json.model)).toEqual(['p-c', 'p-c', 'p-b', 'm-outer']);
  });

  it('tolerates a model that does not exist', async () => {
    const plugins = [{ id: 'fusion', analysis_models: ['no/such', 'p/a'] }];
    const { status, body } = await ask('/responses', { plugins });
    expect(status).toBe(200);
    expect(body.output[0].failed_models).toMatchObject([{ model: 'no/such', status_code: 400 }]);
  });

  it.each([
    [{ plugins: [{ id: 'fusion', analysis_models: ['signalbox/fusion'] }] }, 'plugins[0].analysis_models[0]'],
    [{ plugins: [{ id: 'fusion', model: 'signalbox/fusion-flash:nitro' }] }, 'plugins[0].model'],
    [{ plugins: [{ id: 'fusion', tools: [{ type: 'signalbox:fusion' }] }] }, 'plugins[0].tools[0].type'],
    [{ plugins: [{ id: 'fusion', tools: [{ type: 'function' }] }] }, 'plugins[0].tools[0].type'],
    [
      { tools: [{ type: 'signalbox:fusion', parameters: { analysis_models: ['signalbox/fusion'] } }] },
      'tools[0].parameters.analysis_models[0]',
    ],
    [
      { tools: [{ type: 'signalbox:fusion', parameters: { max_tool_calls: 17 } }] },
      'tools[0].parameters.max_tool_calls',
    ],
  ])('refuses %j', async (body, path) => {
    const refused = await ask('/responses', body);
    expect(refused.status).toBe(400);
    expect(refused.body.error.metadata.issues.map((issue: any) => issue.path)).toContain(path);
  });

  it.each([FUSION, { model: 'signalbox/fusion' }, { tools: [{ type: 'signalbox:fusion' }] }])(
    'is refused inside of the fusion of another gateway: %j',
    async (body) => {
      const { status } = await ask('/responses', body, { 'x-signalbox-fusion-depth': '1' });
      expect(status).toBe(400);
      expect((await ask('/responses', {}, { 'x-signalbox-fusion-depth': '1' })).status).toBe(200);
      expect(sentTo('m-outer')?.headers['x-signalbox-fusion-depth']).toBe('1');
    },
  );
});

describe('the tool of fusion', () => {
  const TOOL = {
    type: 'signalbox:fusion',
    parameters: { analysis_models: ['p/a', 'p/b'], model: 'p/judge' },
  };

  it.each(PATHS)('is called by the model on %s, once', async (path) => {
    const calls: AnswerContent[] = [
      { tools: [{ name: 'fusion', arguments: '{"prompt":"Sky?"}', id: 'call_a' }] },
      { tools: [{ name: 'fusion', arguments: '{}', id: 'call_b' }] },
      { text: 'Blue by day.' },
    ];
    behaviours = {
      ...behaviours,
      get 'm-outer'() {
        return calls.shift() ?? 500;
      },
    };
    const { status, body } = await ask(path, { tools: [TOOL] });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(textOf[path](body)).toBe('Blue by day.');
    expect(sentTo('p-a')?.json.messages).toEqual([{ role: 'user', content: 'Sky?' }]);
    const told = upstream.requests
      .filter(({ json }) => json.model === 'm-outer')
      .at(-1)
      ?.json.messages.filter(({ role }: any) => role === 'tool')
      .map(({ content }: any) => JSON.parse(content.at(-1).text ?? content));
    expect(told).toMatchObject([
      { status: 'ok', analysis: ANALYSIS, responses: [{ model: 'p/a' }, { model: 'p/b' }] },
      { status: 'error', failure_reason: 'fusion_invocation_capped' },
    ]);
    if (path === '/responses') {
      expect(body.output.map(({ type, status }: any) => [type, status])).toEqual([
        ['signalbox:fusion', 'completed'],
        ['signalbox:fusion', 'failed'],
        ['message', 'completed'],
      ]);
    }
  });

  it('gives its models tools, and as many calls of them as were asked for', async () => {
    const calls = [1, 2].map((number) => ({
      tools: [{ name: 'datetime', arguments: '{}', id: `call_${number}` }],
      usage: { input: 1, output: 1 },
    }));
    const answers: AnswerContent[] = [...calls, { text: 'It is noon.', usage: { input: 1, output: 1 } }];
    behaviours = {
      ...behaviours,
      get 'p-a'() {
        return answers.shift() ?? 500;
      },
    };
    const { body } = await ask('/responses', {
      plugins: [
        {
          id: 'fusion',
          analysis_models: ['p/a'],
          model: 'p/judge',
          max_tool_calls: 1,
          tools: [{ type: 'signalbox:datetime' }],
        },
      ],
    });
    expect(body.status).toBe('completed');
    const asked = upstream.requests.filter(({ json }) => json.model === 'p-a').map(({ json }) => json);
    expect(asked).toHaveLength(2);
    expect(asked[0].tools).toMatchObject([{ function: { name: 'datetime' } }]);
    expect(asked[1].tool_choice).toBe('none');
  });
});

describe('the web tools of fusion', () => {
  const PAGE = { url: 'https://www.example.com/sky', title: 'The sky', content: 'It is blue.' };

  it('are those of every model that takes tools, and name their sources', async () => {
    engine.clear();
    engine.answer([head(200, JSON_TYPE), write(JSON.stringify({ results: [PAGE] })), end()]);
    const answers: AnswerContent[] = [
      { tools: [{ name: 'web_search', arguments: '{"query":"sky"}', id: 'call_s' }] },
      { text: 'Blue, says [example.com](https://www.example.com/sky).' },
    ];
    behaviours = {
      ...behaviours,
      'm-outer': { text: 'See [example.com](https://www.example.com/sky).' },
      get 'p-a'() {
        return answers.shift() ?? 500;
      },
    };
    const plugins = [{ id: 'fusion', analysis_models: ['p/a', 'p/toolless'], model: 'p/judge' }];
    const { body, id } = await ask('/responses', { plugins });
    expect(engine.requests).toHaveLength(1);
    const toolsOf = (model: string) => sentTo(model)?.json.tools?.map((tool: any) => tool.function.name);
    expect(toolsOf('p-a')).toEqual(['web_search', 'web_fetch']);
    expect(toolsOf('p-b')).toBeUndefined();
    expect(body.output[0].sources).toEqual([{ title: PAGE.title, url: PAGE.url }]);
    expect(body.output[1].content[0].annotations).toMatchObject([{ type: 'url_citation', url: PAGE.url }]);
    const { legs } = await recorded(id);
    expect(legs.filter(({ kind }: any) => kind === 'panel')).toHaveLength(3);
  });

  it('are none if the request says so', async () => {
    await ask('/responses', { plugins: [{ id: 'fusion', tools: [] }] });
    expect(sentTo('p-a')?.json.tools).toBeUndefined();
    expect(sentTo('p-judge')?.json.tools).toBeUndefined();
  });
});

it('asks a judge that takes schemas for one', async () => {
  await ask('/responses', { plugins: [{ id: 'fusion', model: 'p/strict' }] });
  expect(sentTo('p-judge')?.json.response_format).toMatchObject({
    type: 'json_schema',
    json_schema: { name: 'analysis', strict: true },
  });
});

describe('limits and guardrails of fusion', () => {
  async function newKey(settings: object) {
    const { body } = await managementOf(gateway).ask('POST', '/keys', { name: 'limited', ...settings });
    return body as { key: string; data: { hash: string } };
  }

  async function askWith(key: string, body: object) {
    const response = await gateway.fetch('/responses', {
      method: 'POST',
      key,
      body: JSON.stringify({ model: 'm/outer', input: 'What colour is the sky?', ...body }),
      headers: { 'content-type': 'application/json', ...METADATA },
    });
    return { status: response.status, body: (await response.json()) as any };
  }

  it('never pass the limit of a key', async () => {
    const limit = 0.0005;
    const { key, data } = await newKey({ limit });
    const { status, body } = await askWith(key, { max_output_tokens: 20, ...FUSION });
    expect(status, JSON.stringify(body)).toBe(200);
    const shown = await managementOf(gateway).ask('GET', `/keys/${data.hash}`);
    expect(shown.body.data.usage).toBeLessThanOrEqual(limit);
    expect(shown.body.data.usage).toBeCloseTo(body.usage.cost, 9);
  });

  it('forbid a model of the panel, and the rest goes on', async () => {
    const { key, data } = await newKey({});
    const management = managementOf(gateway);
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'Some models',
      allowed_models: ['p/a', 'p/judge', 'm/outer'],
    });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [data.hash] });
    const { status, body } = await askWith(key, FUSION);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.output[0].responses.map(({ model }: any) => model)).toEqual(['p/a']);
    expect(body.output[0].failed_models).toMatchObject([
      { model: 'p/b', status_code: 403 },
      { model: 'p/c', status_code: 403 },
    ]);
  });

  it('redact what models of the panel write, everywhere', async () => {
    const { key, data } = await newKey({});
    const management = managementOf(gateway);
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'No secrets',
      content_filters: [{ pattern: 'tangerine', action: 'redact', label: 'FRUIT' }],
    });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [data.hash] });
    behaviours['p-a'] = { text: 'It is tangerine.' };
    behaviours['p-b'] = { refusal: 'No tangerine here.' };
    const { status, body } = await askWith(key, FUSION);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(JSON.stringify(body.output)).not.toContain('tangerine');
    expect(JSON.stringify(sentTo('m-outer')?.json)).not.toContain('tangerine');
    expect(body.output[0].responses[0].content).toContain('FRUIT');
    const response = await gateway.fetch('/responses', {
      method: 'POST',
      key,
      body: JSON.stringify({ model: 'm/outer', input: 'Sky?', stream: true, ...FUSION }),
      headers: { 'content-type': 'application/json' },
    });
    const text = await response.text();
    expect(text).toContain('response.fusion_call.panel.failed');
    expect(text).not.toContain('tangerine');
  });
});

it('ends all legs of a caller that leaves, and charges each once', async () => {
  behaviours['p-b'] = 'hangs';
  behaviours['p-c'] = 'hangs';
  const leaving = new AbortController();
  const response = await gateway.fetch('/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm/outer', input: 'Sky?', stream: true, ...FUSION }),
    signal: leaving.signal,
  });
  const id = response.headers.get('x-generation-id') ?? '';
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes('panel.completed')) text += decoder.decode((await reader?.read())?.value);
  leaving.abort();
  await Promise.all(['p-b', 'p-c'].map((model) => sentTo(model)?.closed));
  await expect
    .poll(async () => (await recorded(id))?.legs?.map(({ model, status }: any) => [model, status]).sort())
    .toEqual([
      ['p/a', 'completed'],
      ['p/b', 'cancelled'],
      ['p/c', 'cancelled'],
    ]);
  const { legs, total_cost } = await recorded(id);
  expect(legs.find(({ model }: any) => model === 'p/a').cost).toBeCloseTo((10 + 2) / 1e6, 9);
  expect(total_cost).toBeCloseTo(
    legs.reduce((sum: number, { cost }: any) => sum + cost, 0),
    9,
  );
  expect(sentTo('m-outer')).toBeUndefined();
});

describe('a hard max_cost_in_dollars', () => {
  const within = (dollars: number) => ({
    stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: dollars, hard: true }],
  });

  it.each(['/responses', '/messages', '/chat/completions'] as const)(
    'holds for panel, judge and answer together on %s',
    async (path) => {
      // The panel ignores every limit: each answer would cost a cent.
      for (const name of ['p-a', 'p-b', 'p-c']) {
        behaviours[name] = { text: 'Blue. '.repeat(5000), usage: { input: 10, output: 5000 } };
      }
      for (const dollars of [0.002, 0.012, 0.03]) {
        const { body, id, status } = await ask(path, { ...FUSION, ...within(dollars) });
        expect([200, 402], JSON.stringify(body)).toContain(status);
        if (status === 402) continue;
        expect(body.usage.cost).toBeLessThanOrEqual(dollars);
        const { total_cost, legs } = await recorded(id);
        expect(total_cost).toBeLessThanOrEqual(dollars);
        expect(legs.length).toBeGreaterThan(0);
      }
    },
  );

  it('leaves enough for all if there is enough', async () => {
    const { body, id } = await ask('/responses', { ...FUSION, max_output_tokens: 500, ...within(5) });
    expect(body.status).toBe('completed');
    expect((await recorded(id)).legs.map(({ kind }: any) => kind)).toEqual([
      ...['panel', 'panel', 'panel'],
      ...['judge', 'main'],
    ]);
  });
});
