import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { end, type FakeUpstream, head, openFakeUpstream, write } from '../../kit/fakes/fake-upstream.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import {
  openTestGateway,
  readEvents,
  type TestGateway,
  type TestOptions,
} from '../../kit/gateway-harness.ts';

let cheap: FakeUpstream;
let dear: FakeUpstream;
let gateway: TestGateway;
let clock: HandClock;

const price = (perMillion: number) => ({
  prompt: (perMillion / 1e6).toFixed(9),
  completion: (perMillion / 1e6).toFixed(9),
});
const failure = (status: number, headers: Record<string, string> = {}) => [
  head(status, { 'content-type': 'application/json', ...headers }),
  write(JSON.stringify({ error: { message: 'broken' } })),
  end(),
];

async function open(options: TestOptions = {}) {
  cheap = await openFakeUpstream();
  dear = await openFakeUpstream();
  gateway = await openTestGateway(
    {
      providers: [
        { slug: 'cheap', name: 'Cheap', dialect: 'openai-chat', base_url: cheap.url },
        { slug: 'dear', name: 'Dear', dialect: 'openai-chat', base_url: dear.url },
      ],
      models: [
        {
          id: 'm/one',
          endpoints: [
            { provider: 'cheap', model: 'one', pricing: price(1), max_output_tokens: 100 },
            { provider: 'dear', model: 'one', pricing: price(1000), max_output_tokens: 100 },
          ],
        },
        { id: 'm/two', endpoints: [{ provider: 'dear', model: 'two', pricing: price(2) }] },
        {
          id: 'm/flex',
          endpoints: [
            { provider: 'cheap', model: 'flex', tag: 'cheap/flex', pricing: price(1) },
            { provider: 'dear', model: 'flex', pricing: price(2) },
          ],
        },
        { id: 'm/alone', endpoints: [{ provider: 'cheap', model: 'alone', pricing: price(1) }] },
      ],
      routing: {},
    } as never,
    options,
  );
  cheap.answer(chatAnswer({ text: 'from cheap' }));
  dear.answer(chatAnswer({ text: 'from dear' }));
}
async function close() {
  await gateway.close();
  await cheap.close();
  await dear.close();
}

const ask = async (body: object, headers: Record<string, string> = {}, path = '/responses') => {
  const response = await gateway.post(
    path,
    { model: 'm/one', input: 'Hi', ...body },
    { 'X-Signalbox-Metadata': 'enabled', ...headers },
  );
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
};
const served = ({ body }: { body: any }) =>
  body.signalbox_metadata.endpoints.available.find(({ selected }: any) => selected)?.provider;

