import { cp } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  GenerationCounts,
  LoggedGenerationObject,
} from '../../../src/contract/generations/generation-log.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

const QUESTION = { model: 'simulator/standard', messages: [{ role: 'user', content: 'Hello' }] };

const SIMULATOR = { providers: [{ slug: 'simulator' }] };

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({
    ...SIMULATOR,
    server: { max_body_bytes: '1KiB' },
    limits: { per_key: { requests_per_minute: 40 } },
  } as never);
});
afterAll(() => gateway.close());

async function newKey(name: string, more: object = {}): Promise<{ key: string; hash: string }> {
  const { body } = await managementOf(gateway).ask('POST', '/keys', { name, ...more });
  return { key: body.key, hash: body.data.hash };
}

const change = (hash: string, more: JsonObject) => managementOf(gateway).ask('PATCH', `/keys/${hash}`, more);

async function ask(key: string, body: object = QUESTION): Promise<{ status: number; id: string }> {
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    key,
    headers: {
      'content-type': 'application/json',
      'x-request-id': 'mine',
      'http-referer': 'https://app.example',
    },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return { status: response.status, id: response.headers.get('request-id') ?? '' };
}

async function rowsOf(hash: string): Promise<readonly LoggedGenerationObject[]> {
  const { body } = await managementOf(gateway).ask('GET', `/generations?key=${hash}`);
  return body.data;
}

/** The rows of a key, once there are so many. */
async function rowsOnce(hash: string, count: number): Promise<readonly LoggedGenerationObject[]> {
  await expect.poll(async () => (await rowsOf(hash)).length).toBe(count);
  return rowsOf(hash);
}

async function recordOf(id: string) {
  const { status, body } = await managementOf(gateway).ask('GET', `/generation?id=${id}`);
  expect(status).toBe(200);
  return body.data;
}

