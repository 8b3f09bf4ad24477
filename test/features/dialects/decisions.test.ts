import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

const SIMULATOR = 'simulator/standard';
const pricing = { prompt: '0.000001', completion: '0.000002' };

let upstream: FakeUpstream;
let gateway: TestGateway;

const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic-messages' };
const ANSWERS = { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer };

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [
      { slug: 'simulator' },
      ...Object.entries(DIALECTS).map(([name, dialect]) => ({
        slug: `p-${name}`,
        name: `P ${name}`,
        dialect,
        base_url: upstream.url,
        api_key: 'k',
      })),
    ],
    models: [
      ...Object.keys(DIALECTS).map((name) => ({
        id: `up/${name}`,
        input_modalities: ['text', 'image'],
        endpoints: [{ provider: `p-${name}`, model: 'm', pricing }],
      })),
      ...['openai', 'system-one'].map((decisions) => ({
        id: `own/${decisions}`,
        endpoints: [{ provider: 'p-chat', model: 'jev', decisions, pricing }],
      })),
    ],
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const SYSTEM_ONE = {
  state: { message: 'Where is my parcel?', orders: 3 },
  questions: {
    refund: {
      type: 'noul',
      instructions: 'The customer asks for a refund.',
      criteria: { false: 'does not', true: 'does' },
    },
    team: {
      type: 'choice',
      instructions: { ask: 'Which team?' },
      criteria: { shipping: 'parcels', billing: null },
    },
    anger: { type: 'score', instructions: 'How angry?', criteria: ['calm', 'annoyed', { is: 'furious' }] },
  },
};

const OPENAI = {
  input: 'Where is my parcel?',
  questions: [
    { type: 'predicate', name: 'refund', instructions: 'The customer asks for a refund.' },
    {
      type: 'choice',
      instructions: [{ type: 'input_text', text: 'Is it urgent?' }],
      choices: [{ value: true }, { value: 'true' }, { value: false, description: 'can wait' }],
    },
    {
      type: 'score',
      name: 'anger',
      instructions: 'How angry?',
      levels: [{ label: 'calm' }, { label: 'furious' }],
    },
  ],
};

const decide = async (body: object, path = '/decisions', headers: Record<string, string> = {}) => {
  const response = await gateway.post(path, body, headers);
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
};

const answering = (answers: object) => JSON.stringify(answers);

describe('System One', () => {
  const TEXT = answering({
    q1: { probability: 0.2 },
    q2: { choice: 'shipping', confidence: 0.9 },
    q3: { level: '1', confidence: 0.5 },
  });

  it.each(['chat', 'responses', 'messages'] as const)(
    'is answered by models of %s upstreams',
    async (name) => {
      upstream.answer(ANSWERS[name]({ text: TEXT }));
      const { status, body } = await decide({ model: `up/${name}`, ...SYSTEM_ONE }, '/systemone', {
        'x-signalbox-metadata': 'enabled',
      });
      expect([status, body.error]).toEqual([200, undefined]);
      expect(body.answers).toEqual({
        refund: { type: 'noul', noul: 0.2 },
        team: {
          type: 'choice',
          choice: 'shipping',
          confidence: 0.9,
          probabilities: { shipping: 0.9, billing: expect.closeTo(0.1) },
        },
        anger: {
          type: 'score',
          score: 1,
          confidence: 0.5,
          probabilities: { 0: 0.25, 1: 0.5, 2: 0.25 },
          legend: { 0: 'calm', 1: 'annoyed', 2: { is: 'furious' } },
        },
      });
      expect(body).toMatchObject({
        id: expect.stringMatching(/^gen-/),
        model: `up/${name}`,
        provider: `P ${name}`,
      });
      expect(body.usage).toMatchObject({
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        cost: expect.any(Number),
      });
      expect(body.usage.cost).toBeGreaterThan(0);
      expect(body.signalbox_metadata.translation).toContainEqual({
        field: 'questions',
        action: 'coerced',
        detail: 'the model answers them as JSON: how sure it is, it says itself',
      });
      const sent = JSON.stringify((await upstream.request(0)).json);
      for (const text of ['Where is my parcel?', 'The customer asks for a refund.', 'furious', 'parcels']) {
        expect(sent).toContain(text);
      }
      expect(sent).toContain('"enum":["shipping","billing"]');
    },
  );
});

