import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type {
  GenerationCounts,
  GenerationsReply,
  LoggedGenerationObject,
} from '../../../src/contract/generations/generation-log.ts';
import type { RunningGenerationsReply } from '../../../src/contract/generations/running-generation.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let gateway: TestGateway;
let otherKey: { key: string; hash: string };
let ids: string[];

beforeAll(async () => {
  gateway = await openTestGateway({ providers: [{ slug: 'simulator' }] });
  otherKey = await newKey('other, "key"');
  ids = [];
  for (let index = 0; index < 5; index++) ids.push(await generate(gateway.apiKey, 'simulator/standard'));
  ids.push(await generate(otherKey.key, 'simulator/reasoning', { 'x-session-id': 'session-of-the-test' }));
  await gateway.post('/chat/completions', {
    model: 'simulator/fail-429',
    messages: [{ role: 'user', content: 'x' }],
    user: '=formula()',
    session_id: 'of one, of another',
  });
  await vi.waitFor(async () => expect((await list('')).data.length).toBe(7), { timeout: 20_000 });
});
afterAll(() => gateway.close());

async function newKey(name: string): Promise<{ key: string; hash: string }> {
  const response = await gateway.fetch('/keys', {
    method: 'POST',
    key: gateway.managementKey,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  const { key, data } = (await response.json()) as { key: string; data: { hash: string } };
  return { key, hash: data.hash };
}

async function generate(key: string, model: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

async function list(query: string, key = gateway.managementKey): Promise<GenerationsReply> {
  const response = await gateway.fetch(`/generations?${query}`, { key });
  expect(response.status).toBe(200);
  return (await response.json()) as GenerationsReply;
}

const idsOf = ({ data }: { data: readonly LoggedGenerationObject[] }) => data.map(({ id }) => id);

describe('GET /generations', () => {
  it('lists the generations of the account, newest first, with who asked and what it cost', async () => {
    // The first question opens the file of events: on a busy machine it is answered before they are there.
    await expect.poll(async () => (await list('')).data.length).toBe(7);
    const { data, next } = await list('');
    expect(next).toBeNull();
    expect(data[0]).toMatchObject({
      state: 'failed',
      error_status: 429,
      error_type: 'rate_limit_exceeded',
      finish_reason: 'error',
      external_user: '=formula()',
      cost: 0,
    });
    expect(idsOf({ data: data.slice(1) })).toEqual(ids.toReversed());
    expect(data[1]).toMatchObject({
      state: 'answered',
      model: 'simulator/reasoning',
      key_hash: otherKey.hash,
      key_name: 'other, "key"',
      request_format: 'chat',
      streamed: false,
      session_id: 'session-of-the-test',
      attempts: 1,
    });
  });

  it('agrees with the record of each generation', async () => {
    const { data } = await list('state=answered');
    for (const row of data) {
      const response = await gateway.fetch(`/generation?id=${row.id}`, { key: gateway.managementKey });
      const record = ((await response.json()) as { data: Record<string, unknown> }).data;
      expect(record).toMatchObject({
        model: row.model,
        total_cost: row.cost,
        tokens_prompt: row.tokens_prompt,
        tokens_completion: row.tokens_completion,
        created_at: row.created_at,
        key_hash: row.key_hash,
        format: row.request_format,
        error: null,
      });
      expect(record.reserved).toBeGreaterThanOrEqual(row.cost);
      expect(record.prices).toContainEqual({ name: 'prompt', price: '0.000001', min_prompt_tokens: 0 });
      const durationMs = Date.parse(String(record.ended_at)) - Date.parse(row.created_at);
      expect(row.duration_ms).toBe(durationMs);
    }
  });

  it('shows a key its own generations only, whatever it asks for', async () => {
    expect(idsOf(await list('', otherKey.key))).toEqual(ids.slice(5));
    expect((await list('', gateway.apiKey)).data.length).toBe(6);
    expect((await list(`key=${otherKey.hash}`, gateway.apiKey)).data).toEqual([]);
  });

  it.each([
    ['state=failed', 1],
    ['state=answered,failed', 7],
    ['model=simulator/reasoning', 1],
    ['search=session-of-the-test', 1],
    ['search=nothing-like-it', 0],
    ['session_id=session-of-the-test', 1],
    ['session_id=session-of', 0],
    ['session_id=of%20one,%20of%20another', 1],
    ['session_id=of%20one', 0],
    ['session_id=session-of-the-test&session_id=of%20one,%20of%20another', 2],
    ['session_id=session-of-the-test&external_user==formula()', 0],
    ['session_id=', 7],
    ['external_user==formula()', 1],
    ['error_status=429', 1],
    ['streamed=true', 0],
    ['min_cost=0.000000001', 6],
    ['min_duration_ms=3600000', 0],
    ['request_format=responses', 0],
    ['from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z', 0],
    ['from=2020-01-01&to=2020-01-02T00:00%2B02:00', 0],
  ])('filters by %s', async (query, expected) => {
    expect((await list(query)).data.length).toBe(expected);
  });

  it('goes through pages in both directions, without repeating or missing a row', async () => {
    const first = await list('limit=3');
    const second = await list(`limit=3&after=${encodeURIComponent(first.next ?? '')}`);
    const third = await list(`limit=3&after=${encodeURIComponent(second.next ?? '')}`);
    expect([first, second, third].map(({ data }) => data.length)).toEqual([3, 3, 1]);
    expect(third.next).toBeNull();
    const all = idsOf(await list(''));
    expect([...idsOf(first), ...idsOf(second), ...idsOf(third)]).toEqual(all);
    const back = await list(`limit=3&before=${encodeURIComponent(third.previous ?? '')}`);
    expect(idsOf(back)).toEqual(idsOf(second));
    expect(idsOf(await list('order=asc'))).toEqual(all.toReversed());
  });

  it('lists the longest, the slowest to begin or the dearest first, page by page', async () => {
    const { data } = await list('');
    for (const sort of ['duration_ms', 'latency', 'cost'] as const) {
      const sorted = data
        .toSorted((one, other) => (other[sort] ?? 0) - (one[sort] ?? 0) || (one.id < other.id ? 1 : -1))
        .map(({ id }) => id);
      expect(idsOf(await list(`sort=${sort}`))).toEqual(sorted);
      expect(idsOf(await list(`sort=${sort}&order=asc`))).toEqual(sorted.toReversed());
      const first = await list(`sort=${sort}&limit=4`);
      const second = await list(`sort=${sort}&limit=4&after=${encodeURIComponent(first.next ?? '')}`);
      expect([...idsOf(first), ...idsOf(second)]).toEqual(sorted);
      const back = await list(`sort=${sort}&limit=4&before=${encodeURIComponent(second.previous ?? '')}`);
      expect(idsOf(back)).toEqual(idsOf(first));
      const lines = await gateway.fetch(`/generations?format=ndjson&limit=2&sort=${sort}`, {
        key: gateway.managementKey,
      });
      expect(
        (await lines.text())
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).id),
      ).toEqual(sorted.slice(0, 2));
    }
  });

  it('finds what has ended since the last look', async () => {
    const since = new Date().toISOString();
    const id = await generate(gateway.apiKey, 'simulator/standard');
    expect(idsOf(await list(`ended_from=${since}`))).toEqual([id]);
    ids.push(id);
  });

  it.each([
    'from=yesterday',
    'to=2026-02-30',
    'ended_from=soon',
    'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
    'state=lost',
    `session_id=${'x'.repeat(257)}`,
    `external_user=${'x'.repeat(257)}`,
    'session=session-of-the-test',
    'key=abc',
    'limit=1001',
    'after=x',
    'before=1.a&after=1.a',
    'format=xml',
    'sort=model',
    'sort=cost&format=csv',
  ])('refuses %s with the path of the mistake', async (query) => {
    const response = await gateway.fetch(`/generations?${query}`, { key: gateway.managementKey });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toMatch(new RegExp(`^${query.split('=')[0]}(\\[0\\])?: `));
  });

  it('exports what a filter matches as lines of JSON and as CSV', async () => {
    const lines = await gateway.fetch('/generations?format=ndjson&state=answered', {
      key: gateway.managementKey,
    });
    expect(lines.headers.get('content-type')).toContain('application/x-ndjson');
    expect(lines.headers.get('content-disposition')).toBe('attachment; filename="generations.ndjson"');
    const rows = (await lines.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    expect(rows).toEqual((await list('state=answered')).data);
    const csv = await gateway.fetch('/generations?format=csv', { key: gateway.managementKey });
    const text = await csv.text();
    expect(text.split('\r\n').length).toBe(2 + 8);
    expect(text).toMatch(/^id,state,created_at,model,/);
    expect(text).toContain('"other, ""key"""');
    expect(text).toContain(",'=formula()");
    const none = await gateway.fetch('/generations?format=csv&search=nothing-like-it', { key: otherKey.key });
    expect((await none.text()).split('\r\n').length).toBe(2);
  });
});

describe('GET /generations/counts', () => {
  it('counts what the log lists, over time', async () => {
    const response = await gateway.fetch('/generations/counts?buckets=24', { key: gateway.managementKey });
    const { data } = (await response.json()) as { data: GenerationCounts };
    expect(data).toMatchObject({ total: 8, failed: 1, missing_before: null });
    expect(data.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(8);
    expect(data.bucket_ms).toBe(3_600_000);
  });

  it('counts for a key its own generations', async () => {
    const response = await gateway.fetch('/generations/counts', { key: otherKey.key });
    expect(await response.json()).toMatchObject({ data: { total: 1 } });
  });

  it.each([
    ['session_id=session-of-the-test', { total: 1, failed: 0 }],
    ['session_id=of%20one,%20of%20another', { total: 1, failed: 1 }],
    ['external_user=nobody', { total: 0, failed: 0 }],
  ])('counts those of %s', async (query, expected) => {
    const response = await gateway.fetch(`/generations/counts?${query}`, { key: gateway.managementKey });
    expect(await response.json()).toMatchObject({ data: expected });
  });
});

describe('GET /generations/running', () => {
  async function running(query = '', key = gateway.managementKey): Promise<RunningGenerationsReply> {
    const response = await gateway.fetch(`/generations/running?${query}`, { key });
    expect(response.status).toBe(200);
    return (await response.json()) as RunningGenerationsReply;
  }

  it('lists a generation from its reservation to its end, to those who may see it', async () => {
    const caller = new AbortController();
    const response = await gateway.fetch('/chat/completions', {
      method: 'POST',
      key: otherKey.key,
      signal: caller.signal,
      headers: { 'content-type': 'application/json', 'x-request-id': 'request-of-the-test' },
      body: JSON.stringify({
        model: 'simulator/slow-stream',
        stream: true,
        session_id: 'session, running',
        user: 'user, running',
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });
    await expect.poll(async () => (await running()).data[0]?.tokens_completion).toBeGreaterThan(0);
    const { data, total_count } = await running();
    expect(total_count).toBe(1);
    expect(data[0]).toMatchObject({
      model: 'simulator/slow-stream',
      provider_name: 'Simulator',
      key_hash: otherKey.hash,
      key_name: 'other, "key"',
      request_format: 'chat',
      streamed: true,
      request_id: 'request-of-the-test',
    });
    expect(data[0]?.reserved).toBeGreaterThan(data[0]?.cost ?? 0);
    const id = response.headers.get('x-generation-id');
    expect(data[0]?.id).toBe(id);
    expect((await running('', otherKey.key)).total_count).toBe(1);
    expect(await running('', gateway.apiKey)).toEqual({ data: [], total_count: 0 });
    for (const [query, expected] of [
      ['model=simulator/slow-stream', 1],
      ['model=simulator/standard', 0],
      ['provider=Simulator', 1],
      [`key=${otherKey.hash.toUpperCase()}`, 1],
      ['app=elsewhere.example', 0],
      ['request_format=messages', 0],
      ['streamed=false', 0],
      ['session_id=session,%20running', 1],
      ['session_id=session', 0],
      ['external_user=user,%20running', 1],
      ['external_user=running', 0],
      ['search=request-of', 1],
      [`search=${id}`, 1],
      ['search=nothing-like-it', 0],
    ] as const) {
      expect([query, (await running(query)).total_count]).toEqual([query, expected]);
    }
    caller.abort();
    await expect.poll(async () => (await running()).total_count).toBe(0);
    await expect.poll(async () => (await list('state=cancelled')).data[0]?.id).toBe(id);
  });

  it('refuses a malformed filter', async () => {
    const response = await gateway.fetch('/generations/running?key=abc', { key: gateway.managementKey });
    expect(response.status).toBe(400);
  });
});
