import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { managementOf } from '../../../kit/management.ts';
import { postgresForTests } from '../../../kit/servers/postgres-server.ts';
import { SteadyCaller } from '../steady-caller.ts';

const server = await postgresForTests();

/** How often PostgreSQL is killed: `KILLED_LIVES=200 npm run test:faults -- cluster-postgres-http`. */
const KILLS = Number(process.env.KILLED_LIVES ?? 50);
const GATEWAYS = 3;

const LONGEST_MS = 10_000;

/** Twice what is promised, so that other work on the machine does not fail the test; the figure is printed. */
const SERVED_AGAIN_MS = 10_000;

/**
 * Keys by their limit in USD. One has none, one has a limit that is far away, so that slices pay for it, and one a
 * limit that is used up on the way.
 */
const LIMITS = { unlimited: null, ample: 1_000, used_up: 0.002 } as const;
type Kind = keyof typeof LIMITS;

/** Statuses beside 200. What no limit covers is served while the database is away (ruling 101). */
const REFUSALS: Readonly<Record<Kind, readonly number[]>> = {
  unlimited: [],
  ample: [503],
  used_up: [402, 503],
};

if (server !== undefined) {
  describe(`PostgreSQL killed ${KILLS} times under ${GATEWAYS} gateways that serve over HTTP`, () => {
    const gateways: TestGateway[] = [];

    beforeAll(async () => {
      const env = { DATABASE_URL: await server.createDatabase() };
      for (let index = 0; index < GATEWAYS; index++) gateways.push(await openTestGateway({}, { env }));
    });
    afterAll(async () => {
      for (const gateway of gateways) await gateway.close();
    });

    it('loses, doubles and overspends nothing, and every gateway serves again soon', async () => {
      const manage = managementOf(gateways[0] as TestGateway);
      const kinds = Object.keys(LIMITS) as Kind[];
      const keys = {} as Record<Kind, { readonly key: string; readonly data: { readonly hash: string } }>;
      for (const kind of kinds) {
        keys[kind] = (await manage.ask('POST', '/keys', { name: kind, limit: LIMITS[kind] })).body;
      }
      const callers = kinds.flatMap((kind) =>
        gateways.map((gateway) => ({ kind, caller: new SteadyCaller(gateway, keys[kind].key) })),
      );
      const of = (kind: Kind) => callers.filter((each) => each.kind === kind).map(({ caller }) => caller);
      // A gateway serves without the database what it knows to be unlimited.
      for (const { caller } of callers) {
        await expect.poll(() => caller.answered).toBeGreaterThan(0);
      }
      let slowestMs = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(200 + Math.random() * 300);
        await server.kill();
        await sleep(Math.random() * 500);
        await server.start();
        const startedAt = performance.now();
        await Promise.all(
          [...of('unlimited'), ...of('ample')].map((caller) => {
            const before = caller.answered;
            const isServed = () => caller.answered > before;
            return expect.poll(isServed, { timeout: SERVED_AGAIN_MS, interval: 20 }).toBe(true);
          }),
        );
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      }
      await Promise.all(callers.map(({ caller }) => caller.stop()));

      const longestMs = Math.max(...callers.map(({ caller }) => caller.longestMs));
      expect(longestMs).toBeLessThan(LONGEST_MS);
      const refused = { 402: 0, 503: 0 };
      for (const { kind, caller } of callers) {
        for (const status of caller.refused) {
          expect(REFUSALS[kind], `${kind}: ${[...caller.reasons].join(' ')}`).toContain(status);
          refused[status as keyof typeof refused] += 1;
        }
      }
      expect(refused[402]).toBeGreaterThan(0);

      const answered = (kind: Kind) => of(kind).reduce((sum, caller) => sum + caller.answered, 0);
      const chargedNanos = async (kind: Kind) => {
        const { body } = await manage.ask('GET', `/keys/${keys[kind].data.hash}`);
        return Math.round(body.data.usage * 1e9);
      };
      // Every answer costs the same.
      const costNanos = Math.round((await costOfOne(gateways[0] as TestGateway)) * 1e9);
      for (const kind of kinds) {
        await expect
          .poll(() => chargedNanos(kind), { timeout: 10_000, message: kind })
          .toBe(costNanos * answered(kind));
      }
      expect(await chargedNanos('used_up')).toBeLessThanOrEqual(LIMITS.used_up * 1e9);
      const total = kinds.reduce((sum, kind) => sum + answered(kind), 0);
      process.stdout.write(
        `${KILLS} kills: ${total} answered, ${refused[402]} refused with 402, ${refused[503]} with 503, ` +
          `longest ${Math.round(longestMs)} ms, served again after at most ${Math.round(slowestMs)} ms\n`,
      );
    });
  });
}

async function costOfOne(gateway: TestGateway): Promise<number> {
  const messages = [{ role: 'user', content: 'Hello' }];
  const response = await gateway.post('/chat/completions', { model: 'simulator/standard', messages });
  return ((await response.json()) as { readonly usage: { readonly cost: number } }).usage.cost;
}