describe('an endpoint that fails', () => {
  beforeEach(() => {
    clock = new HandClock();
    return open({ healthClock: clock });
  });
  afterAll(close);

  it('is left for another one, and not called again while it cools down', async () => {
    cheap.clear();
    cheap.answer(failure(500));
    const order = { provider: { order: ['cheap', 'dear'] } };
    const answers = [];
    for (let count = 0; count < 12; count++) answers.push(await ask(order));
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(answers[0]?.body.signalbox_metadata).toMatchObject({
      attempt: 2,
      attempts: [
        { provider: 'Cheap', status: 500 },
        { provider: 'Dear', status: 200 },
      ],
      summary: 'available=2, selected=Dear',
    });
    expect(cheap.requests).toHaveLength(5);
    expect(answers[11]?.body.signalbox_metadata.attempt).toBe(1);
    await close();
  });

  it('gets one probe at a time if no other is left; other requests get Retry-After', async () => {
    cheap.clear();
    cheap.answer(failure(500));
    for (let count = 0; count < 5; count++) expect((await ask({ model: 'm/alone' })).status).toBe(502);
    expect((await ask({ model: 'm/alone' })).status).toBe(502);
    expect(cheap.requests).toHaveLength(6);
    const turnedAway = await ask({ model: 'm/alone' });
    expect(turnedAway.status).toBe(503);
    expect(Number(turnedAway.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(cheap.requests).toHaveLength(6);
    expect(turnedAway.body.signalbox_metadata).toMatchObject({ attempt: 0, summary: 'available=1' });
    clock.pass(999);
    expect((await ask({ model: 'm/alone' })).status).toBe(503);
    clock.pass(1);
    expect((await ask({ model: 'm/alone' })).status).toBe(502);
    expect(cheap.requests).toHaveLength(7);
    await close();
  });

  it('gets the next probe while one is open only after ten seconds', async () => {
    cheap.clear();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold = () => released;
    for (let count = 0; count < 5; count++) cheap.answer(failure(500));
    cheap.answer([hold, ...failure(500)]);
    for (let count = 0; count < 5; count++) expect((await ask({ model: 'm/alone' })).status).toBe(502);
    const probe = ask({ model: 'm/alone' });
    await cheap.request(5);
    clock.pass(9_999);
    expect((await ask({ model: 'm/alone' })).status).toBe(503);
    clock.pass(1);
    const next = ask({ model: 'm/alone' });
    await cheap.request(6);
    release();
    expect([(await probe).status, (await next).status]).toEqual([502, 502]);
    await close();
  });

  it('and all others too: each request probes one of them, as often as each may be probed', async () => {
    for (const upstream of [cheap, dear]) {
      upstream.clear();
      upstream.answer(failure(500));
    }
    const order = { provider: { order: ['cheap', 'dear'] } };
    const calls = () => [cheap.requests.length, dear.requests.length];
    for (let count = 0; count < 5; count++) expect((await ask(order)).status).toBe(502);
    expect(calls()).toEqual([5, 5]);
    expect((await ask(order)).status).toBe(502);
    expect((await ask(order)).status).toBe(502);
    expect(calls()).toEqual([6, 6]);
    expect((await ask(order)).status).toBe(503);
    expect(calls()).toEqual([6, 6]);
    clock.pass(1_000);
    expect((await ask(order)).status).toBe(502);
    expect(calls()).toEqual([7, 6]);
    await close();
  });

  it('never counts what was the fault of the request', async () => {
    cheap.clear();
    cheap.answer(failure(400));
    for (let count = 0; count < 8; count++) expect((await ask({ model: 'm/alone' })).status).toBe(400);
    expect(cheap.requests).toHaveLength(8);
    await close();
  });

  it('is not called for as long as it asked, and the caller gets Retry-After', async () => {
    cheap.clear();
    cheap.answer(failure(429, { 'retry-after': '7' }));
    const first = await ask({ model: 'm/alone' });
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
    const second = await ask({ model: 'm/alone' });
    expect(second.status).toBe(429);
    expect(Number(second.headers.get('retry-after'))).toBeLessThanOrEqual(7);
    expect(cheap.requests).toHaveLength(1);
    await close();
  });
});

describe('an endpoint that is overloaded and says for how long', () => {
  beforeEach(async () => {
    await open();
    cheap.clear();
    cheap.answer(failure(503, { 'retry-after': '60' }));
  });
  afterEach(close);

  it('is not called while another endpoint is left', async () => {
    const order = { provider: { order: ['cheap', 'dear'] } };
    expect((await ask(order)).body.signalbox_metadata.attempt).toBe(2);
    for (let count = 0; count < 3; count++) {
      const answer = await ask(order);
      expect([served(answer), answer.body.signalbox_metadata.attempt]).toEqual(['Dear', 1]);
    }
    expect(cheap.requests).toHaveLength(1);
    const response = await gateway.post('/routing/explain', { model: 'm/one', input: 'Hi', ...order });
    const { candidates } = ((await response.json()) as any).data;
    expect(candidates.map(({ tag }: any) => tag)).toEqual(['dear', 'cheap']);
    expect(candidates[1].health).toMatchObject({ state: 'ok', failures: 1 });
    expect(candidates[1].health.retry_after_seconds).toBeGreaterThan(50);
  });

  it('is called at once if no other endpoint is left', async () => {
    expect((await ask({ model: 'm/alone' })).status).toBe(503);
    cheap.clear();
    cheap.answer(chatAnswer({ text: 'from cheap' }));
    for (let count = 0; count < 3; count++) expect((await ask({ model: 'm/alone' })).status).toBe(200);
  });
});

describe('the flex tier', () => {
  beforeEach(() => open());
  afterEach(close);

  it('is never replaced by a tier that costs more', async () => {
    const answer = await ask({ model: 'm/flex', service_tier: 'flex', provider: { only: ['dear'] } });
    expect(answer.status).toBe(404);
    expect(answer.body.error.message).toContain('Cheap (cheap/flex): only: not in provider.only');
    expect(answer.body.error.message).toContain('Dear (dear): service_tier: the flex tier is asked for');
    expect(dear.requests).toHaveLength(0);
  });

  it('is not missed where the model never had it', async () => {
    expect((await ask({ model: 'm/two', service_tier: 'flex' })).status).toBe(200);
  });
});

describe('stickiness', () => {
  beforeEach(() => open());

  it('keeps a session where it was served', async () => {
    const first = await ask({ session_id: 's', provider: { only: ['dear'] } });
    expect(served(first)).toBe('Dear');
    for (let count = 0; count < 5; count++) expect(served(await ask({ session_id: 's' }))).toBe('Dear');
    for (let count = 0; count < 5; count++) {
      expect(served(await ask({}, { 'x-session-id': 's' }))).toBe('Dear');
    }
    const others = [];
    for (let count = 0; count < 5; count++) others.push(served(await ask({ session_id: 'other' })));
    expect(others).toContain('Cheap');
    await close();
  });

  it('sets no pin under an order', async () => {
    await ask({ session_id: 's', provider: { order: ['dear'] } });
    const later = [];
    for (let count = 0; count < 5; count++) later.push(served(await ask({ session_id: 's' })));
    expect(later).toContain('Cheap');
    await close();
  });
});

describe('explaining', () => {
  beforeAll(() => open());
  afterAll(close);

  it('explains the plan without an upstream call', async () => {
    const { status, body } = await ask({ max_output_tokens: 50 }, {}, '/routing/explain');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      requested: 'm/one',
      strategy: 'direct',
      rejected: [],
      estimate: { max_output_tokens: 50 },
    });
    expect(body.data.estimate.prompt_tokens).toBeGreaterThan(0);
    expect(body.data.estimate.max_cost_usd).toBeGreaterThan(0);
    expect(body.data.candidates).toHaveLength(2);
    expect(body.data.candidates[0]).toMatchObject({
      rank: 1,
      credential: 'shared',
      lane: 'translate',
      sticky: false,
      health: { state: 'ok', failures: 0, latency_p50_ms: null, throughput_p50: null },
    });
    const weights = body.data.candidates.map(({ weight }: any) => weight);
    expect(weights.reduce((sum: number, weight: number) => sum + weight, 0)).toBeCloseTo(1);
    expect([...cheap.requests, ...dear.requests]).toHaveLength(0);
  });

  it('takes every format and names what is wrong', async () => {
    const chat = { model: 'm/one', format: 'chat', messages: [{ role: 'user', content: 'Hi' }] };
    const response = await gateway.post('/routing/explain', { ...chat, logit_bias: { 1: 1 } });
    expect(response.status).toBe(200);
    expect(((await response.json()) as any).data.candidates[0].lane).toBe('relay');
    const bad = await gateway.post('/routing/explain', { ...chat, messages: 'no' });
    expect(bad.status).toBe(400);
    expect(((await bad.json()) as any).error.message).toMatch(/^messages/);
    const unknown = await gateway.post('/routing/explain', { model: 'm/none', input: 'x' });
    expect(unknown.status).toBe(400);
  });

  it('explains why no endpoint is left', async () => {
    const { status, body } = await ask({ provider: { only: ['nobody'] } }, {}, '/routing/explain');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ candidates: [], error: { code: 404 } });
    expect(body.data.rejected.map(({ filter, tag }: any) => [filter, tag])).toEqual([
      ['only', 'cheap'],
      ['only', 'dear'],
    ]);
  });

  it('is open to management keys', async () => {
    const response = await gateway.fetch('/routing/explain', {
      method: 'POST',
      key: gateway.managementKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm/one', input: 'x' }),
    });
    expect(response.status).toBe(200);
  });
});

describe('the endpoints list', () => {
  beforeAll(() => open());
  afterAll(close);

  it('shows what was measured', async () => {
    await readEvents(await gateway.post('/responses', { model: 'm/two', input: 'x', stream: true }));
    await ask({ model: 'm/two' });
    const list = (await (await gateway.fetch('/models/m/two/endpoints')).json()) as any;
    expect(list.data.endpoints[0]).toMatchObject({ uptime_last_5m: 100, uptime_last_1d: 100 });
    expect(list.data.endpoints[0].latency_last_30m.p50).toBeGreaterThan(0);
    expect(list.data.endpoints[0].throughput_last_30m.p50).toBeGreaterThan(0);
    const open = (await (await gateway.fetch('/models/m/two/endpoints', { key: null })).json()) as any;
    expect(open.data.endpoints[0]).toMatchObject({ uptime_last_5m: 100, latency_last_30m: null });
  });
});
