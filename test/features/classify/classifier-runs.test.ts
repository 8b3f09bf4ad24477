import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import {
  type FakeUpstream,
  openFakeUpstream,
  reply,
  type Script,
  stall,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const pricing = { prompt: '0.000001', completion: '0.000002' };
const dimensions = [{ name: 'topic', values: [{ value: 'billing' }, { value: 'shipping' }] }];
const SHIPPING = chatAnswer({ text: '{"q1":{"choice":"shipping","confidence":1}}' });

let upstream: FakeUpstream;
let gateway: TestGateway;
let management: Management;

const PATIENCE = { timeout: 30_000, interval: 50 };

const config = (url: string): JsonObject => ({
  providers: [
    { slug: 'simulator' },
    { slug: 'up', name: 'Up', dialect: 'openai-chat', base_url: url, api_key: 'k' },
  ],
  models: [{ id: 'up/chat', endpoints: [{ provider: 'up', model: 'm', pricing }] }],
});

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway(config(upstream.url));
  management = managementOf(gateway);
  const logging = { is_observability_io_logging_enabled: true };
  expect((await management.ask('PATCH', '/workspaces/default', logging)).status).toBe(200);
  for (let index = 0; index < 20; index++)
    await ask({ messages: [{ role: 'user', content: `Parcel ${index}` }] });
  await ask({ messages: [{ role: 'user', content: 'Secret' }], provider: { zdr: true } });
  await gateway.post('/embeddings', { model: 'simulator/embeddings', input: 'a' });
  await booked();
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

async function ask(body: JsonObject): Promise<void> {
  const response = await gateway.post('/chat/completions', { model: 'simulator/standard', ...body });
  expect(response.status).toBe(200);
}

/** Waits until everything that was settled has its row. */
async function booked(): Promise<void> {
  const areBooked = async () => {
    const headers = { authorization: `Bearer ${gateway.managementKey}` };
    const text = await (await fetch(`${gateway.origin}/metrics`, { headers })).text();
    return /signalbox_journal_lag_records\{stage="generations"\} 0\n/.test(text);
  };
  await vi.waitUntil(areBooked, PATIENCE);
}

const made = async (more: JsonObject = {}): Promise<string> => {
  const settings = { name: 'Topics', model: 'up/chat', dimensions, is_active: false, ...more };
  return (await management.data(201, 'POST', '/classifiers', settings)).id;
};

const start = (id: string, body: JsonObject = {}) => management.ask('POST', `/classifiers/${id}/runs`, body);

async function ended(id: string, run: string): Promise<any> {
  const path = `/classifiers/${id}/runs/${run}`;
  await expect
    .poll(async () => (await management.data(200, 'GET', path)).state, PATIENCE)
    .not.toBe('running');
  return management.data(200, 'GET', path);
}

/** Requests by values of a dimension. */
async function byTopic(id: string): Promise<Record<string, number>> {
  const { data } = await management.data(200, 'POST', '/analytics/query', {
    metrics: ['request_count'],
    classifier_dimensions: { classifier_id: id, dimension_names: ['topic'] },
  });
  return Object.fromEntries(data.map((row: any) => [row.topic, row.request_count]));
}

describe('POST /classifiers/{id}/runs', () => {
  it('classifies conversations of the past whose content is kept, and shows their tags in analytics', async () => {
    upstream.answer(SHIPPING);
    const id = await made();
    const { status, body } = await start(id);
    expect([status, body.data]).toMatchObject([
      201,
      { state: 'running', seen: 0, classifier_id: id, spent_usd: 0 },
    ]);
    const run = await ended(id, body.data.id);
    expect(run).toMatchObject({
      state: 'done',
      seen: 21,
      tagged: 20,
      without_content: 1,
      failed: 0,
      problem: null,
    });
    expect(run.spent_usd).toBeGreaterThan(0);
    expect(upstream.requests).toHaveLength(20);
    const classifier = await management.data(200, 'PATCH', `/classifiers/${id}`, { is_active: true });
    expect(classifier.used_usd).toBeCloseTo(run.spent_usd, 9);
    await expect.poll(() => byTopic(id), PATIENCE).toEqual({ shipping: 20 });
    // A second run asks nothing again.
    const again = await ended(id, (await start(id)).body.data.id);
    expect(again).toMatchObject({ state: 'done', seen: 21, tagged: 20, spent_usd: 0 });
    expect(upstream.requests).toHaveLength(20);
    const { body: list } = await management.ask('GET', `/classifiers/${id}/runs`);
    expect(list.data.map((each: any) => each.id)).toEqual([again.id, run.id]);
    await management.ask('DELETE', `/classifiers/${id}`);
  });

  it('counts what the model fails at, and says so of the classifier', async () => {
    upstream.answer(chatAnswer({ text: 'Nonsense' }));
    const id = await made();
    const run = await ended(id, (await start(id)).body.data.id);
    expect(run).toMatchObject({ state: 'done', seen: 21, tagged: 0, failed: 20, without_content: 1 });
    expect((await management.data(200, 'GET', `/classifiers/${id}`)).last_problem).toMatchObject({
      generation_id: expect.stringMatching(/^gen-/),
      message: 'the model gave no usable answer for topic',
    });
    await management.ask('DELETE', `/classifiers/${id}`);
  });

  it.each([
    ['its own budget', { budget_usd: 0.009 }, {}, /budget of the run/],
    ['the monthly budget', {}, { monthly_budget_usd: 0.009 }, /monthly budget/],
  ])('stops at %s, and never passes it', async (_, body, settings, problem) => {
    upstream.answer(SHIPPING);
    const id = await made(settings);
    const run = await ended(id, (await start(id, body)).body.data.id);
    expect(run).toMatchObject({ state: 'stopped', problem: expect.stringMatching(problem) });
    expect(run.spent_usd).toBeGreaterThan(0);
    expect(run.spent_usd).toBeLessThanOrEqual(0.009);
    expect(run.tagged).toBeLessThan(20);
    await management.ask('DELETE', `/classifiers/${id}`);
  });

  it('waits for a model that does not answer, says why, and goes on', async () => {
    let isUp = false;
    const answer: Script = (request) => {
      const script = isUp ? SHIPPING : reply(503, { error: { message: 'busy' } });
      return typeof script === 'function' ? script(request) : script;
    };
    upstream.answer(answer);
    const id = await made();
    const { id: run } = (await start(id)).body.data;
    const path = `/classifiers/${id}/runs/${run}`;
    await expect.poll(async () => (await management.data(200, 'GET', path)).problem, PATIENCE).not.toBeNull();
    expect((await start(id)).status).toBe(409);
    isUp = true;
    const { tagged, failed, state } = await ended(id, run);
    expect([state, tagged + failed]).toEqual(['done', 20]);
    // A generation may be given up before the model is back.
    expect(failed).toBeLessThanOrEqual(1);
    await management.ask('DELETE', `/classifiers/${id}`);
  });

  it('can be stopped, and ends with its classifier', async () => {
    upstream.answer([stall(60_000)]);
    const id = await made();
    const { id: run } = (await start(id)).body.data;
    await upstream.request(0);
    const stopped = await management.data(200, 'POST', `/classifiers/${id}/runs/${run}/stop`);
    expect(stopped).toMatchObject({ state: 'stopped', problem: 'it was stopped' });
    expect((await management.data(200, 'POST', `/classifiers/${id}/runs/${run}/stop`)).state).toBe('stopped');
  });

  it('names what is wrong', async () => {
    const id = await made();
    const problem = async (body: JsonObject) => {
      const answer = await start(id, body);
      return [answer.status, answer.body.error.message];
    };
    const time_range = (start: string, end: string) => ({ time_range: { start, end } });
    expect(await problem(time_range('x', '2026-01-01T00:00:00Z'))).toEqual([
      400,
      expect.stringMatching(/^time_range.start: must be an ISO 8601/),
    ]);
    expect(await problem(time_range('2026-02-01', '2026-01-01'))).toEqual([
      400,
      expect.stringMatching(/^time_range: /),
    ]);
    expect(await problem(time_range('2020-01-01', '2026-01-01'))).toEqual([
      400,
      expect.stringMatching(/366 days/),
    ]);
    expect(await problem({ budget_usd: 1e-12 })).toEqual([400, 'budget_usd: must be a nano-dollar or more']);
    expect(await problem({ budget_usd: 0 })).toEqual([400, expect.stringMatching(/^budget_usd/)]);
    expect(await problem({ limit: 1 })).toEqual([400, 'limit: is not a known field']);
    const { management_key: stranger } = await management.command('accounts.create', { name: 'stranger' });
    for (const [method, path] of [
      ['POST', `/classifiers/${id}/runs`],
      ['GET', `/classifiers/${id}/runs`],
    ] as const) {
      const body = method === 'POST' ? {} : undefined;
      expect((await management.ask(method, path, body, stranger)).status).toBe(404);
      expect((await management.ask(method, path, body, gateway.apiKey)).status).toBe(403);
    }
    expect((await management.ask('GET', `/classifiers/${id}/runs/${id}`)).status).toBe(404);
  });
});