describe('the form of OpenAI', () => {
  const TEXT = answering({
    q1: { probability: 1 },
    q2: { choice: 'true (boolean)', confidence: 0.5 },
    q3: { level: 'furious', confidence: 1 },
  });

  it('has answers in the order of the questions, and typed choices', async () => {
    upstream.answer(responsesAnswer({ text: `\`\`\`json\n${TEXT}\n\`\`\`` }));
    const { status, body } = await decide({ model: 'up/responses', ...OPENAI });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.answers).toEqual([
      { type: 'predicate', name: 'refund', probability: 1 },
      {
        type: 'choice',
        name: null,
        choice: true,
        confidence: 0.5,
        probabilities: [
          { value: true, probability: 0.5 },
          { value: 'true', probability: 0.25 },
          { value: false, probability: 0.25 },
        ],
      },
      {
        type: 'score',
        name: 'anger',
        score: 1,
        confidence: 1,
        probabilities: [
          { label: 'calm', value: 0, probability: 0 },
          { label: 'furious', value: 1, probability: 1 },
        ],
      },
    ]);
    expect(body.usage).toMatchObject({
      input_tokens_details: { cached_tokens: expect.any(Number), cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: expect.any(Number) },
      total_tokens: body.usage.input_tokens + body.usage.output_tokens,
    });
  });

  it('takes messages with images and calls of tools', async () => {
    upstream.answer(chatAnswer({ text: answering({ q1: { probability: 0 } }) }));
    const { status } = await decide({
      model: 'up/chat',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'See:' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
          ],
        },
        { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"at":1}' },
        { type: 'function_call_output', call_id: 'c', output: 'a cat' },
      ],
      questions: [{ type: 'predicate', instructions: 'It shows a cat.' }],
    });
    expect(status).toBe(200);
    const { messages } = (await upstream.request(0)).json;
    const parts = messages.at(-1).content;
    expect(parts.map(({ type }: { type: string }) => type)).toContain('image_url');
    expect(JSON.stringify(parts)).toContain('a cat');
  });

  it('gives a refusal for each question if the model refuses', async () => {
    const refusal = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'refusal', refusal: 'No.' }],
    };
    upstream.answer(
      reply(200, {
        id: 'r',
        object: 'response',
        status: 'completed',
        model: 'm',
        output: [refusal],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      }),
    );
    const { status, body } = await decide({ model: 'up/responses', ...OPENAI });
    expect([status, body.answers]).toEqual([
      200,
      [
        { type: 'refusal', name: 'refund' },
        { type: 'refusal', name: null },
        { type: 'refusal', name: 'anger' },
      ],
    ]);
  });
});

it.each([
  ['no JSON', 'I would say yes.'],
  [
    'an option that was not asked for',
    answering({ q1: { probability: 0.5 }, q2: { choice: 'sales', confidence: 1 } }),
  ],
  ['a probability beyond 1', answering({ q1: { probability: 7 } })],
])('answers 502 to %s, and names the question', async (_, text) => {
  upstream.answer(chatAnswer({ text }));
  const { status, body } = await decide({ model: 'up/chat', ...SYSTEM_ONE });
  expect(status).toBe(502);
  expect(body.error.message).toMatch(/^The model gave no usable answer to the question (refund|team)$/);
});

it.each([
  ['system-one', SYSTEM_ONE],
  ['openai', OPENAI],
])('loses no documented member of a question in the form %s', async (_, body) => {
  const explained = await decide({ format: 'decisions', model: 'up/chat', ...body }, '/routing/explain');
  const fields = explained.body.data.candidates[0].translation.map(({ field }: any) => field);
  expect(fields).toEqual(['questions']);
});

