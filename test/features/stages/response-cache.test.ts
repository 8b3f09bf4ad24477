import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic-messages' };
const ANSWERS = { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer };
const pricing = { prompt: '0.00001', completion: '0.00002' };

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(DIALECTS).map(([slug, dialect]) => ({
      slug,
      name: `P ${slug}`,
      dialect,
      base_url: upstream.url,
      data_policy: { training: false, retains_prompts: false },
    })),
    models: Object.keys(DIALECTS)
      .map((slug) => ({
        id: `m/${slug}`,
        endpoints: [{ provider: slug, model: 'one', max_output_tokens: 100, pricing }],
      }))
      .concat({
        id: 'openai/plain',
        aliases: ['m/alias'],
        endpoints: [{ provider: 'chat', model: 'one', max_output_tokens: 100, pricing }],
      } as never),
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const ON = { 'x-signalbox-cache': 'true' };

/** Bodies of the three formats that are not cached yet. */
let asked = 0;
const bodies = (model: string, stream = false) => {
  const content = `Question ${++asked}`;
  const messages = [{ role: 'user', content }];
  return {
    '/chat/completions': { model, stream, messages },
    '/responses': { model, stream, input: content },
    '/messages': { model, stream, max_tokens: 50, messages },
  };
};
type Path = keyof ReturnType<typeof bodies>;
const PATHS: Path[] = ['/chat/completions', '/responses', '/messages'];

const headersOf = ({ headers }: Response) => ({
  status: headers.get('x-signalbox-cache-status'),
  age: headers.get('x-signalbox-cache-age'),
  ttl: headers.get('x-signalbox-cache-ttl'),
  source: headers.get('x-signalbox-cache-source-id'),
  id: headers.get('x-generation-id'),
});

const recordOf = async (id: string | null) =>
  ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;

async function newKey(fields: object = {}) {
  const response = await gateway.fetch('/keys', {
    method: 'POST',
    key: gateway.managementKey,
    body: JSON.stringify({ name: 'Caching', ...fields }),
    headers: { 'content-type': 'application/json' },
  });
  return ((await response.json()) as any).key as string;
}

/** What differs between two answers to the same: ids, times and what was used. */
function withoutOwn(value: unknown): unknown {
  const OWN = new Set([
    'id',
    'created',
    'created_at',
    'completed_at',
    'usage',
    'request_id',
    'sequence_number',
  ]);
  if (Array.isArray(value)) return value.map(withoutOwn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (OWN.has(name) ? [] : [[name, withoutOwn(member)]])),
  );
}

