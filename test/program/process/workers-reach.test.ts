import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeS3, openFakeS3 } from '../../kit/fakes/fake-s3.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { SELF_SIGNED } from '../../kit/fakes/raw-server.ts';
import { signalbox } from '../../kit/program.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { redisForTests } from '../../kit/servers/redis-server.ts';
import { stopped } from '../../kit/started-program.ts';
import { AT_ONCE, slowAnswer, TwoWorkers } from './two-workers.ts';

const PATIENCE = { timeout: 30_000, interval: 100 };

const ANSWER = chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } });

/** Nano-dollars that one answer costs: 10 tokens in, 10 out. */
const ANSWER_NANOS = 30_000;

/** YAML takes JSON. */
const configuration = (upstream: FakeUpstream, apiKey: string, more: object = {}) =>
  JSON.stringify({
    providers: [{ slug: 'local', dialect: 'openai-chat', base_url: upstream.url, api_key: apiKey }],
    models: [
      {
        id: 'local/one',
        context_length: 8000,
        endpoints: [
          {
            provider: 'local',
            max_output_tokens: 10,
            pricing: { prompt: '0.000001', completion: '0.000002' },
          },
        ],
      },
    ],
    ...more,
  });

/** The keys by which the upstream was called. */
const keysSent = (upstream: FakeUpstream) =>
  new Set(upstream.requests.map(({ headers }) => String(headers.authorization).slice('Bearer '.length)));

/** Answers a request with an output item, then has every worker resolve a reference to it. */
async function expectReferencesResolved(gateway: TwoWorkers): Promise<void> {
  const first = await gateway.call('POST', '/responses', gateway.key, { model: 'local/one', input: 'Hi' });
  const input = [
    { type: 'item_reference', id: first.json.output[0].id },
    { role: 'user', content: 'Again' },
  ];
  const follow = () => gateway.call('POST', '/responses', gateway.key, { model: 'local/one', input });
  expect(await gateway.statusesOfBoth(follow)).toEqual([200]);
}

