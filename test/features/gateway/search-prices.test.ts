import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let engine: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  [upstream, engine] = await Promise.all([openFakeUpstream(), openFakeUpstream()]);
  const own = { api_key: 'k', url: `http://127.0.0.1:${engine.port}` };
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] }],
    plugins: {
      web: {
        engines: {
          exa: {
            ...own,
            price_per_search: { auto: 0.007, deep: 0.012, 'deep-reasoning': 0.015 },
            price_per_result: 0.001,
          },
          tavily: { ...own, price_per_search: 0.008 },
          parallel: { ...own, price_per_search: 0.005, price_per_result: 0.001, modes: ['basic', 'turbo'] },
          firecrawl: { ...own, price_per_search: 0.002, price_per_result: 0.0002 },
        },
      },
    },
    egress: { allow: [`127.0.0.1:${engine.port}`] },
  } as never);
});
beforeEach(() => {
  upstream.clear();
  engine.clear();
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream.close(), engine.close()]);
});

const beyondTen = (results: number) => Math.max(0, results - 10);

/** What engines publish that a search costs, by the request that they get. */
const BILLS: Readonly<Record<string, (sent: any) => number>> = {
  exa: ({ type, numResults }) => {
    if (numResults > 25) return 0.1;
    const usd = type.startsWith('deep') ? (type === 'deep-reasoning' ? 0.015 : 0.012) : 0.007;
    return usd + 0.001 * beyondTen(numResults);
  },
  tavily: ({ search_depth }) => (search_depth === 'advanced' ? 0.016 : 0.008),
  parallel: ({ advanced_settings: { max_results } }) => 0.005 + 0.001 * beyondTen(max_results),
  firecrawl: ({ limit }) => 0.002 * Math.ceil(Math.max(limit, 1) / 10),
};

const ANSWERS: Readonly<Record<string, object>> = { firecrawl: { data: { web: [] } } };

async function ask(settings: object) {
  const { engine: name } = settings as { engine: string };
  engine.answer(reply(200, ANSWERS[name] ?? { results: [] }));
  upstream.answer(chatAnswer({ text: 'ok' }));
  const body = { model: 'm/one', messages: [{ role: 'user', content: 'What is A?' }] };
  const plugins = [{ id: 'web', ...settings }];
  const response = await gateway.post(
    '/chat/completions',
    { ...body, plugins },
    { 'x-signalbox-metadata': 'enabled' },
  );
  const answer = (await response.json()) as any;
  const note = answer.signalbox_metadata.pipeline.find(({ name: each }: any) => each === 'web');
  return { sent: engine.requests[0]?.json, cost: answer.usage.cost, ignored: note.data.ignored ?? [] };
}

const MODES: Readonly<Record<string, readonly string[]>> = {
  exa: ['auto', 'instant', 'fast', 'deep-lite', 'deep', 'deep-reasoning'],
  tavily: ['basic', 'advanced', 'fast'],
  parallel: ['turbo', 'basic', 'advanced'],
  firecrawl: [],
};

describe.each(Object.keys(MODES))('law: a search of %s costs what the engine bills, or more', (name) => {
  const modes = [undefined, 'nonsense', ...(MODES[name] ?? [])];
  it.each(modes)('in mode %s', async (mode) => {
    for (const max_results of [undefined, 1, 10, 11, 25]) {
      for (const include_domains of [undefined, ['example.com']]) {
        engine.clear();
        const { sent, cost } = await ask({ engine: name, mode, max_results, include_domains });
        expect(cost, JSON.stringify(sent)).toBeGreaterThanOrEqual((BILLS[name]?.(sent) ?? 1) - 1e-9);
      }
    }
  });
});

describe('a mode', () => {
  it.each([
    ['exa', 'deep', 'deep', 0.012, []],
    ['exa', 'deep-reasoning', 'deep-reasoning', 0.015, []],
    // Without a price it costs the highest; a dearer one is not run.
    ['exa', 'fast', 'fast', 0.015, []],
    ['exa', 'deep-lite', 'auto', 0.007, ['mode']],
    ['exa', undefined, 'auto', 0.007, []],
    ['tavily', 'advanced', 'basic', 0.008, ['mode']],
    ['tavily', 'fast', 'fast', 0.008, []],
    ['parallel', 'advanced', 'basic', 0.005, ['mode']],
    ['parallel', 'turbo', 'turbo', 0.005, []],
  ])('%s: %s is sent as %s', async (name, mode, sentAs, usd, lost) => {
    const { sent, cost, ignored } = await ask({ engine: name, mode });
    expect(sent.type ?? sent.search_depth ?? sent.mode).toBe(sentAs);
    expect(cost).toBeCloseTo(usd, 9);
    expect(ignored).toEqual(lost);
  });

  it('of a tool costs the same as of the plugin', async () => {
    engine.answer(reply(200, { results: [] }));
    const call = { name: 'web_search', arguments: '{"query":"a"}', id: 'call_a' };
    for (const content of [{ tools: [call] }, { text: 'ok' }]) upstream.answer(chatAnswer(content));
    const parameters = { engine: 'exa', mode: 'deep-reasoning', max_results: 25 };
    const tools = [{ type: 'signalbox:web_search', parameters }];
    const response = await gateway.post('/responses', { model: 'm/one', input: 'A?', tools });
    const { usage } = (await response.json()) as any;
    expect(engine.requests[0]?.json).toMatchObject({ type: 'deep-reasoning', numResults: 25 });
    expect(usage.cost).toBeCloseTo(0.015 + 15 * 0.001, 9);
  });
});
