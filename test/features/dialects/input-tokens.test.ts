import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const PATH = '/responses/input_tokens';
const pricing = { prompt: '0.000001', completion: '0.000002' };
const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic-messages' };

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(DIALECTS).map(([name, dialect]) => ({
      slug: `p-${name}`,
      dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: Object.keys(DIALECTS).map((name) => ({
      id: `up/${name}`,
      context_length: 1000,
      endpoints: [{ provider: `p-${name}`, model: 'm', pricing }],
    })),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const count = async (body: object) => {
  const answer = await gateway.post(PATH, body);
  return { status: answer.status, body: (await answer.json()) as any };
};

const TOOL = { type: 'function', name: 'f', parameters: { type: 'object', properties: { city: {} } } };

it.each(Object.keys(DIALECTS))(
  'counts without a call of %s upstreams, a charge or a record',
  async (name) => {
    upstream.answer(reply(200, { input_tokens: 4711 }));
    const recorded = gateway.logged('generation').length;
    const model = `up/${name}`;
    const alone = await count({ model, input: 'Say hello.' });
    expect(alone).toEqual({
      status: 200,
      body: { object: 'response.input_tokens', input_tokens: expect.any(Number) },
    });
    expect(alone.body.input_tokens).toBeGreaterThan(2);
    expect(alone.body.input_tokens).toBeLessThan(20);
    const whole = {
      model,
      input: 'Say hello.',
      instructions: 'Be brief and kind.',
      tools: [TOOL],
      stream: true,
    };
    expect((await count(whole)).body.input_tokens).toBeGreaterThan(alone.body.input_tokens + 10);
    expect(upstream.requests).toHaveLength(0);
    expect(gateway.logged('generation').length).toBe(recorded);
  },
);

it('counts what a generation is charged for if the upstream counts nothing', async () => {
  const body = { model: 'up/chat', instructions: 'Be brief.', input: 'Say hello.', tools: [TOOL] };
  upstream.answer(reply(200, { id: 'c', choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }));
  const answer = (await (await gateway.post('/responses', body)).json()) as any;
  expect((await count(body)).body.input_tokens).toBe(answer.usage.input_tokens);
});

it('counts more than the context of the model', async () => {
  const body = { model: 'up/responses', input: 'word '.repeat(3000), truncation: 'disabled' };
  expect((await count(body)).body.input_tokens).toBeGreaterThan(2900);
  upstream.answer(responsesAnswer({ text: 'Hi' }));
  expect((await gateway.post('/responses', body)).status).toBe(400);
});

it('leaves the count of messages to its upstream', async () => {
  upstream.answer(messagesAnswer({ text: 'Hi' }));
  const messages = [{ role: 'user', content: 'Say hello.' }];
  await gateway.post('/messages/count_tokens', { model: 'up/responses', messages });
  expect(upstream.requests).toHaveLength(0);
  await gateway.post('/messages/count_tokens', { model: 'up/messages', messages });
  expect(upstream.requests).toHaveLength(1);
});

it.each([
  [{ model: 'up/chat' }, 400, 'input'],
  [{ input: 'Hi' }, 400, 'model'],
  [{ model: 'up/chat', input: null }, 400, 'input'],
  [{ model: 'up/chat', input: 7 }, 400, 'input'],
  [{ model: 'up/chat', input: [{ type: 'function_call' }] }, 400, 'input[0]'],
  [{ model: 'up/chat', input: 'Hi', previous_response_id: 'resp_1' }, 400, 'previous_response_id'],
  [{ model: 'up/chat', input: 'Hi', conversation: 'conv_1' }, 400, 'conversation'],
  [{ model: 'up/none', input: 'Hi' }, 400, 'up/none'],
])('refuses %j', async (body, status, named) => {
  const refused = await count(body);
  expect(refused.status).toBe(status);
  expect(refused.body.error).toMatchObject({ code: status, message: expect.stringContaining(named) });
});

it('needs a key', async () => {
  const answer = await gateway.post(
    PATH,
    { model: 'up/chat', input: 'Hi' },
    { authorization: 'Bearer none' },
  );
  expect(answer.status).toBe(401);
});

it('answers the official SDK', async () => {
  const client = new OpenAI({ apiKey: gateway.apiKey, baseURL: `${gateway.origin}/api/v1`, maxRetries: 0 });
  const counted = await client.responses.inputTokens.count({ model: 'up/chat', input: 'Say hello.' });
  expect(counted.object).toBe('response.input_tokens');
  expect(counted.input_tokens).toBeGreaterThan(2);
});
