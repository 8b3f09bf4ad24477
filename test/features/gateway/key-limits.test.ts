import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;
let ask: Management['ask'];

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [
      { id: 'acme/small', aliases: ['small'], endpoints: [{ provider: 'acme', model: 'small' }] },
      { id: 'acme/large', endpoints: [{ provider: 'acme', model: 'large' }] },
      { id: 'acme/other', endpoints: [{ provider: 'acme', model: 'other' }] },
    ],
    limits: { per_key: { requests_per_minute: 2, tokens_per_minute: 1_000 } },
  } as never);
  ({ ask } = managementOf(gateway));
});

beforeEach(() => {
  upstream.clear();
  upstream.answer(chatAnswer({ text: 'hello', usage: { input: 10, output: 15 } }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface MadeKey {
  readonly secret: string;
  readonly data: any;
}

async function newKey(more: JsonObject = {}): Promise<MadeKey> {
  const { status, body } = await ask('POST', '/keys', { name: 'limited', ...more });
  expect({ status, body }).toMatchObject({ status: 201, body: { data: {} } });
  return { secret: body.key, data: body.data };
}

const change = (hash: string, body: JsonObject) => ask('PATCH', `/keys/${hash}`, body);

const BODIES = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/responses': { input: 'Hi' },
  '/messages': { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] },
} as const;

type Path = keyof typeof BODIES;

const PATHS = Object.keys(BODIES) as Path[];

async function generate(secret: string, path: Path, body: JsonObject) {
  const response = await gateway.post(
    path,
    { ...BODIES[path], ...body },
    { authorization: `Bearer ${secret}`, 'x-signalbox-metadata': 'enabled' },
  );
  const text = await response.text();
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : text) as any };
}

/** More than the tests of models ask for. */
const FREELY = { requests_per_minute: 1_000 };

describe('the models of a key', () => {
  it.each(PATHS)('are the only ones that it may use, streamed or not: %s', async (path) => {
    const { secret } = await newKey({ ...FREELY, allowed_models: ['small', 'acme/large'] });
    for (const stream of [false, true]) {
      expect((await generate(secret, path, { model: 'acme/small', stream })).status).toBe(200);
      const refused = await generate(secret, path, { model: 'acme/other', stream });
      expect(refused.status).toBe(403);
      expect(refused.body.error.message).toBe(
        'This key may not use acme/other: the key allows only small, acme/large',
      );
      expect(refused.body.error.metadata).toMatchObject({ patterns: ['allowed_models'] });
    }
    expect(upstream.requests.map(({ json }) => json.model)).toEqual(['small', 'small']);
  });

  it('are refused in the words of each format', async () => {
    const { secret } = await newKey({ allowed_models: ['acme/large'] });
    const { body } = await generate(secret, '/messages', { model: 'acme/small' });
    expect(body).toMatchObject({ type: 'error', error: { type: 'permission_error' } });
  });

  it.each(PATHS)('are what is left of a list of models, and none is left of others: %s', async (path) => {
    const { secret } = await newKey({ ...FREELY, allowed_models: ['acme/large'] });
    const { status, body } = await generate(secret, path, { model: 'acme/small', models: ['acme/large'] });
    expect({ status, model: body.model }).toEqual({ status: 200, model: 'acme/large' });
    expect((await generate(secret, path, { model: 'acme/small', models: ['acme/other'] })).status).toBe(403);
    expect(upstream.requests).toHaveLength(1);
  });

  it('are what routers choose from, and what the key is shown', async () => {
    const { secret } = await newKey({ ...FREELY, allowed_models: ['acme/large'] });
    const { body } = await generate(secret, '/chat/completions', { model: 'signalbox/auto' });
    expect(body.model).toBe('acme/large');
    const listed = await gateway.fetch('/models/user', { key: secret });
    expect(((await listed.json()) as any).data.map(({ id }: any) => id)).toEqual(['acme/large']);
    const itself = await gateway.fetch('/key', { key: secret });
    expect(((await itself.json()) as any).data).toMatchObject({
      allowed_models: ['acme/large'],
      requests_per_minute: 1_000,
      tokens_per_minute: null,
    });
  });

  it('hold beside those of guardrails', async () => {
    const { secret, data } = await newKey({ ...FREELY, allowed_models: ['acme/large', 'acme/small'] });
    const made = await ask('POST', '/guardrails', { name: 'Not large', ignored_models: ['acme/large'] });
    const { id } = made.body.data;
    await ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [data.hash] });
    expect((await ask('GET', `/keys/${data.hash}`)).body.data.guardrails).toEqual([
      { id, name: 'Not large', scope: 'api-key' },
    ]);
    const refused = await generate(secret, '/responses', { models: ['acme/large', 'acme/other'] });
    expect(refused.body.error.message).toBe(
      'This key may not use acme/large: the model is in ignored_models of the key\'s guardrail "Not large" ' +
        '(Acme); the key allows only acme/large, acme/small (Acme)',
    );
    expect((await generate(secret, '/responses', { model: 'acme/small' })).status).toBe(200);
  });

  it('change at once, and an answer of before is not given again', async () => {
    const { secret, data } = await newKey(FREELY);
    const cached = async () => {
      const response = await gateway.post(
        '/chat/completions',
        { ...BODIES['/chat/completions'], model: 'acme/small' },
        { authorization: `Bearer ${secret}`, 'x-signalbox-cache': 'true' },
      );
      await response.text();
      return [response.status, response.headers.get('x-signalbox-cache-status')];
    };
    await cached();
    expect(await cached()).toEqual([200, 'HIT']);
    await change(data.hash, { allowed_models: ['acme/large'] });
    expect((await cached())[0]).toBe(403);
    await change(data.hash, { allowed_models: null });
    expect(await cached()).toEqual([200, 'HIT']);
  });

  it.each<[JsonObject, string]>([
    [{ allowed_models: [] }, 'allowed_models: must'],
    [{ allowed_models: ['acme/*'] }, 'allowed_models[0]: "acme/*" is not a model that this gateway knows'],
    [{ allowed_models: 'acme/small' }, 'allowed_models: must be'],
    [{ requests_per_minute: -1 }, 'requests_per_minute: must be >= 0'],
    [{ requests_per_minute: 1.5 }, 'requests_per_minute: must be an integer'],
    [{ tokens_per_minute: '5' }, 'tokens_per_minute: must be'],
    [{ requests_per_day: 5 }, 'requests_per_day: is not a known field'],
  ])('are refused as %j', async (given, message) => {
    const { data } = await newKey();
    for (const { status, body } of [
      await ask('POST', '/keys', { name: 'n', ...given }),
      await change(data.hash, given),
    ]) {
      expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
    }
  });
});