describe('a repeated request', () => {
  it.each(PATHS.flatMap((path) => Object.keys(DIALECTS).map((dialect) => [path, dialect] as const)))(
    'on %s from %s comes from the cache: new id, nothing used, a record',
    async (path, dialect) => {
      const answer = ANSWERS[dialect as keyof typeof ANSWERS];
      upstream.answer(answer({ text: 'the answer', tools: [{ name: 'look', arguments: '{"a":1}' }] }));
      const body = bodies(`m/${dialect}`)[path];
      const first = await gateway.post(path, body, ON);
      const second = await gateway.post(path, body, ON);
      const [one, two] = [headersOf(first), headersOf(second)];
      expect(one).toMatchObject({ status: 'MISS', age: null, ttl: '300', source: null });
      expect(two).toMatchObject({ status: 'HIT', age: '0', ttl: '300', source: one.id });
      expect(two.id).not.toBe(one.id);
      expect(upstream.requests).toHaveLength(1);
      const [said, again] = [(await first.json()) as any, (await second.json()) as any];
      expect(withoutOwn(again)).toEqual(withoutOwn(said));
      expect(again.usage).toMatchObject({ cost: 0 });
      expect(again.id).not.toBe(said.id);
      expect(await recordOf(two.id)).toMatchObject({
        model: `m/${dialect}`,
        total_cost: 0,
        tokens_prompt: 0,
        tokens_completion: 0,
        response_cache_source_id: one.id,
        provider_responses: null,
      });
      expect((await recordOf(one.id)).total_cost).toBeGreaterThan(0);
    },
  );

  it.each(PATHS)('as a stream on %s is replayed as a stream', async (path) => {
    upstream.answer(chatAnswer({ text: 'word by word', reasoning: 'well' }));
    const body = bodies('m/chat', true)[path];
    const first = await readEvents(await gateway.post(path, body, ON));
    const second = await gateway.post(path, body, ON);
    expect(headersOf(second).status).toBe('HIT');
    const events = await readEvents(second);
    expect(upstream.requests).toHaveLength(1);
    expect(events.at(-1)?.data).toEqual(first.at(-1)?.data === '[DONE]' ? '[DONE]' : expect.anything());
    const text = (list: typeof events) => JSON.stringify(list).replaceAll(/[^a-z ]/g, '');
    expect(text(events)).toContain('word by word');
  });

  it('is read by official clients', async () => {
    upstream.answer(chatAnswer({ text: 'official' }));
    const openai = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, defaultHeaders: ON });
    const anthropic = new Anthropic({
      baseURL: gateway.url.replace('/v1', ''),
      apiKey: gateway.apiKey,
      defaultHeaders: ON,
    });
    for (let round = 0; round < 2; round++) {
      const response = await openai.responses.create({ model: 'm/chat', input: 'official' });
      expect(response.output_text).toBe('official');
      const message = await anthropic.messages
        .stream({ model: 'm/chat', max_tokens: 50, messages: [{ role: 'user', content: 'official' }] })
        .finalMessage();
      expect(message.content).toMatchObject([{ type: 'text', text: 'official' }]);
    }
    expect(upstream.requests).toHaveLength(2);
  });

  it('has no routing metadata', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const body = bodies('m/chat')['/responses'];
    const headers = { ...ON, 'x-signalbox-metadata': 'enabled' };
    const first = (await (await gateway.post('/responses', body, headers)).json()) as any;
    const second = (await (await gateway.post('/responses', body, headers)).json()) as any;
    expect(first.signalbox_metadata).toBeDefined();
    expect(second.signalbox_metadata).toBeUndefined();
  });

  it('is served although the limit of its key is spent', async () => {
    upstream.answer(chatAnswer({ text: 'x', usage: { input: 10, output: 5 } }));
    const key = { authorization: `Bearer ${await newKey({ limit: 0.0041 })}` };
    const body = { ...bodies('m/chat')['/chat/completions'], max_tokens: 50 };
    expect((await gateway.post('/chat/completions', body, { ...ON, ...key })).status).toBe(200);
    const another = async () => {
      const more = { ...bodies('m/chat')['/chat/completions'], max_tokens: 50 };
      return (await gateway.post('/chat/completions', more, key)).status;
    };
    await expect.poll(another, { interval: 1 }).toBe(402);
    const hit = await gateway.post('/chat/completions', body, { ...ON, ...key });
    expect([hit.status, headersOf(hit).status]).toEqual([200, 'HIT']);
  });
});

