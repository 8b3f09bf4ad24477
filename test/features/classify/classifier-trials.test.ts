import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply, stall } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const pricing = { prompt: '0.000001', completion: '0.000002' };
const topic = {
  name: 'topic',
  values: [{ value: 'billing', description: 'Invoices' }, { value: 'shipping' }],
};
const mood = { name: 'mood', values: [{ value: 'calm' }, { value: 'angry' }] };
const topics = { name: 'Topics', model: 'up/chat', dimensions: [topic, mood] };

let upstream: FakeUpstream;
let gateway: TestGateway;
let management: Management;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway(
    {
      providers: [
        { slug: 'simulator' },
        { slug: 'up', name: 'Up', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
      ],
      models: [
        { id: 'up/chat', endpoints: [{ provider: 'up', model: 'm', pricing }] },
        ...['openai', 'system-one'].map((decisions) => ({
          id: `own/${decisions}`,
          endpoints: [{ provider: 'up', model: 'jev', decisions, pricing }],
        })),
      ],
    },
    { classifierMs: 5_000 },
  );
  management = managementOf(gateway);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());
afterEach(async () => {
  const { data } = (await management.ask('GET', '/classifiers')).body;
  for (const { id } of data) await management.ask('DELETE', `/classifiers/${id}`);
});

const made = async (more: JsonObject = {}): Promise<string> =>
  (await management.data(201, 'POST', '/classifiers', { ...topics, ...more })).id;
const tried = (id: string, body: JsonObject = { text: 'Where is my invoice?' }) =>
  management.ask('POST', `/classifiers/${id}/test`, body);

const answered = (first: unknown, second: unknown) =>
  JSON.stringify({ q1: { choice: first, confidence: 1 }, q2: { choice: second, confidence: 1 } });

