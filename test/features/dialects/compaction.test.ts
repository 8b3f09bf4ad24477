import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

const PATH = '/responses/compact';
const pricing = { prompt: '0.000001', completion: '0.000002' };
const PROVIDERS = {
  openai: 'openai-responses',
  'p-responses': 'openai-responses',
  'p-chat': 'openai-chat',
  'p-messages': 'anthropic-messages',
};

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [
      { slug: 'simulator' },
      ...Object.entries(PROVIDERS).map(([slug, dialect]) => ({
        slug,
        dialect,
        base_url: upstream.url,
        api_key: 'k',
      })),
    ],
    models: Object.keys(PROVIDERS).map((provider) => ({
      id: `up/${provider}`,
      endpoints: [{ provider, model: 'm', pricing }],
    })),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const compact = async (body: object, headers: Record<string, string> = {}) => {
  const answer = await gateway.post(PATH, body, headers);
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
};

const CONVERSATION = [
  { role: 'user', content: 'What is the weather in Oslo?' },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque-thoughts' },
  { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { type: 'function_call_output', call_id: 'c1', output: '17 degrees' },
  { role: 'assistant', content: 'It is 17 degrees.' },
  { role: 'user', content: [{ type: 'input_text', text: 'And tomorrow?' }] },
];

const ANSWERS = { 'p-chat': chatAnswer, 'p-responses': responsesAnswer, 'p-messages': messagesAnswer };
const EMULATED = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[];

describe('an upstream that compacts itself', () => {
  const OUTPUT = [
    {
      id: 'msg_1',
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'a' }],
    },
    { id: 'cmp_1', type: 'compaction', encrypted_content: 'theirs', created_by: 'x' },
  ];

  it('gets the conversation, and its answer comes back', async () => {
    upstream.answer(
      reply(200, {
        id: 'resp_1',
        object: 'response.compaction',
        created_at: 1,
        output: OUTPUT,
        usage: { input_tokens: 100, output_tokens: 50, total_tokens: 150 },
      }),
    );
    const asked = {
      input: CONVERSATION,
      instructions: 'Be brief.',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      provider: { allow_fallbacks: false },
    };
    const { status, body } = await compact({ model: 'up/openai', ...asked });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body).toMatchObject({ object: 'response.compaction', output: OUTPUT });
    expect(body.id).toMatch(/^resp_/);
    expect(body.usage).toMatchObject({
      input_tokens: 100,
      output_tokens: 50,
      total_tokens: 150,
      cost: 0.0002,
    });
    const sent = await upstream.request(0);
    expect(sent.path).toBe('/v1/responses/compact');
    expect(sent.json).toEqual({
      model: 'm',
      input: CONVERSATION,
      instructions: 'Be brief.',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
    });
  });
});

describe('an upstream that compacts itself, for a key with a limit', () => {
  const under = async (limit: number) => {
    const { key } = (await managementOf(gateway).ask('POST', '/keys', { name: 'limited', limit })).body;
    upstream.answer(responsesAnswer({ text: 'Ok' }));
    const { status } = await compact({ model: 'up/openai', input: 'Hi' }, { authorization: `Bearer ${key}` });
    const { path, json } = await upstream.request(0);
    return { status, path, json };
  };

  it('is told of no limit of output, which it would not take', async () => {
    const { path, json } = await under(100);
    expect([path, json]).toEqual(['/v1/responses/compact', { model: 'm', input: 'Hi' }]);
  });

  it('is asked for a summary of limited length where the key does not pay for any length', async () => {
    const { status, path, json } = await under(0.01);
    expect([status, path]).toEqual([200, '/v1/responses']);
    expect(json.max_output_tokens * 0.000002).toBeLessThanOrEqual(0.01);
  });
});