describe.skipIf(process.platform !== 'linux')('two workers', () => {
  let upstream: FakeUpstream;
  let storage: FakeS3;
  let gateway: TwoWorkers;
  let stores: object;

  beforeAll(async () => {
    upstream = await openFakeUpstream();
    storage = await openFakeS3();
    stores = {
      drain_grace_ms: 5_000,
      storage: {
        s3: {
          endpoint: storage.origin,
          region: storage.signingKey.region,
          bucket: storage.bucket,
          access_key_id: storage.signingKey.accessKeyId,
          secret_access_key: storage.signingKey.secretAccessKey,
        },
      },
    };
    upstream.answer(ANSWER);
    gateway = await TwoWorkers.open(configuration(upstream, 'first-key', stores));
  });

  afterAll(async () => {
    await gateway.close();
    await storage.close();
    await upstream.close();
  });

  it('resolve references to output items of each other', () => expectReferencesResolved(gateway));

  it('take uploads to a bucket, name them in requests, and forget deleted ones', async () => {
    const uploaded = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const form = new FormData();
        form.append('file', new Blob([`Keeper ${index}`], { type: 'text/plain' }), 'keeper.txt');
        const headers = { authorization: `Bearer ${gateway.key}`, connection: 'close' };
        const reply = await fetch(`${gateway.program.url}/files`, { method: 'POST', headers, body: form });
        return ((await reply.json()) as { id: string }).id;
      }),
    );
    expect(storage.objects.size).toBe(6);
    upstream.clear();
    upstream.answer(ANSWER);
    const ask = (id = '') => {
      const content = [{ type: 'file', file: { file_id: id } }];
      return gateway.ask(gateway.key, { messages: [{ role: 'user', content }] });
    };
    expect(await gateway.statusesOfBoth(() => ask(uploaded[5]))).toEqual([200]);
    expect(upstream.requests[0]?.body).toContain('Keeper 5');
    expect((await gateway.call('DELETE', `/files/${uploaded[5]}`, gateway.key)).status).toBe(200);
    const after = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(uploaded[5])));
    expect(after.map(({ status }) => status)).not.toContain(200);
  });

  it('show the running generations of all, and what is reserved for them', async () => {
    upstream.clear();
    upstream.answer(slowAnswer(2_000));
    const running = async () => (await gateway.call('GET', '/generations/running', gateway.management)).json;
    const whole = await gateway.fromBoth(
      () => gateway.streamed(),
      async () => {
        await gateway.until('signalbox_open_reservations', AT_ONCE);
        const { data, total_count } = await running();
        expect(total_count).toBe(AT_ONCE);
        for (const { reserved } of data) expect(reserved).toBeGreaterThan(0);
      },
    );
    expect(new Set(whole)).toEqual(new Set([true]));
    expect((await running()).total_count).toBe(0);
    upstream.clear();
    upstream.answer(ANSWER);
  });

  it('serve a provider that was added at once, and no longer once it is removed', async () => {
    const { management } = gateway;
    const added = {
      slug: 'workshop',
      dialect: 'openai-chat',
      base_url: upstream.url,
      key: 'added-key',
      models: [{ model: 'small' }],
    };
    const ask = () =>
      gateway.call('POST', '/responses', gateway.key, { model: 'workshop/small', input: 'Hi' });
    expect((await gateway.call('POST', '/gateway/providers', management, added)).status).toBe(201);
    upstream.clear();
    upstream.answer(ANSWER);
    expect(await gateway.statusesOfBoth(ask)).toEqual([200]);
    expect(keysSent(upstream)).toEqual(new Set(['added-key']));
    expect((await gateway.call('DELETE', '/gateway/providers/workshop', management)).status).toBe(200);
    // Refusals have no record by which to know their worker: so many reach both.
    const refused = await Promise.all(Array.from({ length: 2 * AT_ONCE }, ask));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([400]));
  });

  it('read stored credentials after the encryption key was rotated', async () => {
    const made = await gateway.call('POST', '/byok', gateway.management, {
      provider: 'local',
      key: 'brought-1',
    });
    expect(made.status).toBe(201);
    expect(await gateway.statusesOfBoth(() => gateway.ask())).toEqual([200]);
    expect(signalbox(gateway.folder, ['rotate-encryption-key']).code).toBe(0);
    const path = `/byok/${made.json.data.id}`;
    expect((await gateway.call('PATCH', path, gateway.management, { key: 'brought-2' })).status).toBe(200);
    upstream.clear();
    upstream.answer(ANSWER);
    expect(await gateway.statusesOfBoth(() => gateway.ask())).toEqual([200]);
    expect(keysSent(upstream)).toEqual(new Set(['brought-2']));
    expect((await gateway.call('DELETE', path, gateway.management)).status).toBe(200);
  });

  it('call a provider by its new key after a reload', async () => {
    gateway.reload(configuration(upstream, 'second-key', stores));
    await vi.waitFor(async () => {
      upstream.clear();
      upstream.answer(ANSWER);
      expect(await gateway.statusesOfBoth(() => gateway.ask())).toEqual([200]);
      expect(keysSent(upstream)).toEqual(new Set(['second-key']));
    }, PATIENCE);
  });

  it('admit exactly as many requests together as a limit allows', async () => {
    const limits = { per_key: { requests_per_day: 20 } };
    gateway.reload(configuration(upstream, 'second-key', { ...stores, limits }));
    await vi.waitFor(async () => {
      const made = await gateway.call('POST', '/keys', gateway.management, { name: 'limited' });
      const replies = await Promise.all(Array.from({ length: 32 }, () => gateway.ask(made.json.key)));
      const statuses = replies.map(({ status }) => status).sort();
      expect(statuses).toEqual([...new Array(20).fill(200), ...new Array(12).fill(429)]);
    }, PATIENCE);
    gateway.reload(configuration(upstream, 'second-key', stores));
    await vi.waitFor(async () => {
      const replies = await Promise.all(Array.from({ length: 24 }, () => gateway.ask()));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    }, PATIENCE);
  });

  it('admit exactly as many requests together as a key has of its own', async () => {
    const own = { name: 'own limit', requests_per_minute: 8 };
    const made = await gateway.call('POST', '/keys', gateway.management, own);
    const replies = await Promise.all(Array.from({ length: 24 }, () => gateway.ask(made.json.key)));
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([...new Array(8).fill(200), ...new Array(16).fill(429)]);
  });

  it('serve and take a new configuration while one of them hangs, until it is replaced', async () => {
    const [hung = 0] = gateway.workers();
    const item = await gateway.call('POST', '/responses', gateway.key, { model: 'local/one', input: 'Hi' });
    process.kill(hung, 'SIGSTOP');
    gateway.reload(configuration(upstream, 'third-key', stores));
    upstream.clear();
    upstream.answer(ANSWER);
    const statuses = new Set<number>();
    let slowestMs = 0;
    // The item may be at the worker that hangs: then there is none.
    const input = [
      { type: 'item_reference', id: item.json.output[0].id },
      { role: 'user', content: 'Again' },
    ];
    const lastKeys: string[] = [];
    await vi.waitFor(
      async () => {
        const begun = performance.now();
        statuses.add((await gateway.ask()).status);
        lastKeys.push(...keysSent(upstream));
        upstream.clear();
        upstream.answer(ANSWER);
        await gateway.call('POST', '/responses', gateway.key, { model: 'local/one', input });
        slowestMs = Math.max(slowestMs, performance.now() - begun);
        expect(gateway.workers()).not.toContain(hung);
      },
      { timeout: 45_000, interval: 100 },
    );
    expect([...statuses]).toEqual([200]);
    expect(slowestMs).toBeLessThan(10_000);
    expect(lastKeys.at(-1)).toBe('third-key');
    await gateway.until('signalbox_workers', 2);
    expect((await gateway.metrics()).get('signalbox_workers_replaced_total')).toBe(1);
    upstream.clear();
    upstream.answer(ANSWER);
    expect(await gateway.statusesOfBoth(() => gateway.ask())).toEqual([200]);
    expect(keysSent(upstream)).toEqual(new Set(['third-key']));
  });

  it('say that they leave, serve for the grace, and end', async () => {
    const ready = () => fetch(new URL('/readyz', gateway.program.url), { headers: { connection: 'close' } });
    expect((await ready()).status).toBe(200);
    const exit = stopped(gateway.program.child, 'SIGTERM');
    await vi.waitFor(async () => expect((await ready()).status).toBe(503), { timeout: 4_000, interval: 20 });
    expect((await gateway.ask()).status).toBe(200);
    expect(await exit).toBe(0);
  });
});

