import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/ir/amount.ts';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { LedgerUnavailable, type Limits, type NewGeneration } from '../../../src/ports/money/ledger.ts';
import {
  openPostgresLedger,
  type PostgresLedgerSettings,
} from '../../../src/store/ledger/postgres/open-postgres-ledger.ts';
import { databaseClock } from '../../../src/store/ledger/postgres/tallies/database-clock.ts';
import { askReservation } from '../../../src/store/ledger/postgres/tallies/reservation-sql.ts';
import { MIGRATIONS } from '../../../src/store/sql/migrations/all.ts';
import { type OpenedPostgres, openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { SqlGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';

const server = await postgresForTests();

/** Short, so that tests with a stopped server are quick. */
const LIMITS = { connectMs: 600, statementMs: 900 };

const SCOPES = { key: 'key-1', workspace: 'workspace-1', account: 'account-1' };
const NO_LIMITS: Limits = { key: [], workspace: [] };
const AMPLE: Limits = { key: [{ window: 'lifetime', nanos: 10n ** 12n, countsByok: false }], workspace: [] };

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });

const generation = (generationId: string, limits = NO_LIMITS): NewGeneration => ({
  generationId,
  scopes: SCOPES,
  limits,
  atMs: Date.now(),
  row: { id: generationId, model: 'acme/one' },
});

const use = (nanos: bigint) => ({ used: credit(nanos), row: { finish_reason: 'stop' }, atMs: Date.now() });