describe.each(EMULATED)('a model of %s', (name) => {
  const model = `up/${name}`;

  it('summarises the conversation for an item that every upstream reads', async () => {
    upstream.answer(ANSWERS[name]({ text: 'Oslo has 17 degrees.' }));
    const recorded = gateway.logged('generation').length;
    const { status, body } = await compact(
      { model, input: CONVERSATION, instructions: 'Be brief.' },
      { 'x-signalbox-metadata': 'enabled' },
    );
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.object).toBe('response.compaction');
    expect(body.output.map(({ type, role }: any) => role ?? type)).toEqual(['user', 'user', 'compaction']);
    expect(body.usage.cost).toBeGreaterThan(0);
    expect(body.signalbox_metadata.translation).toContainEqual(
      expect.objectContaining({ field: 'input', action: 'coerced' }),
    );
    await expect.poll(() => gateway.logged('generation').length).toBe(recorded + 1);
    const asked = JSON.stringify((await upstream.request(0)).json);
    for (const said of ['Be brief.', '17 degrees', 'And tomorrow?', 'weather', 'summary']) {
      expect(asked).toContain(said);
    }
    expect(asked).not.toContain('opaque-thoughts');

    for (const next of [...EMULATED, 'openai' as const]) {
      upstream.clear();
      upstream.answer((next === 'openai' ? responsesAnswer : ANSWERS[next])({ text: 'Ok' }));
      const input = [...body.output, { role: 'user', content: 'Go on.' }];
      expect((await gateway.post('/responses', { model: `up/${next}`, input })).status).toBe(200);
      const sent = JSON.stringify((await upstream.request(0)).json);
      expect(sent).toContain('Oslo has 17 degrees.');
      expect(sent).not.toContain('sealed.v1.');
    }
  });

  it('says that there is no summary', async () => {
    upstream.answer(ANSWERS[name]({ text: ' ' }));
    const { status, body } = await compact({ model, input: 'Hi', provider: { allow_fallbacks: false } });
    expect([status, body.error.code]).toEqual([502, 502]);
  });
});

it('is scanned by guardrails, also for an upstream that compacts itself', async () => {
  const { ask, data } = managementOf(gateway);
  const made = (await ask('POST', '/keys', { name: 'guarded' })).body;
  const content_filters = [
    { pattern: 'parcel', action: 'redact', label: 'HIDDEN' },
    { pattern: 'forbidden', action: 'block' },
  ];
  const { id } = await data(201, 'POST', '/guardrails', { name: 'compacted', content_filters });
  await ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [made.data.hash] });
  const guarded = { authorization: `Bearer ${made.key}` };
  upstream.answer(responsesAnswer({ text: 'They ask for a parcel.' }));
  const { status, body } = await compact({ model: 'up/openai', input: 'Where is my parcel?' }, guarded);
  expect(status).toBe(200);
  const sent = await upstream.request(0);
  expect(sent.path).toBe('/v1/responses');
  expect(JSON.stringify(sent.json)).toContain('Where is my [HIDDEN]?');
  const seal = body.output.at(-1).encrypted_content.replace('sealed.v1.', '');
  expect(Buffer.from(seal, 'base64url').toString()).toContain('They ask for a [HIDDEN].');
  expect((await compact({ model: 'up/openai', input: 'forbidden' }, guarded)).status).toBe(403);
  expect(upstream.requests.length).toBe(1);
});

it('refuses more than the limit of the key', async () => {
  const { ask } = managementOf(gateway);
  const { key } = (await ask('POST', '/keys', { name: 'poor', limit: 0.0000001 })).body;
  const answer = await compact({ model: 'up/p-chat', input: 'Hi' }, { authorization: `Bearer ${key}` });
  expect(answer.status).toBe(402);
  expect(upstream.requests.length).toBe(0);
});

it.each([
  [{ model: 'up/p-chat' }, 'input'],
  [{ input: 'Hi' }, 'model'],
  [{ model: 'up/p-chat', input: [] }, 'input'],
  [{ model: 'up/p-chat', input: 'Hi', instructions: 7 }, 'instructions'],
  [{ model: 'up/p-chat', input: 'Hi', stream: true }, 'stream'],
  [{ model: 'up/p-chat', input: 'Hi', previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ model: 'up/p-chat', input: 'Hi', conversation: 'conv_1' }, 'conversation'],
  [{ model: 'up/p-chat', input: [{ type: 'compaction' }] }, 'input[0]'],
])('refuses %j', async (body, named) => {
  const refused = await compact(body);
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({ code: 400, message: expect.stringContaining(named) });
});

it('answers the official SDK, by the simulator too', async () => {
  const client = new OpenAI({ apiKey: gateway.apiKey, baseURL: gateway.url, maxRetries: 0 });
  const body = { model: 'simulator/standard', input: 'Say hello.' };
  const compacted = await client.responses.compact(body as any);
  expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
});
