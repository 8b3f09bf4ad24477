import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { clickhouseForTests } from '../../kit/servers/clickhouse-server.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { doctorReport } from '../../program/operator/doctor-report.ts';

const server = await clickhouseForTests();
const postgres = await postgresForTests();

const PASSWORD = /clickhouse-secret/;
const open: TestGateway[] = [];

async function gatewayWith(env: Record<string, string>, prepare?: (dataDir: string) => Promise<void>) {
  const gateway = await openTestGateway({}, { env, ...(prepare !== undefined && { prepare }) });
  open.push(gateway);
  return gateway;
}

async function generate(gateway: TestGateway, count: number): Promise<void> {
  const asked = Array.from({ length: count }, () =>
    gateway.post('/chat/completions', {
      model: 'simulator/standard',
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  );
  for (const response of await Promise.all(asked)) {
    expect(response.status).toBe(200);
    await response.text();
  }
}

async function analytics(gateway: TestGateway): Promise<{ status: number; body: JsonObject }> {
  const response = await gateway.fetch('/analytics/query', {
    method: 'POST',
    key: gateway.managementKey,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metrics: ['request_count'], dimensions: ['model'] }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

/** Requests that analytics count; null while they do not answer. */
async function counted(gateway: TestGateway): Promise<number | null> {
  const { status, body } = await analytics(gateway);
  if (status !== 200) return null;
  const { data } = body.data as { data: readonly JsonObject[] } & JsonObject;
  return data.reduce((sum, row) => sum + Number(row.request_count), 0);
}

const partsOf = async (gateway: TestGateway) =>
  (await (await fetch(`${gateway.origin}/readyz`)).json()) as {
    status: string;
    parts: Record<string, { status: string }>;
  };

const WAIT = { timeout: 30_000, interval: 200 };

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const gateway of open.splice(0)) await gateway.close();
});

if (server !== undefined) {
  describe('a gateway with CLICKHOUSE_URL', () => {
    it('counts there instead of in its directory, and goes on counting after a restart', async () => {
      const env = { CLICKHOUSE_URL: server.newDatabase() };
      const first = await gatewayWith(env);
      await generate(first, 5);
      await expect.poll(() => counted(first), WAIT).toBe(5);
      expect(existsSync(join(first.dataDir, 'events.duckdb'))).toBe(false);
      await first.drain(1_000);
      const second = await gatewayWith(env, async (dataDir) => {
        cpSync(first.dataDir, dataDir, { recursive: true });
      });
      await generate(second, 2);
      await expect.poll(() => counted(second), WAIT).toBe(7);
    });

    it('takes history along when it is switched to ClickHouse, and back', async () => {
      const env = { CLICKHOUSE_URL: server.newDatabase() };
      const before = await gatewayWith({});
      await generate(before, 3);
      await expect.poll(() => counted(before), WAIT).toBe(3);
      await before.drain(1_000);
      const switched = await gatewayWith(env, async (dataDir) =>
        cpSync(before.dataDir, dataDir, { recursive: true }),
      );
      await generate(switched, 2);
      await expect.poll(() => counted(switched), WAIT).toBe(5);
      await switched.drain(1_000);
      const back = await gatewayWith({}, async (dataDir) =>
        cpSync(switched.dataDir, dataDir, { recursive: true }),
      );
      await expect.poll(() => counted(back), WAIT).toBe(5);
    });

    it('is counted again from its rows after the tables were dropped while it did not run', async () => {
      const env = { CLICKHOUSE_URL: server.newDatabase() };
      const first = await gatewayWith(env);
      await generate(first, 3);
      await expect.poll(() => counted(first), WAIT).toBe(3);
      await first.drain(1_000);
      await server.ask(`DROP DATABASE ${new URL(env.CLICKHOUSE_URL).pathname.slice(1)}`);
      const second = await gatewayWith(env, async (dataDir) =>
        cpSync(first.dataDir, dataDir, { recursive: true }),
      );
      await generate(second, 1);
      await expect.poll(() => counted(second), WAIT).toBe(4);
      expect(second.logText()).toContain('are other ones than before');
    });

    for (const isShared of postgres === undefined ? [false] : [false, true]) {
      const where = isShared ? 'beside PostgreSQL' : 'by itself';
      it(`warns with every short count after the tables were dropped under it, ${where}`, async () => {
        const env = {
          CLICKHOUSE_URL: server.newDatabase(),
          ...(isShared && postgres !== undefined && { DATABASE_URL: await postgres.createDatabase() }),
        };
        const gateway = await gatewayWith(env);
        await generate(gateway, 3);
        await expect.poll(() => counted(gateway), WAIT).toBe(3);
        await server.ask(`DROP DATABASE ${new URL(env.CLICKHOUSE_URL).pathname.slice(1)}`);
        const unwarned: unknown[] = [];
        await expect
          .poll(
            async () => {
              const { status, body } = await analytics(gateway);
              if (status !== 200) return null;
              const answer = body.data as { data: readonly JsonObject[]; warnings?: unknown } & JsonObject;
              const count = answer.data.reduce((sum, row) => sum + Number(row.request_count), 0);
              if (count !== 3 && answer.warnings === undefined) unwarned.push(body);
              return count;
            },
            { interval: 20 },
          )
          .toBe(3);
        expect(unwarned).toEqual([]);
      });
    }

    it('serves while ClickHouse is away, says so, and has everything afterwards', async () => {
      const gateway = await gatewayWith({ CLICKHOUSE_URL: server.newDatabase() });
      await generate(gateway, 1);
      await expect.poll(() => counted(gateway), WAIT).toBe(1);
      await server.kill();
      try {
        await generate(gateway, 4);
        const away = await analytics(gateway);
        expect(away.status).toBe(503);
        expect(away.body).toMatchObject({ error: { code: 503 } });
        expect((await partsOf(gateway)).parts.events).toMatchObject({ status: 'unavailable' });
        expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
        const key = { authorization: `Bearer ${gateway.managementKey}` };
        const metrics = await (await fetch(`${gateway.origin}/metrics`, { headers: key })).text();
        expect(metrics).toMatch(/^signalbox_events_available 0$/m);
      } finally {
        await server.start();
      }
      await expect.poll(() => counted(gateway), WAIT).toBe(5);
      expect((await partsOf(gateway)).parts.events).toEqual({ status: 'ok' });
      expect(gateway.logText()).not.toMatch(PASSWORD);
      expect(gateway.logText().match(/ClickHouse does not answer/g)).toHaveLength(1);
      expect(gateway.logText().match(/ClickHouse answers again/g)).toHaveLength(1);
    });

    it('starts while ClickHouse is away', async () => {
      const url = server.newDatabase();
      await server.kill();
      try {
        const gateway = await gatewayWith({ CLICKHOUSE_URL: url });
        await generate(gateway, 2);
        await server.start();
        await expect.poll(() => counted(gateway), WAIT).toBe(2);
      } finally {
        await server.start();
      }
    });

    it('is examined by doctor', async () => {
      const url = server.newDatabase();
      const gateway = await gatewayWith({ CLICKHOUSE_URL: url });
      await generate(gateway, 2);
      await expect.poll(() => counted(gateway), WAIT).toBe(2);
      await gateway.drain(1_000);
      writeFileSync(gateway.configFile, '{}');
      vi.stubEnv('CLICKHOUSE_URL', url);
      const look = () => doctorReport(gateway.configFile, gateway.dataDir);
      const events = (await look()).of('events');
      expect(events).toMatchObject([{ verdict: 'ok', figures: { events: 2 } }]);
      expect(events[0]?.what).toMatch(/^ClickHouse [\d.]+, answers in .*: 2 events/);
      vi.stubEnv('CLICKHOUSE_URL', url.replace(/:[^:@]+@/, ':wrong-hidden@'));
      const [refused] = (await look()).of('events');
      expect(refused?.what).toMatch(/^ClickHouse at \S+:\d+ cannot be used: .* \(CLICKHOUSE_\d+\)$/);
      expect(JSON.stringify(refused)).not.toContain('hidden');
    });
  });

  if (postgres !== undefined) {
    describe('gateways that share PostgreSQL and ClickHouse', () => {
      it('each count what all have served, once', async () => {
        const env = { DATABASE_URL: await postgres.createDatabase(), CLICKHOUSE_URL: server.newDatabase() };
        const [one, other] = [await gatewayWith(env), await gatewayWith(env)];
        await Promise.all([generate(one, 6), generate(other, 3)]);
        for (const gateway of [one, other]) await expect.poll(() => counted(gateway), WAIT).toBe(9);
        await one.drain(1_000);
        await generate(other, 2);
        await expect.poll(() => counted(other), WAIT).toBe(11);
        expect(existsSync(join(other.dataDir, 'events.duckdb'))).toBe(false);
      });
    });
  }
}
