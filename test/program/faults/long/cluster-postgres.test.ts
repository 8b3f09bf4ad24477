import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kit/time/clock.ts';
import { type Ledger, LedgerUnavailable, type Limits } from '../../../../src/ports/money/ledger.ts';
import { openPostgresLedger } from '../../../../src/store/ledger/postgres/open-postgres-ledger.ts';
import { type OpenedPostgres, openPostgres } from '../../../../src/store/sql/postgres/open-postgres.ts';
import { temporaryDirectory } from '../../../adapters/contracts/temporary-directory.ts';
import { credit, generation, keyLimit, use } from '../../../kit/servers/ledger-bench.ts';
import { addressOf, postgresForTests } from '../../../kit/servers/postgres-server.ts';
import { proxied } from '../../../kit/servers/proxied-database.ts';

const server = await postgresForTests();

/** How often PostgreSQL is killed: `KILLED_LIVES=200 npm run test:faults -- cluster`. */
const KILLS = Number(process.env.KILLED_LIVES ?? 50);

const GATEWAYS = 3;
const AMPLE = keyLimit(10n ** 15n);
const SLICES = () => ({ maxNanos: 10n ** 9n, maxShare: 0.2 });

if (server !== undefined) {
  describe('gateways that share PostgreSQL', () => {
    const closers: (() => Promise<void> | void)[] = [];

    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    const open = async (url: string) => {
      const directory = temporaryDirectory();
      closers.push(() => directory.remove());
      const postgres = await openPostgres(addressOf(url), { nowMs: 1 });
      closers.push(() => postgres.close());
      const opened = await openPostgresLedger({
        directory: directory.path,
        postgres,
        gatewayId: directory.path,
        generationMs: () => 60_000,
        durability: () => 'process',
        clock: systemClock,
        warn() {},
        slices: SLICES,
      });
      closers.push(() => opened.close());
      return { postgres, ledger: opened.ledger };
    };

    /** Reserves and settles at a pace until `stop`. */
    const work = (ledger: Ledger, name: string, limits: Limits, everyMs: number) => {
      const settled: string[] = [];
      let refused = 0;
      let longestMs = 0;
      let servedAt = performance.now();
      let isOver = false;
      const one = async (index: number) => {
        const id = `${name}-${index}`;
        const begunAt = performance.now();
        try {
          const { ok } = await ledger.reserve(generation(id, limits), () => credit(9n));
          if (!ok) return;
          await ledger.settle(id, use(7n));
          settled.push(id);
          servedAt = performance.now();
        } catch (error) {
          if (!(error instanceof LedgerUnavailable)) throw error;
          refused += 1;
        } finally {
          longestMs = Math.max(longestMs, performance.now() - begunAt);
        }
      };
      const run = async () => {
        const running = new Set<Promise<void>>();
        for (let index = 0; !isOver; index++) {
          const each = one(index).finally(() => running.delete(each));
          running.add(each);
          await delay(everyMs);
        }
        await Promise.all(running);
      };
      const runs = run();
      return {
        settled,
        refused: () => refused,
        longestMs: () => longestMs,
        servedAt: () => servedAt,
        async stop() {
          isOver = true;
          await runs;
        },
      };
    };

    const expectWhole = async (
      postgres: OpenedPostgres,
      ledgers: readonly Ledger[],
      settled: readonly string[],
    ) => {
      for (const ledger of ledgers) await ledger.statementOf('account-1');
      const { accounts, generations } = await ledgers[0]!.verify();
      expect(accounts).toMatchObject([
        { fault: null, differenceNanos: 0n, settledNanos: 7n * BigInt(settled.length) },
      ]);
      expect(generations).toBe(settled.length);
      const { rows } = await sql<{ id: string }>`select id from generations`.execute(postgres.database);
      expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(settled));
    };

    it(`lose and double nothing while it is killed ${KILLS} times, and serve again within 5 s`, async () => {
      const url = await server.createDatabase();
      const gateways = [];
      for (let index = 0; index < GATEWAYS; index++) gateways.push(await open(url));
      const loads = gateways.map(({ ledger }, index) => work(ledger, `g${index}`, AMPLE, 10));
      for (let kill = 0; kill < KILLS; kill++) {
        await delay(200 + Math.random() * 300);
        await server.kill();
        await delay(Math.random() * 500);
        await server.start();
        const startedAt = performance.now();
        for (const load of loads) {
          await expect.poll(() => load.servedAt(), { interval: 20 }).toBeGreaterThan(startedAt);
        }
      }
      for (const load of loads) await load.stop();
      for (const { ledger } of gateways) await expect.poll(() => ledger.isAvailable).toBe(true);
      const settled = loads.flatMap((load) => load.settled);
      await expectWhole(
        gateways[0]!.postgres,
        gateways.map(({ ledger }) => ledger),
        settled,
      );
      for (const load of loads) expect(load.longestMs()).toBeLessThan(10_000);
      report('killed', {
        kills: KILLS,
        served: settled.length,
        refused: sum(loads.map((load) => load.refused())),
      });
    });

    for (const fault of ['cut', 'black-hole'] as const) {
      it(`serve a busy key from its slice during a ${fault} of 15 s, and refuse others soon`, async () => {
        const { url, proxy } = await proxied(await server.createDatabase());
        closers.push(() => proxy.close());
        const { postgres, ledger } = await open(url);
        const busy = work(ledger, 'busy', AMPLE, 20);
        await delay(8_000);
        expect(busy.refused()).toBe(0);
        proxy.setFault(fault);
        await delay(1_000);
        const cold = { ...generation('cold', AMPLE), scopes: { ...generation('').scopes, key: 'key-cold' } };
        const askedAt = performance.now();
        await expect(ledger.reserve(cold, () => credit(9n))).rejects.toThrow(LedgerUnavailable);
        expect(performance.now() - askedAt).toBeLessThan(10_000);
        await delay(15_000 - (performance.now() - askedAt));
        const servedWhileAway = busy.settled.length;
        expect(busy.refused()).toBe(0);
        proxy.setFault('none');
        const healedAt = performance.now();
        await expect.poll(() => ledger.isAvailable).toBe(true);
        const recoveredMs = Math.round(performance.now() - healedAt);
        await delay(1_000);
        await busy.stop();
        expect(busy.refused()).toBe(0);
        expect(busy.longestMs()).toBeLessThan(10_000);
        await expectWhole(postgres, [ledger], busy.settled);
        report(fault, { served: servedWhileAway, refused: busy.refused(), recovered_ms: recoveredMs });
      });
    }

    it('cost it at most 0.05 statements a request for a key with 1,000 requests a second', async () => {
      const { postgres, ledger } = await open(await server.createDatabase());
      const transactions = async () => {
        const { rows } = await sql<{ count: string }>`
          select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()`.execute(
          postgres.database,
        );
        return Number(rows[0]?.count);
      };
      const loads = Array.from({ length: 10 }, (_, index) => work(ledger, `hot-${index}`, AMPLE, 10));
      await delay(3_000);
      const [before, servedBefore] = [await transactions(), sum(loads.map(({ settled }) => settled.length))];
      await delay(10_000);
      const served = sum(loads.map(({ settled }) => settled.length)) - servedBefore;
      for (const load of loads) await load.stop();
      await delay(1_500);
      const perRequest = ((await transactions()) - before) / served;
      report('hot key', { requests_per_second: served / 10, statements_per_request: perRequest });
      expect(perRequest).toBeLessThan(0.05);
    });
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function report(name: string, figures: Readonly<Record<string, number>>): void {
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
}
