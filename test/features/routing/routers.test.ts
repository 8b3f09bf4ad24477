import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const model = (id: string, price: string, quality: JsonObject, more: JsonObject = {}): JsonObject => ({
    id,
    quality,
    endpoints: [{ provider: 'up', model: id, pricing: { prompt: price, completion: price } }],
    ...more,
  });
  gateway = await openTestGateway({
    providers: [{ slug: 'up', name: 'Up', dialect: 'openai-chat', base_url: upstream.url }],
    models: [
      model('up/large-2', '0.00001', { general: 0.9, coding: 0.7 }, { created: '2026-05-01' }),
      model('up/large-1', '0.000005', { general: 0.8, coding: 0.8 }, { created: '2026-01-01' }),
      model('up/small', '0.000001', { general: 0.4, coding: 0.4 }),
      model('up/gift', '0', { general: 0.1 }),
      model('hidden/best', '0.00001', { general: 1, coding: 1 }),
      ...Array.from({ length: 20 }, (_, at) => model(`${'a'.repeat(60)}/${at}`, '0.00001', {})),
    ],
    plugins: { 'auto-router': { models: ['up/*', 'a*'] } },
    presets: {
      terse: {
        model: 'up/small',
        system_prompt: 'Be terse.',
        temperature: 0.5,
        max_output_tokens: 50,
        seed: 7,
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.clear();
  upstream.answer(chatAnswer({ text: 'ok' }));
});

const PATHS = { responses: '/responses', messages: '/messages', chat: '/chat/completions' } as const;
const messages = [{ role: 'user', content: 'Hi' }];

async function ask(body: object, path: string = PATHS.responses) {
  const own = path === PATHS.responses ? { input: 'Hi' } : { messages };
  const response = await gateway.post(path, { ...own, ...body }, { 'X-Signalbox-Metadata': 'enabled' });
  return { status: response.status, body: (await response.json()) as any };
}
const sent = async () => (await upstream.request(0)).json as any;

describe('routers', () => {
  const auto = (settings: object) => ({
    model: 'signalbox/auto',
    plugins: [{ id: 'auto-router', ...settings }],
  });
  const cases: [string, object, string, string][] = [
    ['auto, quality alone', auto({ cost_quality_tradeoff: 0 }), 'up/large-2', 'auto'],
    ['auto, the cheapest alone', auto({ cost_quality_tradeoff: 10 }), 'up/gift', 'auto'],
    [
      'auto, patterns',
      auto({ cost_quality_tradeoff: 0, allowed_models: ['*/large-1', 'up/sm*'] }),
      'up/large-1',
      'auto',
    ],
    [
      'auto for code',
      { ...auto({ cost_quality_tradeoff: 0 }), input: '```ts\nconst a = 1\n```' },
      'up/large-1',
      'auto',
    ],
    [
      'auto in a list',
      { models: ['signalbox/auto'], plugins: auto({ cost_quality_tradeoff: 10 }).plugins },
      'up/gift',
      'fallback',
    ],
    ['pareto-code', { model: 'signalbox/pareto-code' }, 'up/large-1', 'pareto'],
    [
      'pareto-code, a lower tier',
      { model: 'signalbox/pareto-code', plugins: [{ id: 'pareto-router', min_coding_score: 0.4 }] },
      'up/small',
      'pareto',
    ],
    ['free', { model: 'signalbox/free' }, 'up/gift', 'free'],
    ['the newest', { model: '~up/large-latest' }, 'up/large-2', 'latest'],
    ['a variant', { model: 'up/small:floor:nitro' }, 'up/small', 'direct'],
  ];
  it.each(cases)('%s', async (_, body, model, strategy) => {
    const { status, body: reply } = await ask(body);
    expect(status).toBe(200);
    expect(await sent()).toMatchObject({ model });
    expect(reply.model).toBe(model);
    expect(reply.signalbox_metadata.strategy).toBe(strategy);
  });

  it('report their decision and its reason', async () => {
    const { body } = await ask(auto({ cost_quality_tradeoff: 0 }));
    expect(body.signalbox_metadata.requested).toBe('signalbox/auto');
    expect(body.signalbox_metadata.pipeline).toMatchObject([
      { type: 'plugin', name: 'auto-router', data: { task_type: 'general', price_percentile_limit: 100 } },
    ]);
    expect(body.signalbox_metadata.pipeline[0].summary).toContain('up/large-2 has the best general score');
  });

  it('have nothing to choose from: 404', async () => {
    const { status, body } = await ask(auto({ allowed_models: ['hidden/*'] }));
    expect(status).toBe(404);
    expect(body.error.message).toBe('No models match your request and model restrictions');
    const { rejected } = body.signalbox_metadata.endpoints;
    expect(new Set(rejected.map(({ filter }: any) => filter))).toEqual(new Set(['allowed_models']));
  });

  it('stay fast with hostile patterns', async () => {
    const started = performance.now();
    const { status } = await ask(auto({ allowed_models: ['a*a*a*a*a*a*a*a*a*b'] }));
    expect(status).toBe(404);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('report a plugin without effect', async () => {
    const { body } = await ask({ model: 'up/small', plugins: [{ id: 'pareto-router' }] });
    expect(body.signalbox_metadata.translation).toMatchObject([{ field: 'plugins[0]', action: 'dropped' }]);
  });
});

describe('two plugins of one id', () => {
  it.each(Object.entries(PATHS))('on %s are a 400 at the second', async (_, path) => {
    const plugins = [{ id: 'auto-router' }, { id: 'pareto-router' }, { id: 'auto-router', enabled: false }];
    const { status, body } = await ask({ model: 'signalbox/auto', plugins, max_tokens: 10 }, path);
    expect(status).toBe(400);
    expect(body.error.metadata.issues).toEqual([
      { path: 'plugins[2].id', message: 'is the same as plugins[0].id' },
    ]);
  });
});

describe('presets', () => {
  it.each(Object.entries(PATHS))('are merged into a request of %s', async (format, path) => {
    const { status, body } = await ask({ model: '@preset/terse' }, path);
    expect(status).toBe(200);
    const request = await sent();
    expect(request).toMatchObject({ model: 'up/small', temperature: 0.5 });
    expect(request.messages[0]).toMatchObject({ role: 'system', content: 'Be terse.' });
    expect(request.max_tokens ?? request.max_completion_tokens).toBe(50);
    const dropped = (body.signalbox_metadata.translation ?? []).map((entry: any) => entry.field);
    if (format === 'chat') expect(request.seed).toBe(7);
    else expect(dropped).toContain('preset.seed');
  });

  it('give way to the request, and to a model that is named with them', async () => {
    await ask({ model: 'up/large-1@preset/terse', temperature: 1, instructions: 'Be long.' });
    const request = await sent();
    expect(request).toMatchObject({ model: 'up/large-1', temperature: 1 });
    expect(request.messages[0].content).toBe('Be long.');
  });

  it('are named in a field of their own', async () => {
    await ask({ preset: 'terse' });
    expect(await sent()).toMatchObject({ model: 'up/small' });
  });

  it('that do not exist: 404', async () => {
    const { status, body } = await ask({ model: '@preset/none' });
    expect(status).toBe(404);
    expect(body.error.message).toBe('model: there is no preset "none"');
  });
});