describe('a refused request', () => {
  const REASONS: [number, string, string, () => Promise<{ hash: string; id: string; status: number }>][] = [
    [
      401,
      'authentication',
      'a disabled key',
      async () => {
        const { key, hash } = await newKey('disabled');
        await change(hash, { disabled: true });
        return { hash, ...(await ask(key)) };
      },
    ],
    [
      401,
      'authentication',
      'a deleted key',
      async () => {
        const { key, hash } = await newKey('deleted');
        await managementOf(gateway).ask('DELETE', `/keys/${hash}`);
        return { hash, ...(await ask(key)) };
      },
    ],
    [
      401,
      'authentication',
      'an expired key',
      async () => {
        const { key, hash } = await newKey('expired');
        await change(hash, { expires_at: new Date(Date.now() + 500).toISOString() });
        await delay(600);
        return { hash, ...(await ask(key)) };
      },
    ],
    [
      402,
      'payment_required',
      'a key at its limit',
      async () => {
        const { key, hash } = await newKey('limited', { limit: 0 });
        return { hash, ...(await ask(key)) };
      },
    ],
    [
      413,
      'payload_too_large',
      'a large body',
      async () => {
        const { key, hash } = await newKey('large');
        return { hash, ...(await ask(key, { ...QUESTION, user: 'x'.repeat(5_000) })) };
      },
    ],
    [
      404,
      'not_found',
      'an unknown preset',
      async () => {
        const { key, hash } = await newKey('lost');
        return { hash, ...(await ask(key, { ...QUESTION, model: '@preset/none' })) };
      },
    ],
    [
      400,
      'invalid_request',
      'a body that is not valid',
      async () => {
        const { key, hash } = await newKey('wrong');
        return { hash, ...(await ask(key, { ...QUESTION, temperature: 'hot' })) };
      },
    ],
  ];

  it.each(REASONS)('with %i, %s, has a row: %s', async (status, type, _, refuse) => {
    const { hash, id, status: got } = await refuse();
    expect(got).toBe(status);
    const [row] = await rowsOnce(hash, 1);
    expect(row).toMatchObject({
      state: 'refused',
      error_status: status,
      error_type: type,
      refused_requests: 1,
      key_hash: hash,
      request_format: 'chat',
      request_id: 'mine',
      app: 'app.example',
      cost: 0,
      attempts: 0,
      trace_id: null,
    });
    expect(row?.id).toBe(id);
    const record = await recordOf(row?.id ?? '');
    expect(record).toMatchObject({
      error: { status, type, message: expect.any(String) },
      refused_requests: 1,
      finish_reason: 'error',
      total_cost: 0,
      legs: [],
      key_hash: hash,
      reserved: null,
    });
  });

  it('of an unknown key has no row', async () => {
    expect(
      (await ask('sk-sb-v1-0000000000000000000000000000000000000000000000000000000000000000')).status,
    ).toBe(401);
    const { body } = await managementOf(gateway).ask('GET', '/generations?error_status=401&limit=1000');
    expect(body.data.every(({ key_hash }: LoggedGenerationObject) => key_hash !== null)).toBe(true);
  });

  it('is in counts and analytics as an outcome of its own, and in no other figure', async () => {
    const { key, hash } = await newKey('counted', { limit: 1 });
    expect((await ask(key)).status).toBe(200);
    await change(hash, { limit: 0 });
    for (let count = 0; count < 15; count++) expect((await ask(key)).status).toBe(402);
    // Ten rows at once; the next one stands for the rest.
    await expect.poll(async () => (await rowsOf(hash)).length).toBeGreaterThan(10);
    const management = managementOf(gateway);
    const counts = async (): Promise<GenerationCounts> =>
      (await management.ask('GET', `/generations/counts?key=${hash}`)).body.data;
    // The next row of the key is due after ten seconds.
    await expect.poll(async () => (await counts()).refused_requests).toBe(15);
    expect(await counts()).toMatchObject({ total: 12, failed: 0, refused: 11 });
    const query = async (metrics: string[]) =>
      (
        await management.ask('POST', '/analytics/query', {
          metrics,
          filters: [{ field: 'api_key_id', operator: 'eq', value: hash }],
        })
      ).body.data.data;
    expect(await query(['request_count', 'refused_count'])).toEqual([
      { request_count: 1, refused_count: 15 },
    ]);
    expect(await query(['request_count', 'guardrail_invoked_rate'])).toEqual([
      { request_count: 1, guardrail_invoked_rate: 0 },
    ]);
    const { body } = await management.ask('GET', `/overview?key=${hash}`);
    expect(body.data.now).toMatchObject({ request_count: 1, error_count: 0 });
    const headers = { authorization: `Bearer ${gateway.managementKey}` };
    const metrics = await (await fetch(`${gateway.origin}/metrics`, { headers })).text();
    expect(metrics).toMatch(
      /signalbox_refused_requests_total\{status="402",error_type="payment_required"\} \d+/,
    );
  }, 60_000);

  it('with 429 is noted for its key, and costs nothing of its limit', async () => {
    const { key, hash } = await newKey('hasty');
    // A minute may end in between.
    let refused = 0;
    for (let count = 0; refused < 3 && count < 130; count++) if ((await ask(key)).status === 429) refused++;
    expect(refused).toBe(3);
    await expect
      .poll(async () => (await rowsOf(hash)).filter(({ state }) => state === 'refused').length)
      .toBe(3);
    const { body } = await managementOf(gateway).ask('GET', `/generations?key=${hash}&state=refused`);
    expect(body.data[0]).toMatchObject({ error_status: 429, model: '' });
  });

  it('with 403 by the models of its key has a record, as by those of a guardrail', async () => {
    const { key, hash } = await newKey('narrow', { allowed_models: ['simulator/reasoning'] });
    expect((await ask(key)).status).toBe(403);
    const [row] = await rowsOnce(hash, 1);
    expect(row).toMatchObject({ state: 'failed', error_status: 403, refused_requests: null, cost: 0 });
  });

  it('with 403 by a guardrail of models has the record that it always had', async () => {
    const { key, hash } = await newKey('guarded');
    const { body } = await managementOf(gateway).ask('POST', '/guardrails', {
      name: 'Only others',
      allowed_models: ['simulator/reasoning'],
    });
    await managementOf(gateway).ask('POST', `/guardrails/${body.data.id}/assignments/keys`, {
      key_hashes: [hash],
    });
    expect((await ask(key)).status).toBe(403);
    const [row] = await rowsOnce(hash, 1);
    expect(row).toMatchObject({ state: 'failed', error_status: 403, refused_requests: null });
  });

  it('that only counts tokens has no row', async () => {
    const { key, hash } = await newKey('counting');
    const response = await gateway.fetch('/responses/input_tokens', {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'no/such-model', input: 'x' }),
    });
    expect(response.status).toBe(400);
    await ask(key, { ...QUESTION, model: 'no/such-model' });
    const rows = await rowsOnce(hash, 1);
    expect(rows[0]).toMatchObject({ model: 'no/such-model', request_format: 'chat' });
  });
});

it('has its row after a restart', async () => {
  const first = await openTestGateway(SIMULATOR);
  const { body } = await managementOf(first).ask('POST', '/keys', { name: 'limited', limit: 0 });
  const response = await first.post('/chat/completions', QUESTION, { authorization: `Bearer ${body.key}` });
  expect(response.status).toBe(402);
  // At once: what waits is stored while the gateway closes.
  await first.drain(1_000);
  const second = await openTestGateway(SIMULATOR, {
    prepare: (dataDir) => cp(first.dataDir, dataDir, { recursive: true }),
  });
  const rows = async () =>
    (await managementOf(second).ask('GET', `/generations?key=${body.data.hash}`)).body.data;
  await expect.poll(async () => (await rows()).length).toBe(1);
  expect((await rows())[0]).toMatchObject({ state: 'refused', error_status: 402 });
  await Promise.all([first.close(), second.close()]);
}, 60_000);