describe('requests and tokens a minute of a key', () => {
  /** How many of so many racing requests pass; all others get 429, or 503 on an overloaded machine. */
  async function passing(secret: string, times: number): Promise<number> {
    const one = async (_: unknown, at: number) =>
      (await generate(secret, PATHS[at % PATHS.length] as Path, { model: 'acme/small' })).status;
    const statuses = await Promise.all(Array.from({ length: times }, one));
    for (const status of statuses) expect([200, 429]).toContain(status);
    return statuses.filter((status) => status === 200).length;
  }

  it('stand in place of those of all keys, exactly, however many requests race', async () => {
    const [own, lower, without, zero] = await Promise.all([
      newKey({ requests_per_minute: 7 }),
      newKey({ requests_per_minute: 1 }),
      newKey(),
      newKey({ requests_per_minute: 0 }),
    ]);
    expect(zero.data.requests_per_minute).toBeNull();
    expect(await passing(own.secret, 30)).toBe(7);
    expect(await passing(lower.secret, 10)).toBe(1);
    expect(await passing(without.secret, 10)).toBe(2);
    expect(await passing(zero.secret, 10)).toBe(2);
    await change(own.data.hash, { requests_per_minute: 9 });
    expect(await passing(own.secret, 10)).toBe(2);
    await change(own.data.hash, { requests_per_minute: null });
    expect(await passing(own.secret, 5)).toBe(0);
  });

  it('are named by the refusal', async () => {
    const { secret } = await newKey({ requests_per_minute: 1 });
    await generate(secret, '/responses', { model: 'acme/small' });
    const { status, body } = await generate(secret, '/responses', { model: 'acme/small' });
    expect(status).toBe(429);
    expect(body.error.message).toMatch(/requests-per-minute\. At most 1 requests a minute; try again in/);
    expect(body.error.metadata).toMatchObject({ limit_source: 'key' });
  });

  it('count the tokens of settled generations', async () => {
    const { secret } = await newKey({ ...FREELY, tokens_per_minute: 40 });
    const statuses: number[] = [];
    for (const path of PATHS) statuses.push((await generate(secret, path, { model: 'acme/small' })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe('the expiry of a key', () => {
  const opens = async (secret: string) => (await gateway.fetch('/key', { key: secret })).status === 200;

  it('can be set earlier, later and never, and a key that has expired opens again', async () => {
    const { secret, data } = await newKey({ expires_at: '2099-01-01T00:00:00Z' });
    expect(await opens(secret)).toBe(true);
    const soon = new Date(Date.now() + 1_000).toISOString();
    expect((await change(data.hash, { expires_at: soon })).body.data.expires_at).toBe(soon);
    while (await opens(secret)) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon));
    const later = '2098-01-01T00:00:00.000Z';
    expect((await change(data.hash, { expires_at: later })).body.data.expires_at).toBe(later);
    expect(await opens(secret)).toBe(true);
    expect((await change(data.hash, { name: 'renamed' })).body.data.expires_at).toBe(later);
    expect((await change(data.hash, { expires_at: null })).body.data.expires_at).toBeNull();
    expect(await opens(secret)).toBe(true);
  });
});
