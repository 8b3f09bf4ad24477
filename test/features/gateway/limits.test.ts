import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  openFakeUpstream,
  SSE,
  type Step,
  stall,
  stepsOf,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

/** 0.00004 USD a token of output, prompts free: 100 tokens are 0.004 USD. */
const pricing = { prompt: '0', completion: '0.00004' };

const provider = () => ({ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url });

/** A model for each test: what was learnt of one must not help another. */
const MODELS = Array.from({ length: 30 }, (_, index) => `m/${index}`);
let model = '';

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [provider()],
    models: [
      ...MODELS.map((id) => ({
        id,
        endpoints: [{ provider: 'acme', model: 'one', max_output_tokens: 4000, pricing }],
      })),
      { id: 'm/free', endpoints: [{ provider: 'acme', model: 'free' }] },
    ],
  } as never);
});

beforeEach(() => {
  upstream.clear();
  model = MODELS.pop() ?? '';
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const manage = async (method: string, path: string, body?: object) => {
  const response = await gateway.fetch(path, {
    method,
    key: gateway.managementKey,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  return { status: response.status, body: (await response.json()) as any };
};

async function newKey(fields: object = {}) {
  const { body } = await manage('POST', '/keys', { name: 'Limited', ...fields });
  return { key: body.key as string, hash: body.data.hash as string };
}

const usageOf = async (hash: string) => (await manage('GET', `/keys/${hash}`)).body.data.usage as number;

async function ask(key: string, body: object = {}, path = '/chat/completions') {
  const response = await gateway.post(
    path,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...body },
    { authorization: `Bearer ${key}` },
  );
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

const answering = (output: number, text = 'hello') => chatAnswer({ text, usage: { input: 10, output } });

/** A stream of so many tokens, a word each, regardless of the requested limit. */
const words = (count: number) => {
  const chunk = (delta: object, more: object = {}) => ({
    data: {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'one',
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    },
  });
  const deltas = Array.from({ length: count }, (_, index) => chunk({ content: `w${index} ` }));
  const last = chunk({}, { finish_reason: 'stop' });
  const usage = {
    data: {
      ...last.data,
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: count, total_tokens: count + 10 },
    },
  };
  const pieces: ReturnType<typeof write>[] = [];
  for (let index = 0; index < deltas.length; index += 50) {
    pieces.push(write(sse(deltas.slice(index, index + 50))), stall(5));
  }
  return [head(200, SSE), ...pieces, write(sse([last, usage, { data: '[DONE]' }])), end()];
};

describe('the limit of a key', () => {
  it.each([
    ['an output limit', { max_tokens: 100 }],
    ['no output limit', {}],
  ])('holds against 200 racing requests with %s', async (_, body) => {
    let refused = 0;
    // A settled answer would leave money for a short one.
    const untilAllAreDecided: Step = async () => {
      while (refused + upstream.requests.length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const answer = answering(100);
    upstream.answer((request) => [untilAllAreDecided, ...stepsOf(answer, request)]);
    const { key, hash } = await newKey({ limit: 0.01 });
    const race = async () => {
      const reply = await ask(key, body);
      if (reply.status !== 200) refused++;
      return reply;
    };
    const replies = await Promise.all(Array.from({ length: 200 }, race));
    const served = replies.filter(({ status }) => status === 200);
    expect(served.length).toBeGreaterThanOrEqual(1);
    expect(served.length).toBeLessThanOrEqual(2);
    // An overloaded machine turns some away.
    for (const { status } of replies) expect([200, 402, 503]).toContain(status);
    expect(upstream.requests).toHaveLength(served.length);
    expect(await usageOf(hash)).toBeCloseTo(served.length * 0.004, 9);
  });

  it('answers 402 in the words of the contract once it is used up', async () => {
    upstream.answer(answering(100));
    const { key, hash } = await newKey({ limit: 0.004, limit_reset: 'monthly' });
    expect((await ask(key, { max_tokens: 100 })).status).toBe(200);
    const { status, body } = await ask(key);
    expect(status).toBe(402);
    expect(body.error).toMatchObject({
      code: 402,
      message: expect.stringMatching(
        /^Key limit exceeded \(monthly limit\)\. Manage it using .*keys\. \$0\.00 of \$0\.004 is left, and it resets on the 1st/,
      ),
      metadata: { limit_source: 'key', key_hash: hash, provider_name: null, error_type: 'payment_required' },
    });
    expect(body.user_id).toEqual(expect.any(String));
    expect(upstream.requests).toHaveLength(1);
    const { body: shown } = await manage('GET', `/keys/${hash}`);
    expect(shown.data).toMatchObject({ usage: 0.004, usage_monthly: 0.004, limit_remaining: 0 });
  });

  it('names the requested and the affordable tokens', async () => {
    upstream.answer([head(200, SSE), stall(300), ...words(1).slice(1)]);
    const { key } = await newKey({ limit: 0.01 });
    const first = gateway.post(
      '/chat/completions',
      { model, max_tokens: 200, stream: true, messages: [{ role: 'user', content: 'Hi' }] },
      { authorization: `Bearer ${key}` },
    );
    await upstream.request(0);
    const { status, body } = await ask(key, { max_tokens: 200 });
    expect(status).toBe(402);
    expect(body.error.message).toContain('200 output tokens, but only 50 can be afforded');
    await (await first).text();
  });

  it('is what the output limit is lowered to, in every format', async () => {
    upstream.answer(answering(10));
    const { key } = await newKey({ limit: 0.01 });
    for (const [path, body] of [
      ['/chat/completions', { max_tokens: 4000 }],
      ['/responses', { input: 'Hi', max_output_tokens: 4000 }],
      ['/messages', { max_tokens: 4000 }],
    ] as const) {
      expect((await ask(key, body, path)).status).toBe(200);
    }
    const sent = upstream.requests.map(({ json }) => json.max_tokens);
    // 250 tokens are paid for at first; then answers are known to be short, and half of what is left will do.
    expect(sent).toEqual([250, 120, 115]);
  });

  it('does not block an agent whose answers are short', async () => {
    upstream.answer(answering(5));
    const { key, hash } = await newKey({ limit: 0.01 });
    for (let turn = 0; turn < 20; turn++) {
      expect((await ask(key, { max_tokens: 4000 })).status).toBe(200);
    }
    expect(await usageOf(hash)).toBeCloseTo(0.004, 9);
  });

  it('lets an agent continue until the money is spent, then refuses with the reason', async () => {
    upstream.answer(answering(5));
    const { key, hash } = await newKey({ limit: 0.001 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 7; turn++) statuses.push((await ask(key)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 402, 402]);
    expect(await usageOf(hash)).toBe(0.001);
  });

  it('lets an agent ask several times at once', async () => {
    upstream.answer(answering(5));
    const { key } = await newKey({ limit: 0.02 });
    expect((await ask(key)).status).toBe(200);
    const replies = await Promise.all(Array.from({ length: 4 }, () => ask(key)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('leaves room for a long answer after short ones', async () => {
    upstream.answer(answering(5));
    const { key } = await newKey({ limit: 0.1 });
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key)).status).toBe(200);
    // 2490 tokens are left; half of them may be used.
    expect(upstream.requests[1]?.json.max_tokens).toBe(1247);
  });

  it.each([
    ['/chat/completions', {}, (events: any[]) => events.at(-2).data.choices[0].finish_reason, 'length'],
    [
      '/messages',
      { max_tokens: 4000 },
      (events: any[]) => events.find(({ event }) => event === 'message_delta').data.delta.stop_reason,
      'max_tokens',
    ],
    [
      '/responses',
      { input: 'Hi' },
      (events: any[]) => events.at(-2).data.response.incomplete_details.reason,
      'max_output_tokens',
    ],
  ])('ends a stream that ignores it with a length stop: %s', async (path, body, reasonOf, reason) => {
    upstream.answer(words(3000));
    const { key, hash } = await newKey({ limit: 0.01 });
    const response = await gateway.post(
      path,
      { model, stream: true, messages: [{ role: 'user', content: 'Hi' }], ...body },
      { authorization: `Bearer ${key}` },
    );
    expect(response.status).toBe(200);
    const events = await readEvents(response);
    expect(reasonOf(events)).toBe(reason);
    expect(await usageOf(hash)).toBe(0.01);
    await (await upstream.request(0)).closed;
  });

  it('is reserved step by step while a stream runs', async () => {
    upstream.answer(answering(5));
    const { key, hash } = await newKey({ limit: 0.3 });
    expect((await ask(key)).status).toBe(200);
    upstream.clear();
    upstream.answer(words(3000));
    const response = await gateway.post(
      '/chat/completions',
      { model, stream: true, messages: [{ role: 'user', content: 'Hi' }] },
      { authorization: `Bearer ${key}` },
    );
    const events = await readEvents(response);
    expect(upstream.requests[0]?.json.max_tokens).toBeUndefined();
    expect(events.at(-2)?.data.choices[0].finish_reason).toBe('stop');
    expect(await usageOf(hash)).toBeCloseTo(0.0002 + 0.12, 9);
  });

  it('of 0 refuses everything that costs money', async () => {
    upstream.answer(answering(5));
    const { key } = await newKey({ limit: 0 });
    expect((await ask(key)).status).toBe(402);
    expect((await ask(key, { model: 'm/free' })).status).toBe(200);
  });
});

describe('other limits', () => {
  it('answers 403 for the budget of a workspace', async () => {
    upstream.answer(answering(100));
    const { body: made } = await manage('POST', '/workspaces', { name: 'Team', slug: 'team' });
    const id = made.data.id as string;
    expect((await manage('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 0.004 })).status).toBe(200);
    const { key } = await newKey({ workspace_id: id });
    expect((await ask(key, { max_tokens: 100 })).status).toBe(200);
    const { status, body } = await ask(key, { max_tokens: 100 });
    expect(status).toBe(403);
    expect(body.error.message).toMatch(
      /^Workspace daily budget of \$0\.004 exceeded\..*Contact your org admin\.$/,
    );
    const messages = await ask(key, { max_tokens: 100 }, '/messages');
    expect(messages.body).toMatchObject({ type: 'error', error: { type: 'permission_error', code: 403 } });
  });

  it('counts requests of a key, and answers with Retry-After', async () => {
    const limited = await openTestGateway({
      providers: [provider()],
      models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] }],
      limits: { per_key: { requests_per_minute: 2, requests_per_day: 1000 } },
    } as never);
    const askLimited = () =>
      limited.post('/chat/completions', { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] });
    upstream.answer(answering(5));
    const replies = [await askLimited(), await askLimited(), await askLimited()];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    const refused = replies[2] as Response;
    const header = (name: string) => Number(refused.headers.get(name));
    expect([header('x-ratelimit-limit'), header('x-ratelimit-remaining')]).toEqual([2, 0]);
    expect(header('x-ratelimit-reset')).toBeGreaterThan(Date.now());
    expect(header('retry-after')).toBeLessThanOrEqual(60);
    expect(((await refused.json()) as any).error.metadata).toMatchObject({
      limit_source: 'gateway',
      headers: { 'X-RateLimit-Limit': '2' },
      error_type: 'rate_limit_exceeded',
    });
    await limited.close();
  });

  it('counts the tokens of settled generations, and refuses a key that has used them up', async () => {
    const limited = await openTestGateway({
      providers: [provider()],
      models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] }],
      limits: { per_key: { tokens_per_minute: 40, tokens_per_day: 1000 } },
    } as never);
    const askLimited = () =>
      limited.post('/chat/completions', { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] });
    upstream.answer(answering(15));
    const replies = [await askLimited(), await askLimited(), await askLimited()];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    const refused = replies[2] as Response;
    expect(refused.headers.get('x-ratelimit-limit')).toBe('40');
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(((await refused.json()) as any).error.message).toMatch(
      /^Rate limit exceeded: tokens-per-minute\. At most 40 tokens a minute; try again in \d+ s\.$/,
    );
    expect((await limited.fetch('/files')).status).toBe(200);
    expect(limited.logText()).not.toContain('no effect');
    await limited.close();
  });
});
