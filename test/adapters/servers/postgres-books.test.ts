import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailable, type Limits } from '../../../src/ports/money/ledger.ts';
import { GatewayIdentity } from '../../../src/store/directory/gateway-identity.ts';
import {
  bookEnds,
  type JournalledEnd,
  releaseStrays,
} from '../../../src/store/ledger/postgres/booking/book-ends.ts';
import { readJournals } from '../../../src/store/ledger/postgres/booking/journal-rows.ts';
import { databaseClock } from '../../../src/store/ledger/postgres/tallies/database-clock.ts';
import {
  type BenchLedger,
  credit,
  cuttable,
  generation,
  keyLimit,
  LedgerBench,
  NO_LIMITS,
  SCOPES,
  use,
} from '../../kit/servers/ledger-bench.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const DAY_MS = 86_400_000;

if (server !== undefined) {
  describe('the books of gateways that share PostgreSQL', () => {
    let bench: LedgerBench;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
    });

    afterEach(() => bench.close());

    const spend = async ({ ledger }: BenchLedger, id: string, nanos = 7n) => {
      await ledger.reserve(generation(id), () => credit(nanos));
      await ledger.settle(id, use(nanos));
    };

    const pruneAll = () => bench.rows.prune(Number.MAX_SAFE_INTEGER, 1_000);

    /** The transaction that wrote the rows of journals last. */
    const lastWriteOfJournals = async () =>
      (await sql`select xmin::text from ledger_journals`.execute(bench.postgres.database)).rows;

    const statement = ({ ledger }: BenchLedger) => ledger.statementOf('account-1');

    it('are charged once although rows were pruned before a restart', async () => {
      const directory = bench.directory();
      const first = await bench.ledger(directory);
      await spend(first, 'g1');
      expect(await statement(first)).toMatchObject({ settledNanos: 7n });
      await pruneAll();
      await first.close();
      const second = await bench.ledger(directory);
      expect(await statement(second)).toMatchObject({ settledNanos: 7n, differenceNanos: 0n });
      expect(await second.ledger.spendingOf('key', ['key-1'])).toMatchObject([{ credit: { daily: 7n } }]);
      expect(await bench.rows.count()).toBe(0);
    });

    it('are sent nothing again by a gateway that was stopped in order', async () => {
      const directory = bench.directory();
      const first = await bench.ledger(directory);
      await spend(first, 'g1');
      await first.close();
      const written = await lastWriteOfJournals();
      const second = await bench.ledger(directory);
      expect(second.ledger.lag).toMatchObject({ database: 0 });
      expect(second.recentGenerations.recent('g1')).toBeUndefined();
      await statement(second);
      expect(await lastWriteOfJournals()).toEqual(written);
    });

    it('take the settlements of a gateway whose outbox was deleted', async () => {
      const directory = bench.directory();
      const first = await bench.ledger(directory);
      for (const id of ['g1', 'g2', 'g3']) await spend(first, id);
      await first.close();
      rmSync(join(directory, 'outbox'), { recursive: true });
      const second = await bench.ledger(directory);
      await spend(second, 'g4');
      expect(await statement(second)).toMatchObject({ settledNanos: 28n, differenceNanos: 0n });
    });

    describe('of a gateway that an older version has run', () => {
      /** What an older version leaves: no row of its journal, and sums as the migration makes them of the tallies. */
      const forgetJournals = async () => {
        const { database } = bench.postgres;
        await sql`delete from ledger_journals`.execute(database);
        await sql`delete from ledger_booked`.execute(database);
        await sql`insert into ledger_booked (gateway_id, account_id, credit_nanos, byok_nanos)
          select '', id, credit_lifetime, byok_lifetime from ledger_tallies where scope = 'account'`.execute(
          database,
        );
      };

      it('are not charged again for what is older than the rows that are kept', async () => {
        const directory = bench.directory();
        const first = await bench.ledger(directory);
        await first.ledger.reserve(generation('old'), () => credit(7n));
        await first.ledger.settle('old', use(7n, { atMs: Date.now() - 10 * DAY_MS }));
        await spend(first, 'kept', 5n);
        await statement(first);
        await first.close();
        await bench.rows.prune(Date.now() - DAY_MS, 10);
        await forgetJournals();
        const second = await bench.ledger(directory, { retentionMs: () => DAY_MS });
        expect(await statement(second)).toMatchObject({ settledNanos: 12n, differenceNanos: 0n });
        expect(second.warnings).toContainEqual({
          message: expect.stringContaining('not charged again'),
          fields: { count: 1, charges_usd: 7e-9 },
        });
        await second.close();
        const third = await bench.ledger(directory, { retentionMs: () => DAY_MS });
        expect(third.warnings).toEqual([]);
        await spend(third, 'new', 1n);
        expect(await statement(third)).toMatchObject({ settledNanos: 13n, differenceNanos: 0n });
      });

      it('unavailable at a start, get no settlement before the gateway knows what they have booked', async () => {
        const directory = bench.directory();
        const first = await bench.ledger(directory);
        await first.ledger.reserve(generation('old'), () => credit(7n));
        await first.ledger.settle('old', use(7n, { atMs: Date.now() - 10 * DAY_MS }));
        await statement(first);
        await first.close();
        await pruneAll();
        await forgetJournals();
        let isAway = true;
        const second = await bench.ledger(directory, {
          retentionMs: () => DAY_MS,
          // Pings are answered, so that it is the journal alone that is waited for.
          postgres: {
            ...bench.postgres,
            database: cuttable(bench.postgres.database, () => isAway),
            isUp: () => true,
          },
        });
        expect(second.ledger.isAvailable).toBe(false);
        isAway = false;
        expect(await statement(second)).toMatchObject({ settledNanos: 7n });
        await expect.poll(() => second.ledger.isAvailable).toBe(true);
        expect(await statement(second)).toMatchObject({ settledNanos: 7n, differenceNanos: 0n });
        expect(await bench.rows.count()).toBe(0);
      });

      /** Settled so many days ago, and booked or not, by a gateway of an older version. Resolves with its directory. */
      const leftByOlder = async (id: string, days: number, isBooked: boolean) => {
        const other = await bench.ledger(bench.directory());
        await spend(other, `before-${id}`, 1n);
        await statement(other);
        await pruneAll();
        const directory = bench.directory();
        const older = await bench.ledger(directory);
        await older.ledger.reserve(generation(id), () => credit(7n));
        older.setAway(!isBooked);
        await older.ledger.settle(id, use(7n, { atMs: Date.now() - days * DAY_MS }));
        if (isBooked) await statement(older);
        await older.close();
        return directory;
      };

      /** As another gateway does with the reservations of one that never came back. */
      const releaseAll = async () => {
        await sql`update ledger_reservations set expires_at_ms = 0`.execute(bench.postgres.database);
        const other = await bench.ledger(bench.directory());
        expect(await statement(other)).toMatchObject({ reservedNanos: 0n });
      };

      const adoptedBy = async (directory: string) => {
        await forgetJournals();
        const newer = await bench.ledger(directory, { retentionMs: () => 400 * DAY_MS });
        const { settledNanos, differenceNanos } = await statement(newer);
        expect(differenceNanos).toBe(0n);
        return { settledNanos, warnings: newer.warnings };
      };

      it('are not charged again for what another gateway has pruned that keeps less', async () => {
        const directory = await leftByOlder('g1', 10, true);
        await bench.rows.prune(Date.now() - 7 * DAY_MS, 10);
        expect(await adoptedBy(directory)).toEqual({
          settledNanos: 8n,
          warnings: [
            {
              message: expect.stringContaining('not charged again'),
              fields: { count: 1, charges_usd: 7e-9 },
            },
          ],
        });
      });

      it('take what still has its reservation, however old', async () => {
        const directory = await leftByOlder('g1', 10, false);
        expect(await adoptedBy(directory)).toEqual({ settledNanos: 8n, warnings: [] });
      });

      it('take what is younger than any gateway prunes', async () => {
        const directory = await leftByOlder('g1', 0, false);
        await releaseAll();
        expect(await adoptedBy(directory)).toEqual({ settledNanos: 8n, warnings: [] });
      });

      it('take what is younger than a row that is there, and not what is older', async () => {
        const younger = await leftByOlder('g1', 10, false);
        const older = await leftByOlder('g2', 12, false);
        await releaseAll();
        const other = await bench.ledger(bench.directory());
        await other.ledger.reserve(generation('g3'), () => credit(1n));
        await other.ledger.settle('g3', use(1n, { atMs: Date.now() - 11 * DAY_MS }));
        expect(await statement(other)).toMatchObject({ settledNanos: 3n });
        expect(await adoptedBy(younger)).toEqual({ settledNanos: 10n, warnings: [] });
        expect(await adoptedBy(older)).toMatchObject({
          settledNanos: 10n,
          warnings: [{ fields: { count: 1 } }],
        });
      });

      it('take what is in its outbox, however old, when nothing was ever charged to the account', async () => {
        const directory = await leftByOlder('g1', 10, false);
        for (const table of ['ledger_tallies', 'ledger_reservations']) {
          await sql`delete from ${sql.table(table)}`.execute(bench.postgres.database);
        }
        expect(await adoptedBy(directory)).toEqual({ settledNanos: 7n, warnings: [] });
      });

      it('take what was settled and not booked before', async () => {
        const directory = bench.directory();
        const first = await bench.ledger(directory);
        await spend(first, 'g1');
        await statement(first);
        await first.close();
        const { database } = bench.postgres;
        // As if it had never been booked.
        for (const table of ['generations', 'ledger_tallies', 'ledger_journals', 'ledger_booked']) {
          await sql`delete from ${sql.table(table)}`.execute(database);
        }
        const second = await bench.ledger(directory, { retentionMs: () => DAY_MS });
        expect(await statement(second)).toMatchObject({ settledNanos: 7n, differenceNanos: 0n });
        expect(await bench.rows.count()).toBe(1);
      });
    });

    describe('of a data directory that was copied', () => {
      const open = (directory: string) => {
        const identity = new GatewayIdentity(directory);
        return bench.ledger(directory, { gatewayId: identity.id, identity });
      };
      const copyOf = (directory: string) => {
        const copy = bench.directory();
        cpSync(directory, copy, { recursive: true });
        return copy;
      };

      it('lose nothing: the original gateway stops, and continues under another id', async () => {
        const directory = bench.directory();
        const first = await open(directory);
        await spend(first, 'g1');
        await statement(first);
        const copy = await open(copyOf(directory));
        await spend(copy, 'g2');
        await statement(copy);
        await spend(first, 'g3');
        await first.ledger.statementOf('account-1').catch(() => {});
        expect(first.ledger.isAvailable).toBe(false);
        expect(first.warnings.map(({ message }) => message)).toContainEqual(
          expect.stringContaining('a copy of this data directory'),
        );
        await first.close();
        const again = await open(directory);
        await spend(again, 'g4');
        await spend(copy, 'g5');
        await statement(copy);
        expect(await statement(again)).toMatchObject({ settledNanos: 35n, differenceNanos: 0n });
        expect(await bench.rows.count()).toBe(5);
      });

      it('are the same gateway as before where only one of them runs, also after a crash', async () => {
        const directory = bench.directory();
        for (const id of ['g1', 'g2', 'g3']) {
          const one = await open(directory);
          await spend(one, id);
          await statement(one);
          expect(one.warnings).toEqual([]);
          await (id === 'g2' ? one.crash() : one.close());
        }
        const last = await open(directory);
        expect(await statement(last)).toMatchObject({ settledNanos: 21n, differenceNanos: 0n });
      });
    });

    describe('that a gateway of an older version shares', () => {
      /** Books as it does: a row that names no gateway, and the tally; nothing of sums. */
      const bookAsOlder = async (id: string, nanos: bigint) => {
        const { database } = bench.postgres;
        const amount = sql`${String(nanos)}::bigint`;
        await sql`insert into generations
          (id, account_id, workspace_id, key_hash, settled_at_ms, credit_nanos, byok_nanos, written_off_nanos, details)
          values (${id}, 'account-1', 'workspace-1', 'key-1', 1, ${amount}, 0, 0, '{}')`.execute(database);
        await sql`update ledger_tallies set credit_lifetime = credit_lifetime + ${amount},
          left_nanos = left_nanos - ${amount} where scope = 'account'`.execute(database);
      };

      it('are right while both book, and after its rows were pruned', async () => {
        const one = await bench.ledger(bench.directory());
        await spend(one, 'g1');
        await bookAsOlder('g2', 5n);
        const right = { settledNanos: 12n, differenceNanos: 0n, fault: null };
        expect(await statement(one)).toMatchObject(right);
        expect((await one.ledger.verify()).accounts).toMatchObject([right]);
        expect(await bench.rows.prune(2, 10)).toBe(1);
        expect(await statement(one)).toMatchObject(right);
      });

      it('are right after it has pruned its rows itself', async () => {
        const one = await bench.ledger(bench.directory());
        await spend(one, 'g1');
        await bookAsOlder('g2', 5n);
        await bookAsOlder('g3', 6n);
        // All that an older version does: it knows nothing of sums.
        await sql`delete from generations where settled_at_ms < 2`.execute(bench.postgres.database);
        const right = { settledNanos: 18n, differenceNanos: 0n, fault: null };
        expect(await statement(one)).toMatchObject(right);
        expect((await one.ledger.verify()).accounts).toMatchObject([right]);
        await pruneAll();
        expect(await statement(one)).toMatchObject(right);
      });

      it('show a charge that was booked twice all the same, also after the next gateway starts', async () => {
        const one = await bench.ledger(bench.directory());
        await spend(one, 'g1');
        await bookAsOlder('g2', 5n);
        await sql`update ledger_tallies set credit_lifetime = credit_lifetime + 7, left_nanos = left_nanos - 7
          where scope = 'account'`.execute(bench.postgres.database);
        const two = await bench.ledger(bench.directory());
        await spend(two, 'g3', 1n);
        expect(await statement(two)).toMatchObject({ differenceNanos: -7n, fault: 'journals' });
      });
    });

    it('show a charge that was booked twice, and in what it shows', async () => {
      const one = await bench.ledger(bench.directory());
      await one.ledger.grant('account-1', 100n, Date.now());
      await spend(one, 'g1');
      expect(await statement(one)).toMatchObject({ differenceNanos: 0n, fault: null });
      await sql`update ledger_tallies set
        credit_lifetime = credit_lifetime + 7,
        left_nanos = left_nanos - case when scope = 'account' then 7 else 0 end`.execute(
        bench.postgres.database,
      );
      const wrong = { settledNanos: 14n, differenceNanos: -7n, fault: 'journals' };
      expect((await one.ledger.verify()).accounts).toMatchObject([wrong]);
      expect(await statement(one)).toMatchObject(wrong);
      await sql`update ledger_tallies set left_nanos = left_nanos + 1 where scope = 'account'`.execute(
        bench.postgres.database,
      );
      expect(await statement(one)).toMatchObject({ differenceNanos: -1n, fault: 'equation' });
    });

    describe('of a gateway that settles after its reservation was released', () => {
      /** One gateway reserves and is unavailable until its reservation has expired; another releases it. */
      const expired = async (limits: Limits) => {
        const away = await bench.ledger(bench.directory(), { generationMs: () => 1, graceMs: 0 });
        await away.ledger.reserve(generation('late', limits), () => credit(60n));
        await delay(5);
        const other = await bench.ledger(bench.directory());
        expect(await statement(other)).toMatchObject({ reservedNanos: 0n });
        return { away, other };
      };

      it('exceed no limit: the rest is written off, and is in the row', async () => {
        const { away, other } = await expired(keyLimit(100n));
        await other.ledger.reserve(generation('g1', keyLimit(100n)), () => credit(80n));
        await other.ledger.settle('g1', use(80n));
        await statement(other);
        await away.ledger.settle('late', use(60n));
        expect(await statement(away)).toMatchObject({ settledNanos: 100n, differenceNanos: 0n });
        expect(await away.ledger.spendingOf('key', ['key-1'])).toMatchObject([
          { credit: { lifetime: 100n } },
        ]);
        expect(await bench.rows.find('account-1', 'late')).toMatchObject({
          charge: credit(20n),
          writtenOffNanos: 40n,
          writtenOffCause: 'released',
        });
        expect(away.ledger.writtenOff).toMatchObject({ released: 40n, output: 0n });
        expect(await statement(other)).toMatchObject({ writtenOffNanos: 40n });
      });

      it('take no balance below zero, in any order of the booked settlements', async () => {
        const { away, other } = await expired(NO_LIMITS);
        await other.ledger.grant('account-1', 100n, Date.now());
        await other.ledger.reserve(generation('g1'), () => credit(70n));
        await away.ledger.settle('late', use(60n));
        expect(await statement(away)).toMatchObject({
          settledNanos: 30n,
          leftNanos: 0n,
          differenceNanos: 0n,
        });
        await other.ledger.settle('g1', use(70n));
        expect(await statement(other)).toMatchObject({
          settledNanos: 100n,
          leftNanos: 0n,
          differenceNanos: 0n,
        });
      });

      it('are charged in full where the money is still there', async () => {
        const { away } = await expired(keyLimit(60n));
        await away.ledger.settle('late', use(60n));
        expect(await statement(away)).toMatchObject({ settledNanos: 60n });
      });

      it('keep the limits over a restart of the gateway', async () => {
        const directory = bench.directory();
        const first = await bench.ledger(directory, { generationMs: () => 1, graceMs: 0 });
        await first.ledger.reserve(generation('late', keyLimit(50n)), () => credit(50n));
        await first.ledger.checkpoint('late', use(50n));
        await first.close();
        await delay(5);
        const other = await bench.ledger(bench.directory());
        await other.ledger.reserve(generation('g1', keyLimit(50n)), () => credit(45n));
        const second = await bench.ledger(directory);
        expect(await statement(second)).toMatchObject({ settledNanos: 5n, reservedNanos: 45n });
      });
    });

    describe('that refuse a settlement', () => {
      const refuse = (id: string) =>
        sql`alter table generations add constraint refused check (id <> ${sql.lit(id)})`.execute(
          bench.postgres.database,
        );
      const allow = () =>
        sql`alter table generations drop constraint if exists refused`.execute(bench.postgres.database);

      afterEach(() => allow());

      it('take all others, which do not wait for it, and it as soon as they can', async () => {
        const one = await bench.ledger(bench.directory());
        const { ledger, warnings } = one;
        await refuse('bad');
        const ids = ['g1', 'g2', 'bad', 'g3', 'g4'];
        for (const id of ids) await ledger.reserve(generation(id), () => credit(7n));
        await Promise.all(ids.map((id) => ledger.settle(id, use(7n))));
        await ledger.grant('account-1', 100n, Date.now());
        await ledger.forget('key', 'key-1');
        expect(await statement(one)).toMatchObject({
          settledNanos: 28n,
          reservedNanos: 7n,
          differenceNanos: 0n,
        });
        expect(ledger.lag).toMatchObject({ database: 1, refused: 1 });
        expect(one.recentGenerations.recent('bad')).toMatchObject({ charge: credit(7n) });
        expect(warnings).toEqual([
          {
            message: expect.stringContaining('refuses'),
            fields: expect.objectContaining({ generation_id: 'bad' }),
          },
        ]);
        await spend(one, 'later');
        await allow();
        await expect.poll(() => ledger.lag).toMatchObject({ database: 0, refused: 0 });
        expect(await statement(one)).toMatchObject({
          settledNanos: 42n,
          reservedNanos: 0n,
          differenceNanos: 0n,
        });
        expect(warnings).toHaveLength(2);
      });

      it('take it from the next start of its gateway, once, and what was booked beside it not again', async () => {
        const directory = bench.directory();
        const first = await bench.ledger(directory);
        await refuse('bad');
        for (const id of ['g1', 'bad', 'g2']) await spend(first, id);
        expect(await statement(first)).toMatchObject({ settledNanos: 14n });
        await first.close();
        await pruneAll();
        await allow();
        const second = await bench.ledger(directory);
        expect(await statement(second)).toMatchObject({ settledNanos: 21n, differenceNanos: 0n });
        await second.close();
        await pruneAll();
        expect(await statement(await bench.ledger(directory))).toMatchObject({ settledNanos: 21n });
      });
    });

    it('forget keys and workspaces that do not exist, unless something is reserved for them', async () => {
      const first = await bench.ledger(bench.directory());
      const gone = { key: 'gone', workspace: 'gone', account: 'account-1' };
      const idle = { ...gone, key: 'idle' };
      for (const scopes of [SCOPES, gone, idle]) {
        const id = `g-${scopes.key}`;
        await first.ledger.reserve({ ...generation(id), scopes }, () => credit(5n));
        await first.ledger.settle(id, use(5n));
      }
      await first.ledger.reserve({ ...generation('open'), scopes: gone }, () => credit(1n));
      expect(await statement(first)).toMatchObject({ settledNanos: 15n });
      const tallies = async () => {
        const { rows } = await sql<{ name: string }>`
          select scope || ' ' || id as name from ledger_tallies order by 1`.execute(bench.postgres.database);
        return rows.map(({ name }) => name);
      };
      const kept = ['account account-1', 'key key-1', 'workspace workspace-1'];
      const second = await bench.ledger(bench.directory(), { forgetMs: 20 });
      expect(second.report.forgotten).toBe(1);
      expect(await tallies()).toEqual([kept[0], 'key gone', kept[1], 'workspace gone', kept[2]]);
      await first.ledger.void('open', Date.now());
      await statement(first);
      await expect.poll(tallies).toEqual(kept);
      expect(await statement(first)).toMatchObject({ settledNanos: 15n, differenceNanos: 0n });
    });

    it('unavailable at a start, get the generations that a crash left open once they are back', async () => {
      const directory = bench.directory();
      const first = await bench.ledger(directory);
      await spend(first, 'g1');
      await first.ledger.reserve(generation('open'), () => credit(9n));
      await first.ledger.checkpoint('open', use(4n));
      await first.crash();
      await server.stop();
      let second: BenchLedger;
      try {
        second = await bench.ledger(directory);
        expect(second.ledger.isAvailable).toBe(false);
        await expect(second.ledger.reserve(generation('g2'), () => credit(1n))).rejects.toThrow(
          LedgerUnavailable,
        );
      } finally {
        await server.start();
      }
      await expect.poll(() => second.ledger.isAvailable).toBe(true);
      await spend(second, 'g2');
      await expect.poll(() => second.ledger.openReservations).toBe(0);
      expect(await statement(second)).toMatchObject({
        settledNanos: 18n,
        reservedNanos: 0n,
        differenceNanos: 0n,
      });
      expect(await bench.rows.count()).toBe(3);
    });

    it('that are unavailable reject reads, grants and forgetting with one error', async () => {
      const { ledger } = await bench.ledger(bench.directory());
      await server.stop();
      try {
        const asked = [
          () => ledger.forget('key', 'key-1'),
          () => ledger.spendingOf('key', ['key-1']),
          () => ledger.statementOf('account-1'),
          () => ledger.verify(),
          () => ledger.rebuild(),
          () => ledger.grant('account-1', 1n, 1),
        ];
        for (const ask of asked) await expect(ask()).rejects.toThrow(LedgerUnavailable);
      } finally {
        await server.start();
      }
    });

    it('count released reservations, without those that were booked meanwhile', async () => {
      const { database } = bench.postgres;
      const one = await bench.ledger(bench.directory());
      await one.ledger.reserve(generation('g1'), () => credit(7n));
      const strays = ['g1', 'booked'].map((generationId) => ({
        generationId,
        sequence: undefined,
        scopes: SCOPES,
        limits: NO_LIMITS,
        settled: undefined,
      }));
      const release = () =>
        releaseStrays(database, { gatewayId: 'other', owner: 'any', strays, clock: databaseClock });
      expect(await release()).toBe(1);
      expect(await release()).toBe(0);
      expect(await statement(one)).toMatchObject({ reservedNanos: 0n, differenceNanos: 0n });
    });

    it('book nothing twice after an unanswered booking, in any batches', async () => {
      const { database } = bench.postgres;
      const end = (sequence: number): JournalledEnd => ({
        generationId: `g${sequence}`,
        sequence,
        scopes: SCOPES,
        limits: NO_LIMITS,
        reserved: credit(0n),
        settled: {
          kind: 'settle',
          sequence,
          atMs: 1,
          generationId: `g${sequence}`,
          scopes: SCOPES,
          charge: credit(7n),
          writtenOffNanos: 0n,
          writtenOffCause: null,
          row: {},
        },
      });
      const book = (ends: number[], waiting: number[]) =>
        bookEnds(database, { gatewayId: 'one', ends: ends.map(end), waiting, clock: databaseClock });
      await book([1, 3], [2, 9]);
      expect((await readJournals(database)).get('one')).toEqual({ bookedTo: 3, unbooked: new Set([2]) });
      await pruneAll();
      // The gateway has not heard of it: 1 and 3 wait as well.
      await book([9], [1, 2, 3]);
      expect((await readJournals(database)).get('one')).toEqual({ bookedTo: 9, unbooked: new Set([2]) });
      await book([1, 2, 3], []);
      expect((await readJournals(database)).get('one')).toEqual({ bookedTo: 9, unbooked: new Set() });
      await book([2], []);
      const one = await bench.ledger(bench.directory());
      expect(await statement(one)).toMatchObject({ settledNanos: 28n, differenceNanos: 0n });
    });
  });
}
