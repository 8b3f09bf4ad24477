import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';

import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';

const METRICS_TOKEN = 'scrape-0123456789abcdef';

const server = await postgresForTests();

const QUESTION = { model: 'simulator/standard', input: 'hello' };

if (server !== undefined) {
  describe('a gateway with DATABASE_URL', () => {
    const open: TestGateway[] = [];

    afterEach(async () => {
      await Promise.all(open.splice(0).map((gateway) => gateway.close()));
    });

    const openWith = async (url: string, config = {}) => {
      const gateway = await openTestGateway(config, { env: { DATABASE_URL: url } });
      open.push(gateway);
      return gateway;
    };

    const manage = (gateway: TestGateway, path: string, init: RequestInit = {}) =>
      gateway.fetch(path, { ...init, key: gateway.managementKey });

    const answered = async (gateway: TestGateway, key?: string) => {
      const response = await gateway.fetch('/responses', {
        method: 'POST',
        body: JSON.stringify(QUESTION),
        headers: { 'content-type': 'application/json' },
        ...(key !== undefined && { key }),
      });
      return {
        status: response.status,
        id: response.headers.get('x-generation-id'),
        retryAfter: response.headers.get('retry-after'),
        body: await response.json(),
      };
    };

    const usageOf = async (response: Response) =>
      ((await response.json()) as { data?: { usage: number } }).data?.usage;

    it('answers, and shows the generation to another gateway on the same database', async () => {
      const url = await server.createDatabase();
      const one = await openWith(url);
      const { status, id } = await answered(one);
      expect(status).toBe(200);
      const shown = await (await one.fetch(`/generation?id=${id}`)).json();
      expect(shown).toMatchObject({ data: { id, finish_reason: 'stop' } });
      const other = await openWith(url);
      await expect.poll(async () => (await other.fetch(`/generation?id=${id}`)).status).toBe(200);
      expect(await (await other.fetch(`/generation?id=${id}`)).json()).toEqual(shown);
    });

    it('knows a key that another gateway made, and its limit', async () => {
      const url = await server.createDatabase();
      const [one, other] = [await openWith(url), await openWith(url)];
      const made = await manage(one, '/keys', {
        method: 'POST',
        body: JSON.stringify({ name: 'poor', limit: 0 }),
        headers: { 'content-type': 'application/json' },
      });
      expect(made.status).toBe(201);
      const { key } = (await made.json()) as { key: string };
      const current = await other.fetch('/key', { key });
      expect(await current.json()).toMatchObject({ data: { limit: 0, limit_remaining: 0, usage: 0 } });
    });

    it('says when a key was last used, at whichever gateway', async () => {
      const url = await server.createDatabase();
      const [one, other] = [await openWith(url), await openWith(url)];
      const made = await manage(one, '/keys', {
        method: 'POST',
        body: JSON.stringify({ name: 'used once' }),
        headers: { 'content-type': 'application/json' },
      });
      const { key } = (await made.json()) as { key: string };
      const lastUsed = async (gateway: TestGateway) => {
        const listed = await manage(gateway, '/keys?search=used%20once&include_last_used=true');
        return ((await listed.json()) as { data: { last_used_at: string | null }[] }).data[0]?.last_used_at;
      };
      await expect.poll(() => lastUsed(one)).toBe(null);
      await expect.poll(() => lastUsed(other)).toBe(null);
      const sentAtMs = Date.now();
      expect((await answered(other, key)).status).toBe(200);
      for (const gateway of [other, one]) {
        await expect
          .poll(async () => Date.parse((await lastUsed(gateway)) ?? ''), { interval: 250 })
          .toBeGreaterThan(sentAtMs - 1_000);
      }
    });

    it('finishes a stream while the database hangs, and books it afterwards', async () => {
      const gateway = await openWith(await server.createDatabase());
      const response = await gateway.post('/responses', {
        model: 'simulator/slow-stream',
        input: 'hello',
        stream: true,
        max_output_tokens: 5,
      });
      const id = response.headers.get('x-generation-id');
      server.pause();
      let text: string;
      try {
        text = await response.text();
      } finally {
        server.resume();
      }
      expect(text).toMatch(/"type":"response\.(completed|incomplete)"/);
      await expect.poll(async () => (await gateway.fetch(`/generation?id=${id}`)).status).toBe(200);
      await expect.poll(async () => usageOf(await gateway.fetch('/key'))).toBeGreaterThan(0);
    });

    it('does not answer 500 to text that the database cannot store', async () => {
      const gateway = await openWith(await server.createDatabase());
      const asked = await gateway.fetch('/generation?id=%00');
      expect([400, 404]).toContain(asked.status);
      for (const path of ['/keys', '/workspaces']) {
        const made = await manage(gateway, path, {
          method: 'POST',
          body: JSON.stringify({ name: 'a\u0000b', slug: 'a' }),
          headers: { 'content-type': 'application/json' },
        });
        expect(made.status, path).toBe(400);
      }
    });

    it('while the database is unavailable serves known keys without limits, and resumes by itself', async () => {
      const url = await server.createDatabase();
      const gateway = await openWith(url, { metrics: { token: METRICS_TOKEN } });
      const made = await manage(gateway, '/keys', {
        method: 'POST',
        body: JSON.stringify({ name: 'limited', limit: 5 }),
        headers: { 'content-type': 'application/json' },
      });
      const { key: limited } = (await made.json()) as { key: string };
      expect((await answered(gateway)).status).toBe(200);
      expect((await answered(gateway, limited)).status).toBe(200);
      const usage = (await usageOf(await gateway.fetch('/key'))) ?? 0;
      await server.stop();
      try {
        expect((await answered(gateway)).status).toBe(200);
        const refused = await answered(gateway, limited);
        expect(refused).toMatchObject({ status: 503, body: { error: { code: 503 } } });
        expect(refused.retryAfter).toBe('5');
        const unknown = await gateway.fetch('/key', { key: 'sk-sb-v1-nobody-knows-this-one' });
        expect(unknown.status).toBe(503);
        expect((await gateway.fetch('/key')).status).toBe(503);
        expect((await gateway.fetch('/models')).status).toBe(200);
        expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
        const ready = await fetch(`${gateway.origin}/readyz`);
        expect(ready.status).toBe(200);
        expect(await ready.json()).toMatchObject({
          status: 'ok',
          parts: {
            ledger: { status: 'limited', reason: expect.stringContaining('the database does not answer') },
            store: { status: 'unavailable' },
            events: { status: 'ok' },
          },
        });
        expect((await fetch(`${gateway.origin}/readyz?part=providers`)).status).toBe(200);
        const metrics = await fetch(`${gateway.origin}/metrics`, {
          headers: { authorization: `Bearer ${METRICS_TOKEN}` },
        });
        expect(await metrics.text()).toContain('signalbox_ledger_available 0');
      } finally {
        await server.start();
      }
      await expect.poll(async () => (await answered(gateway, limited)).status).toBe(200);
      // The answer that was served without the database is booked.
      await expect.poll(async () => usageOf(await gateway.fetch('/key'))).toBeGreaterThan(usage);
      expect((await gateway.fetch('/key', { key: 'sk-sb-v1-nobody-knows-this-one' })).status).toBe(401);
    });

    it('reports in its answers and by /readyz that it must be restarted once a copy has its journal', async () => {
      const url = await server.createDatabase();
      const gateway = await openWith(url);
      expect((await answered(gateway)).status).toBe(200);
      expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
      const { database, close } = await openPostgres(addressOf(url), { nowMs: 1 });
      await sql`update ledger_journals set owner = 'the run of a copy'`.execute(database);
      await close();
      await expect
        .poll(async () => (await answered(gateway)).body)
        .toMatchObject({ error: { code: 503, message: expect.stringContaining('restart this gateway') } });
      const probe = await fetch(`${gateway.origin}/readyz`);
      expect(probe.status).toBe(503);
      expect(await probe.text()).toContain('restart this gateway');
      expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
    });

    it('starts without its database as not ready, and is ready soon after the database is available', async () => {
      const url = await server.createDatabase();
      await server.stop();
      const port = 20_000 + Math.floor(Math.random() * 20_000);
      const origin = `http://127.0.0.1:${port}`;
      const opening = openTestGateway({ metrics: { public: true } }, { env: { DATABASE_URL: url }, port });
      try {
        await expect
          .poll(async () => (await fetch(`${origin}/healthz`).catch(() => undefined))?.status)
          .toBe(200);
        await delay(700);
        const ready = await fetch(`${origin}/readyz`);
        expect([ready.status, ((await ready.json()) as any).status]).toEqual([503, 'starting']);
        expect(await (await fetch(`${origin}/metrics`)).text()).toContain(
          'signalbox_configuration_age_seconds',
        );
        const refused = await fetch(`${origin}/api/v1/responses`, { method: 'POST', body: '{}' });
        expect(refused.status).toBe(503);
        expect(await refused.json()).toMatchObject({ error: { code: 503 } });
      } finally {
        await server.start();
      }
      const startedAt = Date.now();
      const gateway = await opening;
      open.push(gateway);
      expect(Date.now() - startedAt).toBeLessThan(20_000);
      expect((await fetch(`${origin}/readyz`)).status).toBe(200);
      expect((await answered(gateway)).status).toBe(200);
      expect(gateway.logText()).toContain('waiting for it');
    });
  });
}