const postgres = await postgresForTests();
const redis = await redisForTests();

describe.skipIf(process.platform !== 'linux' || postgres === undefined || redis === undefined)(
  'two workers on PostgreSQL and Redis, over TLS',
  () => {
    let upstream: FakeUpstream;
    let gateway: TwoWorkers;

    beforeAll(async () => {
      upstream = await openFakeUpstream();
      upstream.answer(ANSWER);
      const env = { DATABASE_URL: (await postgres?.createDatabase()) ?? '', REDIS_URL: redis?.url ?? '' };
      const server = { tls: { cert: 'cert.pem', key: 'key.pem' } };
      gateway = await TwoWorkers.open(configuration(upstream, 'none', { server }), {
        env,
        prepare: (folder) => {
          writeFileSync(join(folder, 'cert.pem'), SELF_SIGNED.cert);
          writeFileSync(join(folder, 'key.pem'), SELF_SIGNED.key);
        },
      });
    });

    afterAll(async () => {
      await gateway.close();
      await upstream.close();
    });

    it('answer both, and resolve references to output items of each other', async () => {
      expect(gateway.program.url).toMatch(/^https:/);
      expect(await gateway.statusesOfBoth(() => gateway.ask())).toEqual([200]);
      // An item is in Redis soon after its answer.
      await vi.waitFor(() => expectReferencesResolved(gateway), PATIENCE);
    });

    it('hold the limit of a key to the nano-dollar, and refuse it once it is revoked', async () => {
      const limit = (20 * ANSWER_NANOS) / 1e9;
      const made = await gateway.call('POST', '/keys', gateway.management, { name: 'limited', limit });
      const replies = await Promise.all(Array.from({ length: 60 }, () => gateway.ask(made.json.key)));
      // 503: a disk or a database of a busy machine was too slow for a reservation.
      for (const { status } of replies) expect([200, 402, 503]).toContain(status);
      const served = replies.filter(({ status }) => status === 200).length;
      expect(served).toBeGreaterThan(0);
      expect(served).toBeLessThanOrEqual(20);
      const { json } = await gateway.call('GET', '/key', made.json.key);
      expect(Math.round(json.data.usage * 1e9)).toBe(served * ANSWER_NANOS);
      expect((await gateway.call('DELETE', `/keys/${made.json.data.hash}`, gateway.management)).status).toBe(
        200,
      );
      const after = await Promise.all(Array.from({ length: 16 }, () => gateway.ask(made.json.key)));
      expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
    });
  },
);