describe('the cache', () => {
  it('is off unless a request asks for it', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const body = bodies('m/chat')['/responses'];
    for (const headers of [{}, { 'x-signalbox-cache': 'false' }, {}]) {
      const response = await gateway.post('/responses', body, headers as Record<string, string>);
      expect(headersOf(response)).toMatchObject({ status: null, ttl: null });
    }
    expect(upstream.requests).toHaveLength(3);
  });

  it('keeps keys, formats and bodies apart; the order of members counts', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const body = bodies('m/chat')['/chat/completions'];
    const { model, ...rest } = body;
    const other = { authorization: `Bearer ${await newKey()}` };
    const statuses = [];
    for (const [path, asking, headers] of [
      ['/chat/completions', body, {}],
      ['/chat/completions', { ...rest, model }, {}],
      ['/chat/completions', { ...body, temperature: 0.5 }, {}],
      ['/chat/completions', { ...body, stream: true }, {}],
      ['/messages', { ...body, max_tokens: 9 }, {}],
      ['/chat/completions', body, other],
      ['/chat/completions', body, { 'x-session-id': 'another' }],
    ] as const) {
      statuses.push(headersOf(await gateway.post(path, asking, { ...ON, ...headers })).status);
    }
    expect(statuses).toEqual(['MISS', 'MISS', 'MISS', 'MISS', 'MISS', 'MISS', 'HIT']);
  });

  it('keeps the answers of two default models apart', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const key = await newKey();
    const { model: _, ...body } = bodies('m/chat')['/chat/completions'];
    const statuses = [];
    const listed = await gateway.fetch('/workspaces', { key: gateway.managementKey });
    const [workspace] = ((await listed.json()) as { data: { id: string }[] }).data;
    for (const default_text_model of ['m/chat', 'm/chat', 'm/messages']) {
      const changed = await gateway.fetch(`/workspaces/${workspace?.id}`, {
        method: 'PATCH',
        key: gateway.managementKey,
        body: JSON.stringify({ default_text_model }),
        headers: { 'content-type': 'application/json' },
      });
      expect(changed.status).toBe(200);
      const asking = { ...ON, authorization: `Bearer ${key}` };
      statuses.push(headersOf(await gateway.post('/chat/completions', body, asking)).status);
    }
    expect(statuses.slice(0, 2)).toEqual(['MISS', 'HIT']);
    expect(statuses[2]).not.toBe('HIT');
  });

  it('keeps an answer for the requested time, within bounds', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const ttlOf = async (ttl: string) => {
      const headers = { ...ON, 'x-signalbox-cache-ttl': ttl };
      return headersOf(await gateway.post('/responses', bodies('m/chat')['/responses'], headers)).ttl;
    };
    expect([await ttlOf('0'), await ttlOf('7'), await ttlOf('999999')]).toEqual(['1', '7', '86400']);
    const refused = await gateway.post('/responses', bodies('m/chat')['/responses'], {
      ...ON,
      'x-signalbox-cache-ttl': 'soon',
    });
    expect(refused.status).toBe(400);

    const body = bodies('m/chat')['/responses'];
    const short = { ...ON, 'x-signalbox-cache-ttl': '1' };
    await gateway.post('/responses', body, short);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(headersOf(await gateway.post('/responses', body, short)).status).toBe('MISS');
  });

  it('forgets an answer on request', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const body = bodies('m/chat')['/responses'];
    const clear = { ...ON, 'x-signalbox-cache-clear': 'true' };
    const statuses = [];
    for (const headers of [ON, ON, clear, ON]) {
      statuses.push(headersOf(await gateway.post('/responses', body, headers)).status);
    }
    expect(statuses).toEqual(['MISS', 'HIT', 'MISS', 'HIT']);
  });

  it('stores no failures, nothing with zero retention, and no abandoned streams', async () => {
    upstream.answer(reply(500, { error: { message: 'broken' } }));
    const body = bodies('m/chat')['/responses'];
    expect((await gateway.post('/responses', body, ON)).status).toBe(502);
    upstream.answer(chatAnswer({ text: 'x' }));
    expect(headersOf(await gateway.post('/responses', body, ON)).status).toBe('MISS');
    const secret = { ...bodies('m/chat')['/responses'], provider: { zdr: true } };
    expect(headersOf(await gateway.post('/responses', secret, ON)).status).toBeNull();
  });

  it('stores nothing if a guardrail demands zero retention', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const manage = async (method: string, path: string, body?: object) => {
      const response = await gateway.fetch(path, {
        method,
        key: gateway.managementKey,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return ((await response.json()) as any).data;
    };
    const keys = await manage('GET', '/keys');
    const { id } = await manage('POST', '/guardrails', { name: 'Nothing', enforce_zdr_openai: true });
    const hashes = keys.map(({ hash }: { hash: string }) => hash);
    await manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: hashes });
    for (const model of ['openai/plain', 'm/alias', 'm/chat']) {
      const body = bodies(model)['/responses'];
      expect((await gateway.post('/responses', body, ON)).status).toBe(200);
      const again = headersOf(await gateway.post('/responses', body, ON));
      expect([model, again.status === 'HIT']).toEqual([model, model === 'm/chat']);
    }
    await manage('DELETE', `/guardrails/${id}`);
  });

  it('counts in analytics', async () => {
    upstream.answer(chatAnswer({ text: 'x' }));
    const body = bodies('m/chat')['/responses'];
    for (let round = 0; round < 3; round++) await gateway.post('/responses', body, ON);
    await expect
      .poll(
        async () => {
          const response = await gateway.fetch('/analytics/query', {
            method: 'POST',
            key: gateway.managementKey,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ metrics: ['response_cached_count', 'request_count'] }),
          });
          const { data } = (await response.json()) as any;
          return data.data[0]?.response_cached_count ?? 0;
        },
        { interval: 500 },
      )
      .toBeGreaterThanOrEqual(2);
  });

  it('is on the disk of the data directory, for its user alone', async () => {
    const path = join(gateway.dataDir, 'cache');
    await expect.poll(() => readdirSync(path).length).toBeGreaterThan(0);
    for (const name of readdirSync(path)) expect(statSync(join(path, name)).mode & 0o077).toBe(0);
  });
});
