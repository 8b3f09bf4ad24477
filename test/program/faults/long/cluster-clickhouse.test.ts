import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { clickhouseForTests } from '../../../kit/servers/clickhouse-server.ts';
import { postgresForTests } from '../../../kit/servers/postgres-server.ts';
import { SteadyCaller } from '../steady-caller.ts';

const server = await clickhouseForTests();
const postgres = await postgresForTests();

/** CLICKHOUSE_KILLS sets another number. */
const KILLS = Number(process.env.CLICKHOUSE_KILLS ?? 50);
const CALLERS = 4;

/** A generation of the simulator takes some milliseconds; one that waited for ClickHouse would take seconds. */
const LONGEST_MS = 10_000;

const gateways: TestGateway[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close();
});

async function gatewayWith(env: Record<string, string>): Promise<TestGateway> {
  const gateway = await openTestGateway({}, { env });
  gateways.push(gateway);
  return gateway;
}

/** Statuses of analytics, and how many generations they count; null while they do not answer. */
async function counted(gateway: TestGateway, statuses: Set<number>): Promise<number | null> {
  const response = await gateway.fetch('/analytics/query', {
    method: 'POST',
    key: gateway.managementKey,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metrics: ['request_count'] }),
  });
  statuses.add(response.status);
  const body = (await response.json()) as { data?: { data: { request_count: number }[] } };
  return response.status === 200 ? Number(body.data?.data[0]?.request_count ?? 0) : null;
}

async function killedUnderLoad(served: readonly TestGateway[]): Promise<void> {
  if (server === undefined) return;
  const statuses = new Set<number>();
  const callers = served.flatMap((gateway) =>
    Array.from({ length: CALLERS }, () => new SteadyCaller(gateway)),
  );
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(100 + 37 * (kill % 10));
    await server.kill();
    await sleep(20 * (kill % 15));
    // One of them: they share a limit of 64 questions a minute.
    await counted(served[kill % served.length] as TestGateway, statuses);
    await server.start();
  }
  await Promise.all(callers.map((caller) => caller.stop()));
  const answered = callers.reduce((sum, caller) => sum + caller.answered, 0);
  expect(callers.flatMap(({ refused }) => refused)).toEqual([]);
  expect(Math.max(...callers.map(({ longestMs }) => longestMs))).toBeLessThan(LONGEST_MS);
  expect(answered).toBeGreaterThan(KILLS);
  for (const gateway of served) {
    await expect.poll(() => counted(gateway, statuses), { interval: 3_000 }).toBe(answered);
  }
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
}

if (server !== undefined) {
  describe(`ClickHouse killed ${KILLS} times under load`, () => {
    it('loses and doubles nothing of a single gateway, whose callers never wait', async () => {
      await killedUnderLoad([await gatewayWith({ CLICKHOUSE_URL: server.newDatabase() })]);
    });

    if (postgres !== undefined) {
      it('loses and doubles nothing of two gateways on PostgreSQL', async () => {
        const env = { DATABASE_URL: await postgres.createDatabase(), CLICKHOUSE_URL: server.newDatabase() };
        await killedUnderLoad([await gatewayWith(env), await gatewayWith(env)]);
      });
    }
  });
}