if (server !== undefined) {
  describe('PostgreSQL', () => {
    const closers: (() => Promise<void> | void)[] = [];
    let url: string;

    beforeEach(async () => {
      url = await server.createDatabase();
    });

    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    const connect = async (): Promise<OpenedPostgres> => {
      const postgres = await openPostgres(addressOf(url), { nowMs: 1, limits: LIMITS });
      closers.push(() => postgres.close());
      return postgres;
    };

    const openDirectory = () => {
      const directory = temporaryDirectory();
      closers.push(() => directory.remove());
      return directory.path;
    };

    const openLedger = async (
      postgres: OpenedPostgres,
      directory: string,
      more: Partial<PostgresLedgerSettings> = {},
    ) => {
      const opened = await openPostgresLedger({
        directory,
        postgres,
        gatewayId: directory,
        generationMs: () => 60_000,
        durability: () => 'process',
        clock: systemClock,
        warn() {},
        ...more,
      });
      let closing: Promise<void> | undefined;
      const close = () => {
        closing ??= opened.close();
        return closing;
      };
      closers.push(close);
      return { ...opened, close };
    };

    /** Reserves and settles until `stop`. Resolves with the ids of acknowledged settlements. */
    const work = (
      ledger: Awaited<ReturnType<typeof openLedger>>['ledger'],
      name: string,
      limits = NO_LIMITS,
    ) => {
      const settled: string[] = [];
      let refused = 0;
      let isOver = false;
      const run = async (worker: number) => {
        for (let index = 0; !isOver; index++) {
          const id = `${name}-${worker}-${index}`;
          try {
            const outcome = await ledger.reserve(generation(id, limits), () => credit(9n));
            if (!outcome.ok) throw new Error('nothing is limited here');
            await ledger.settle(id, use(7n));
            settled.push(id);
          } catch (error) {
            if (!(error instanceof LedgerUnavailable)) throw error;
            refused += 1;
            await delay(5);
          }
        }
      };
      const runs = Promise.all([0, 1, 2, 3].map(run));
      return {
        settled,
        refused: () => refused,
        async stop() {
          isOver = true;
          await runs;
        },
      };
    };

    /** Every acknowledged settlement is booked once, to the nano-dollar, and nothing is reserved. */
    const expectWhole = async (
      postgres: OpenedPostgres,
      ledger: Awaited<ReturnType<typeof openLedger>>['ledger'],
      settled: readonly string[],
    ) => {
      const store = new SqlGenerationStore(postgres.database);
      await expect.poll(async () => (await ledger.verify()).openReservations, { interval: 100 }).toBe(0);
      for (const id of settled) expect(await store.find('account-1', id), id).toBeDefined();
      const { accounts, generations } = await ledger.verify();
      expect(accounts.map(({ differenceNanos }) => differenceNanos)).toEqual([0n]);
      expect(accounts[0]?.settledNanos).toBe(7n * BigInt(generations));
      expect(generations).toBe(settled.length);
    };

    /** On a busy machine so many at once may find all connections busy for too long: they ask again. */
    const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await ask();
        } catch (error) {
          if (!(error instanceof LedgerUnavailable)) throw error;
          await delay(100);
        }
      }
    };

    it('lets two gateways race for one limit: 200 reservations, not a nano-dollar too much', async () => {
      const limits: Limits = {
        key: [{ window: 'daily', nanos: 1_000n, countsByok: false }],
        workspace: [{ window: 'lifetime', nanos: 5_000n, countsByok: true }],
      };
      const postgres = [await connect(), await connect()];
      const ledgers = await Promise.all(postgres.map((each) => openLedger(each, openDirectory())));
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const { ledger } = ledgers[index % 2]!;
          const id = `g${index}`;
          const outcome = await patiently(() => ledger.reserve(generation(id, limits), () => credit(30n)));
          if (outcome.ok && index % 3 === 0) await ledger.settle(id, use(90n));
          return outcome.ok;
        }),
      );
      expect(outcomes.filter((ok) => ok).length).toBeGreaterThan(10);
      const { ledger } = ledgers[0]!;
      await ledgers[1]!.ledger.statementOf('account-1');
      const { accounts } = await ledger.verify();
      const [account] = accounts;
      expect(account?.differenceNanos).toBe(0n);
      expect((account?.settledNanos ?? 0n) + (account?.reservedNanos ?? 0n)).toBeLessThanOrEqual(1_000n);
      expect((account?.settledNanos ?? 0n) + (account?.reservedNanos ?? 0n)).toBeGreaterThan(970n);
    });

    it('that hangs: new work is refused soon, open generations are settled, nothing is lost or doubled', async () => {
      const postgres = await connect();
      const { ledger } = await openLedger(postgres, openDirectory(), { sweepMs: 300 });
      const load = work(ledger, 'load', AMPLE);
      await ledger.reserve(generation('open'), () => credit(9n));
      await delay(200);
      server.pause();
      try {
        const began = Date.now();
        await ledger.settle('open', use(7n));
        expect(Date.now() - began).toBeLessThan(2_000);
        await expect.poll(() => ledger.isAvailable).toBe(false);
        const refused = Date.now();
        const late = generation('late', AMPLE);
        await expect(ledger.reserve(late, () => credit(1n))).rejects.toThrow(LedgerUnavailable);
        expect(Date.now() - refused).toBeLessThan(2_000);
        // No limit covers this one: it is served, and booked later.
        expect(ledger.admitting).toBe('unlimited');
        await ledger.reserve(generation('free'), () => credit(9n));
        await ledger.settle('free', use(7n));
      } finally {
        server.resume();
      }
      await expect.poll(() => ledger.isAvailable).toBe(true);
      const before = load.settled.length;
      await expect.poll(() => load.settled.length).toBeGreaterThan(before);
      await load.stop();
      expect(load.refused()).toBeGreaterThan(0);
      await expectWhole(postgres, ledger, [...load.settled, 'open', 'free']);
    });

    it('that is killed and started again loses and doubles nothing', async () => {
      const postgres = await connect();
      const { ledger } = await openLedger(postgres, openDirectory(), { sweepMs: 300 });
      const load = work(ledger, 'load', AMPLE);
      await delay(300);
      await server.kill();
      await delay(200);
      expect(ledger.isAvailable).toBe(false);
      await server.start();
      await expect.poll(() => ledger.isAvailable).toBe(true);
      await delay(200);
      await load.stop();
      await expectWhole(postgres, ledger, load.settled);
    });

    it('that is unavailable gets the settlements later, even from the next start of the gateway', async () => {
      const postgres = await connect();
      const directory = openDirectory();
      const first = await openLedger(postgres, directory);
      for (const id of ['a', 'b', 'c']) await first.ledger.reserve(generation(id), () => credit(9n));
      await server.stop();
      try {
        await first.ledger.settle('a', use(7n));
        await first.ledger.settle('b', use(20n)).then(({ charge, writtenOffNanos }) => {
          expect({ charge, writtenOffNanos }).toEqual({ charge: credit(20n), writtenOffNanos: 0n });
        });
        await first.ledger.void('c', Date.now());
        expect(first.recentGenerations.recent('a')).toMatchObject({ id: 'a', charge: credit(7n) });
        await first.close();
        const second = await openLedger(postgres, directory, { sweepMs: 300 });
        expect(second.recentGenerations.recent('a')).toMatchObject({ id: 'a', charge: credit(7n) });
        await server.start();
        await expect.poll(() => second.ledger.isAvailable).toBe(true);
        await expect.poll(() => second.recentGenerations.recent('a')).toBeUndefined();
        expect(await second.ledger.verify()).toMatchObject({
          openReservations: 0,
          generations: 2,
          accounts: [{ settledNanos: 27n, differenceNanos: 0n }],
        });
      } finally {
        if (!postgres.isUp()) await server.start().catch(() => {});
      }
    });

    it('has the generations of a gateway that crashed ended by its next start', async () => {
      const postgres = await connect();
      const directory = openDirectory();
      const crashed = await openLedger(postgres, directory);
      await crashed.ledger.reserve(generation('begun'), () => credit(9n));
      await crashed.ledger.reserve(generation('halfway'), () => credit(9n));
      await crashed.ledger.checkpoint('halfway', { ...use(4n), row: { tokens_completion: 2 } });
      // As after a lost answer: the database has the reservation, the gateway does not know it.
      await askReservation(
        postgres.database,
        'new',
        { ...generation('stray'), id: 'stray', amount: credit(5n) },
        { gatewayId: directory, lastsMs: 60_000 },
        databaseClock,
      );
      await crashed.close();
      const { ledger, report } = await openLedger(postgres, directory);
      expect(report.settledAfterCrash).toBe(2);
      expect(await ledger.verify()).toMatchObject({
        openReservations: 0,
        generations: 2,
        accounts: [{ settledNanos: 4n, reservedNanos: 0n, differenceNanos: 0n }],
      });
      const store = new SqlGenerationStore(postgres.database);
      expect(await store.find('account-1', 'halfway')).toMatchObject({
        charge: credit(4n),
        row: { model: 'acme/one', tokens_completion: 2, finish_reason: 'error', usage_source: 'estimated' },
      });
      expect(await store.find('account-1', 'begun')).toMatchObject({ row: { usage_source: 'none' } });
      expect(await store.find('account-1', 'stray')).toBeUndefined();
    });

    it('releases the reservations of a gateway that never returned, and none of one that is only slow', async () => {
      const postgres = await connect();
      const gone = await openLedger(postgres, openDirectory(), { generationMs: () => 100, graceMs: 0 });
      const slow = await openLedger(postgres, openDirectory());
      await gone.ledger.reserve(generation('gone'), () => credit(9n));
      await slow.ledger.reserve(generation('slow'), () => credit(5n));
      const { ledger } = await openLedger(postgres, openDirectory(), { sweepMs: 50 });
      await expect.poll(async () => (await ledger.verify()).openReservations).toBe(1);
      expect(await ledger.statementOf('account-1')).toMatchObject({ reservedNanos: 5n });
      // It returns after all: its usage is still charged.
      await gone.ledger.settle('gone', use(7n));
      await gone.close();
      expect(await ledger.statementOf('account-1')).toMatchObject({
        settledNanos: 7n,
        reservedNanos: 5n,
        differenceNanos: 0n,
      });
    });

    it('keeps the journal of a gateway short', async () => {
      const postgres = await connect();
      const { ledger } = await openLedger(postgres, openDirectory(), { journal: { segmentBytes: 4_096 } });
      for (let index = 0; index < 60; index++) {
        await ledger.reserve(generation(`g${index}`), () => credit(9n));
        await ledger.settle(`g${index}`, use(7n));
      }
      await expect.poll(async () => (await ledger.verify()).journal.segments).toBeLessThanOrEqual(2);
    });

    it('runs no statement of a transaction outside of it when the connection is lost in between', async () => {
      const { database } = await connect();
      const lost = database.transaction().execute(async (transaction) => {
        await sql`insert into installation (name, value) values ('one', '1')`.execute(transaction);
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(transaction).catch(() => {});
        await sql`insert into installation (name, value) values ('two', '2')`.execute(transaction);
      });
      await expect(lost).rejects.toThrow('Service temporarily unavailable');
      // One lost connection is not a lost database: other requests are served.
      expect(await database.selectFrom('installation').selectAll().execute()).toEqual([]);
    });

    it('is migrated once by gateways that start together', async () => {
      const opened = await Promise.all(
        [0, 1, 2].map(async () => {
          const { database } = await connect();
          return database;
        }),
      );
      await sql`drop schema public cascade`.execute(opened[0]!);
      await sql`create schema public`.execute(opened[0]!);
      const again = await Promise.all([0, 1, 2].map(() => connect()));
      const rows = await again[0]!.database.selectFrom('schema_migrations').select('name').execute();
      expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
      expect(rows.length).toBe(MIGRATIONS.length);
    });

    it('that refuses the login is not waited for, and the password is not shown', async () => {
      const address = { ...addressOf(url), database: 'nowhere', password: 'canary' };
      const refused = await openPostgres(address, { nowMs: 1, waiting() {} }).catch((error: Error) => error);
      expect(refused).toMatchObject({ name: 'DataDirectoryProblem' });
      expect(String(refused)).toContain('make it first, or name another one in DATABASE_URL');
      expect(String(refused)).not.toContain('canary');
    });
  });
}
