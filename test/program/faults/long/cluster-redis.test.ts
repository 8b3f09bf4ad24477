import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { managementOf } from '../../../kit/management.ts';
import { postgresForTests } from '../../../kit/servers/postgres-server.ts';
import { redisForTests } from '../../../kit/servers/redis-server.ts';
import { SteadyCaller } from '../steady-caller.ts';

const postgres = await postgresForTests();
const redis = await redisForTests();

/** How often Redis is killed: `KILLED_LIVES=200 npm run test:faults -- cluster-redis`. */
const KILLS = Number(process.env.KILLED_LIVES ?? 50);
const CALLERS = 3;

const LONGEST_MS = 10_000;
const FOUND_AGAIN_MS = 5_000;

/** Requests a minute of every key: each request asks Redis, and none is refused. */
const AMPLE = 1_000_000;

/** USD that the key with a limit may spend: less than its callers ask for. */
const LIMIT_USD = 0.002;

if (postgres !== undefined && redis !== undefined) {
  describe(`Redis killed ${KILLS} times under two gateways with load`, () => {
    let gateways: readonly TestGateway[];

    beforeAll(async () => {
      const env = {
        DATABASE_URL: await postgres.createDatabase(),
        REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      };
      const config = { metrics: { public: true }, limits: { per_key: { requests_per_minute: AMPLE } } };
      gateways = [await openTestGateway(config, { env }), await openTestGateway(config, { env })];
    });
    afterAll(async () => {
      for (const gateway of gateways) await gateway.close();
    });

    const isFound = async ({ origin }: TestGateway) =>
      /^signalbox_shared_memory_available(?:\{.*\})? 1$/m.test(
        await (await fetch(`${origin}/metrics`)).text(),
      );

    it('loses, doubles and overspends nothing, refuses nobody and is used again within 5 s', async () => {
      const manage = managementOf(gateways[0] as TestGateway);
      const keyOf = async (body: JsonObject) =>
        (await manage.ask('POST', '/keys', body)).body as {
          readonly key: string;
          readonly data: { readonly hash: string };
        };
      const [free, limited] = [
        await keyOf({ name: 'free' }),
        await keyOf({ name: 'limited', limit: LIMIT_USD }),
      ];
      const callersOf = (key: string, count: number) =>
        gateways.flatMap((gateway) => Array.from({ length: count }, () => new SteadyCaller(gateway, key)));
      const callers = callersOf(free.key, CALLERS);
      const bounded = callersOf(limited.key, 1);
      let slowestMs = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(100 + Math.random() * 300);
        await redis.kill();
        await sleep(Math.random() * 300);
        await redis.start();
        const startedAt = performance.now();
        for (const gateway of gateways) {
          await expect.poll(() => isFound(gateway), { timeout: FOUND_AGAIN_MS, interval: 20 }).toBe(true);
        }
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      }
      await Promise.all([...callers, ...bounded].map((caller) => caller.stop()));
      const sum = (of: readonly SteadyCaller[]) => of.reduce((total, { answered }) => total + answered, 0);
      expect(callers.flatMap(({ refused }) => refused)).toEqual([]);
      expect(new Set(bounded.flatMap(({ refused }) => refused))).toEqual(new Set([402]));
      const longestMs = Math.max(...[...callers, ...bounded].map((caller) => caller.longestMs));
      expect(longestMs).toBeLessThan(LONGEST_MS);
      const usageOf = async ({ data: { hash } }: typeof free) =>
        (await manage.ask('GET', `/keys/${hash}`)).body.data.usage as number;
      const costNanos = Math.round(((await usageOf(limited)) * 1e9) / sum(bounded));
      // Every answer costs the same: what was charged is what was answered, no more and no less.
      expect(Math.round((await usageOf(limited)) * 1e9)).toBe(costNanos * sum(bounded));
      expect(await usageOf(limited)).toBeLessThanOrEqual(LIMIT_USD);
      // The last answers of the other gateway may not be booked yet.
      const chargedNanos = async () => Math.round((await usageOf(free)) * 1e9);
      await expect.poll(chargedNanos).toBe(costNanos * sum(callers));
      console.log(
        `${KILLS} kills: ${sum(callers) + sum(bounded)} answered, longest ${Math.round(longestMs)} ms, ` +
          `used again after at most ${Math.round(slowestMs)} ms`,
      );
    });
  });
}