describe('an upstream that answers decisions itself', () => {
  const answers = {
    refund: { type: 'noul', noul: 0.8646 },
    team: {
      type: 'choice',
      choice: 'billing',
      confidence: 0.6,
      probabilities: { shipping: 0.4, billing: 0.6 },
    },
    anger: { type: 'score', score: 1.25, confidence: 0.7, probabilities: { 0: 0.1, 1: 0.6, 2: 0.3 } },
  };
  const usage = { input_tokens: 1000, output_tokens: 0 };

  it('gets the caller’s own body, and its answers are passed on with their probabilities', async () => {
    upstream.answer(reply(200, { model: 'jev-1.13', answers, usage }));
    const user = 'someone';
    const { status, body } = await decide({ model: 'own/system-one', user, provider: {}, ...SYSTEM_ONE });
    expect([status, body.answers]).toEqual([200, answers]);
    expect(body.usage).toMatchObject({ ...usage, cost: 0.001 });
    const { path, json } = await upstream.request(0);
    expect(path).toBe('/v1/systemone');
    expect(json).toEqual({ model: 'jev', user: expect.not.stringContaining(user), ...SYSTEM_ONE });
  });

  it('is called at the path of its form, and asked in a conversation for the other one', async () => {
    const given = [{ type: 'predicate', name: 'refund', probability: 0.1 }];
    upstream.answer(reply(200, { model: 'm', answers: given, usage }));
    const [refund] = OPENAI.questions;
    const asked = { input: 'x', questions: [refund] };
    expect((await decide({ model: 'own/openai', ...asked })).body.answers).toEqual(given);
    expect((await upstream.request(0)).path).toBe('/v1/decisions');
    upstream.clear();
    upstream.answer(chatAnswer({ text: answering({ q1: { probability: 0.3 } }) }));
    const { body } = await decide({ model: 'own/system-one', ...asked });
    expect(body.answers).toEqual([{ type: 'predicate', name: 'refund', probability: 0.3 }]);
    expect((await upstream.request(0)).path).toBe('/v1/chat/completions');
  });

  it.each(['__proto__', 'constructor'])('takes a question called %s for any other', async (name) => {
    const question = { type: 'score', instructions: 'x', criteria: ['low', 'high'] };
    // Members of this name are set by JSON only.
    const named = (value: object) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);
    const asked = { state: 'x', questions: named(question) };
    upstream.answer(reply(200, { answers: {}, usage }));
    expect((await decide({ model: 'own/system-one', ...asked })).status).toBe(502);
    upstream.clear();
    upstream.answer(reply(200, { answers: named(answers.anger), usage }));
    const passed = await decide({ model: 'own/system-one', ...asked });
    expect([passed.status, JSON.stringify(passed.body.answers)]).toEqual([
      200,
      JSON.stringify(named(answers.anger)),
    ]);
    upstream.clear();
    upstream.answer(chatAnswer({ text: answering({ q1: { level: '1', confidence: 1 } }) }));
    const { body } = await decide({ model: 'up/chat', ...asked });
    expect(Object.getOwnPropertyDescriptor(body.answers, name)?.value).toMatchObject({
      score: 1,
      legend: { 0: 'low', 1: 'high' },
    });
  });

  it.each([
    ['too few answers', { answers: { refund: answers.refund }, usage }],
    ['no answers', { usage }],
  ])('has failed with %s', async (_, body) => {
    upstream.answer(reply(200, body));
    const { status, body: refused } = await decide({ model: 'own/system-one', ...SYSTEM_ONE });
    expect([status, refused.error.message]).toEqual([502, expect.stringContaining('without an answer')]);
  });
});

it('is simulated, recorded and charged', async () => {
  const { status, body } = await decide({ model: SIMULATOR, ...OPENAI });
  expect([status, body.answers[0]]).toEqual([200, { type: 'predicate', name: 'refund', probability: 0.75 }]);
  const path = `/generation?id=${body.id}`;
  await expect.poll(async () => (await gateway.fetch(path)).status).toBe(200);
  const { data } = (await (await gateway.fetch(path)).json()) as any;
  expect(data).toMatchObject({ api_type: 'decisions', total_cost: body.usage.cost, streamed: false });
});