describe('POST /classifiers/{id}/test', () => {
  it('says what the model says of a text, and charges the account, not a key', async () => {
    upstream.answer(chatAnswer({ text: answered('billing', 'angry') }));
    const id = await made({ description: 'A shop' });
    const { status, body } = await tried(id);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      tags: { topic: 'billing', mood: 'angry' },
      problem: null,
      generation_id: expect.stringMatching(/^gen-/),
      cost: expect.any(Number),
      transcript: 'USER: Where is my invoice?',
    });
    const sent = (await upstream.request(0)).json;
    expect(JSON.stringify(sent.messages)).toContain('Topics: A shop');
    expect(sent.response_format.json_schema.schema.properties.q1.properties.choice.enum).toEqual([
      'billing',
      'shipping',
      '(none of these)',
    ]);
    expect(body.data.cost).toBeGreaterThan(0);
    const used = async () => (await management.data(200, 'GET', `/classifiers/${id}`)).used_usd;
    await expect.poll(used).toBeCloseTo(body.data.cost, 9);
    const path = `/generation?id=${body.data.generation_id}`;
    expect(await management.data(200, 'GET', path)).toMatchObject({
      api_type: 'classification',
      total_cost: body.data.cost,
    });
    expect((await management.ask('GET', '/key', undefined, gateway.apiKey)).body.data.usage).toBe(0);
    // Its prompt is kept nowhere, although it is a generation.
    expect((await management.ask('GET', path.replace('?', '/content?'))).status).toBe(404);
  });

  it.each([
    [
      'openai',
      {
        answers: [
          { type: 'choice', choice: 'billing' },
          { type: 'choice', choice: 'calm' },
        ],
      },
    ],
    ['system-one', { answers: { topic: { choice: 'billing' }, mood: { choice: 'calm' } } }],
  ])('asks a model that is made for decisions in its own form: %s', async (form, body) => {
    upstream.answer(reply(200, { ...body, usage: { input_tokens: 9, output_tokens: 0 } }));
    const { data } = (await tried(await made({ model: `own/${form}` }))).body;
    expect(data).toMatchObject({ tags: { topic: 'billing', mood: 'calm' }, problem: null });
    const sent = await upstream.request(0);
    expect(sent.path).toBe(form === 'openai' ? '/v1/decisions' : '/v1/systemone');
    expect(sent.json).not.toHaveProperty('max_output_tokens');
  });

  it.each([
    ['nonsense', () => chatAnswer({ text: 'It is about invoices.' }), {}, /no usable answer for topic, mood/],
    ['nothing', () => chatAnswer({ text: '' }), {}, /no usable answer for topic, mood/],
    ['other values', () => chatAnswer({ text: answered('weather', 'calm') }), { mood: 'calm' }, /for topic$/],
    ['an error', () => reply(500, { error: { message: 'no' } }), {}, /./],
    ['not in time', () => [stall(60_000)], {}, /did not answer in time/],
  ])('says what went wrong if the model answers %s', async (_, script, tags, problem) => {
    upstream.answer(script());
    const { status, body } = await tried(await made());
    expect([status, body.data.tags, body.data.problem]).toEqual([200, tags, expect.stringMatching(problem)]);
  });

  it('reads a generation whose content is kept, and no other', async () => {
    await management.ask('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true });
    const ask = async (more: JsonObject = {}) => {
      const messages = [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Late again!' },
      ];
      const response = await gateway.post('/chat/completions', {
        model: 'simulator/standard',
        messages,
        ...more,
      });
      return ((await response.json()) as any).id as string;
    };
    const kept = await ask({ tools: [{ type: 'function', function: { name: 'find', parameters: {} } }] });
    const notKept = await ask({ provider: { zdr: true } });
    await management.ask('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: false });
    const id = await made({ model: 'simulator/standard' });
    const { data } = (await tried(id, { generation_id: kept })).body;
    expect(data).toMatchObject({ tags: { topic: 'billing', mood: 'calm' }, problem: null });
    expect(data.transcript).toMatch(/^SYSTEM: Be kind\.\n\nTOOLS: find\n\nUSER: Late again!\n\nASSISTANT: /);
    const refused = await tried(id, { generation_id: notKept });
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('are not kept'),
    ]);
    expect((await tried(id, { generation_id: 'gen-unknown' })).status).toBe(404);
  });

  it('takes a text or a generation, of its own account', async () => {
    const id = await made();
    for (const body of [{}, { text: 'a', generation_id: 'b' }, { text: '' }, { text: 'a', more: 1 }]) {
      expect((await tried(id, body as JsonObject)).status).toBe(400);
    }
    const { management_key: stranger } = await management.command('accounts.create', { name: 'stranger' });
    expect((await management.ask('POST', `/classifiers/${id}/test`, { text: 'a' }, stranger)).status).toBe(
      404,
    );
    expect(
      (await management.ask('POST', `/classifiers/${id}/test`, { text: 'a' }, gateway.apiKey)).status,
    ).toBe(403);
    expect(upstream.requests).toEqual([]);
  });

  it('spends no more than the monthly budget, whatever limits keys have', async () => {
    upstream.answer(chatAnswer({ text: answered('billing', 'calm') }));
    const id = await made({ monthly_budget_usd: 0.000_001 });
    expect((await tried(id)).body.data).toMatchObject({
      tags: {},
      problem: 'what is left of the monthly budget does not pay for it',
      generation_id: null,
    });
    expect(upstream.requests).toEqual([]);
  });

  it('has the guardrails of its workspace read what it sends', async () => {
    const { default_guardrail_id: id } = await management.data(200, 'GET', '/workspaces/default');
    const content_filters = [{ pattern: 'order 7', action: 'redact', label: 'HIDDEN' }];
    expect((await management.ask('PATCH', `/guardrails/${id}`, { content_filters })).status).toBe(200);
    upstream.answer(chatAnswer({ text: answered('billing', 'calm') }));
    await tried(await made(), { text: 'Where is order 7?' });
    const sent = JSON.stringify((await upstream.request(0)).json);
    expect(sent).toContain('Where is [HIDDEN]?');
    await management.ask('PATCH', `/guardrails/${id}`, { content_filters: null });
  });
});