it('is scanned by guardrails, and redacted before it is sent', async () => {
  const management = managementOf(gateway);
  const made = await management.ask('POST', '/keys', { name: 'guarded' });
  const { key, data } = made.body;
  const content_filters = [
    { pattern: 'parcel', action: 'redact', label: 'HIDDEN' },
    { pattern: 'forbidden', action: 'block' },
  ];
  const { id } = await management.data(201, 'POST', '/guardrails', { name: 'decided', content_filters });
  await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [data.hash] });
  const ask = (body: object) =>
    gateway.post('/decisions', { model: 'up/chat', ...body }, { authorization: `Bearer ${key}` });
  upstream.answer(chatAnswer({ text: answering({ q1: { probability: 1 } }) }));
  const { refund } = SYSTEM_ONE.questions;
  expect((await ask({ ...SYSTEM_ONE, questions: { refund } })).status).toBe(200);
  const sent = JSON.stringify((await upstream.request(0)).json);
  expect(sent).toContain('Where is my [HIDDEN]?');
  expect(sent).not.toContain('parcel');
  const blocked = await ask({ state: 'forbidden', questions: { refund } });
  expect(blocked.status).toBe(403);
  expect(upstream.requests.length).toBe(1);
});

it('is explained like other formats', async () => {
  const { body } = await decide({ format: 'decisions', model: 'up/messages', ...OPENAI }, '/routing/explain');
  expect(body.data.candidates[0]).toMatchObject({ lane: 'translate', tag: 'p-messages' });
});

describe('bad input', () => {
  const question = (change: object) => ({ questions: [{ type: 'predicate', instructions: 'x', ...change }] });
  const noul = (change: object) => ({
    input: undefined,
    state: 'x',
    questions: { q: { type: 'noul', instructions: 'x', ...change } },
  });

  it.each([
    [{ questions: undefined }, 'questions'],
    [{ questions: [] }, 'questions'],
    [{ questions: {} }, 'state'],
    [{ questions: 'x' }, 'questions'],
    [{ questions: [7] }, 'questions'],
    [{ questions: Array(401).fill(OPENAI.questions[0]) }, 'questions'],
    [{ input: undefined }, 'input'],
    [{ input: 7 }, 'input'],
    [{ state: 'x' }, 'state'],
    [question({ type: 'noul' }), 'questions[0].type'],
    [question({ type: 'constructor' }), 'questions[0].type'],
    [question({ instructions: '' }), 'questions[0].instructions'],
    [question({ name: 7 }), 'questions[0].name'],
    [question({ type: 'choice' }), 'questions[0].choices'],
    [question({ type: 'choice', choices: [{ value: 'a' }] }), 'questions[0].choices'],
    [question({ type: 'choice', choices: [{ value: 'a' }, { value: 1 }] }), 'questions[0].choices[1].value'],
    [
      question({ type: 'choice', choices: [{ value: 'a' }, { value: 'a' }] }),
      'questions[0].choices[1].value',
    ],
    [question({ type: 'choice', choices: Array(256).fill({ value: 'a' }) }), 'questions[0].choices'],
    [question({ type: 'score', levels: [{ label: 'a' }, {}] }), 'questions[0].levels[1].label'],
    [noul({ type: 'predicate' }), 'questions.q.type'],
    [noul({ criteria: 'x' }), 'questions.q.criteria'],
    [noul({ type: 'choice', criteria: ['a', 'b'] }), 'questions.q.criteria'],
    [noul({ type: 'score', criteria: ['a', 7] }), 'questions.q.criteria[1]'],
    [{ stream: true }, 'stream'],
    [{ model: '' }, 'model'],
    [{ provider: 'x' }, 'provider'],
  ])('%j is refused at %s', async (change, path) => {
    const { status, body } = await decide({ model: SIMULATOR, ...OPENAI, ...change });
    expect({ status, path: body.error.metadata.issues[0].path }).toEqual({ status: 400, path });
  });

  it('names unknown models', async () => {
    const { status, body } = await decide({ model: 'no/such', ...OPENAI });
    expect([status, body.error.message]).toEqual([400, 'no/such is not a valid model ID']);
  });
});
