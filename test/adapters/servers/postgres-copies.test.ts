import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { LedgerUnavailable } from '../../../src/ports/money/ledger.ts';
import { GatewayIdentity } from '../../../src/store/directory/gateway-identity.ts';
import { openPostgresState } from '../../../src/store/open-postgres-state.ts';
import { DatabaseUnavailable } from '../../../src/store/sql/database-unavailable.ts';
import { GatewayIdInUse, GatewayLock } from '../../../src/store/sql/postgres/gateway-lock.ts';
import {
  type BenchLedger,
  credit,
  generation,
  keyLimit,
  LedgerBench,
  use,
  type Warning,
} from '../../kit/servers/ledger-bench.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

/** How long a start waits for another gateway in tests that expect it to go on waiting. */
const PATIENT_MS = 60_000;

if (server !== undefined) {
  describe('a copy of the data directory of a gateway that runs', () => {
    let bench: LedgerBench;
    const locks: GatewayLock[] = [];

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
    });

    afterEach(async () => {
      await bench.close();
      for (const lock of locks.splice(0)) lock.close();
    });

    const lockWith = (patienceMs: number, settlingMs = 0) => {
      const warnings: Warning[] = [];
      const warn = (message: string, fields = {}) => warnings.push({ message, fields });
      const lock = new GatewayLock({ address: bench.address, warn, patienceMs, settlingMs });
      locks.push(lock);
      return Object.assign(lock, { warnings });
    };

    /** Starts a gateway that serves. */
    const serve = (directory: string, lock = lockWith(0)): Promise<BenchLedger> => {
      const identity = new GatewayIdentity(directory);
      return bench.ledger(directory, { gatewayId: identity.id, identity, lock });
    };

    /** Starts one that has no lock, as after a network cut: only owner words tell the two apart. */
    const serveUnlocked = (directory: string): Promise<BenchLedger> => {
      const identity = new GatewayIdentity(directory);
      return bench.ledger(directory, { gatewayId: identity.id, identity });
    };

    const copyOf = (directory: string) => {
      const copy = bench.directory();
      cpSync(directory, copy, { recursive: true });
      return copy;
    };

    /** Opens the installation as a command does. */
    const command = (directory: string, warnings: Warning[] = []) =>
      openPostgresState({
        directory,
        database: bench.address,
        waitsForDatabase: false,
        isGateway: false,
        retentionMs: () => 86_400_000,
        generationMs: () => 60_000,
        durability: () => 'process',
        clock: systemClock,
        warn: (message, fields = {}) => warnings.push({ message, fields }),
      });

    const journals = async () =>
      (await sql`select * from ledger_journals order by gateway_id`.execute(bench.postgres.database)).rows;
    const reservations = async () =>
      (await sql`select generation_id from ledger_reservations order by 1`.execute(bench.postgres.database))
        .rows;
    const lockHolders = async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_locks where locktype = 'advisory' and granted and database = (
          select oid from pg_database where datname = current_database()
        )`.execute(bench.postgres.database);
      return rows.map(({ pid }) => pid);
    };
    const heldLocks = async () => (await lockHolders()).length;
    const settled = async ({ ledger }: BenchLedger) => {
      const { settledNanos, reservedNanos, differenceNanos } = await ledger.statementOf('account-1');
      return { settledNanos, reservedNanos, differenceNanos };
    };

    /** One generation is booked, two are open: one of them the copy does not know of. */
    const openedAndCopied = async () => {
      const directory = bench.directory();
      const original = await serve(directory);
      await original.ledger.reserve(generation('booked'), () => credit(1n));
      await original.ledger.settle('booked', use(1n));
      expect(await settled(original)).toMatchObject({ settledNanos: 1n });
      await original.ledger.reserve(generation('open', keyLimit(100n)), () => credit(20n));
      await original.ledger.checkpoint('open', use(3n));
      const copy = copyOf(directory);
      await original.ledger.reserve(generation('later', keyLimit(100n)), () => credit(30n));
      return { original, directory, copy };
    };

    const expectUntouched = async ({ original }: { original: BenchLedger }) => {
      expect(await reservations()).toEqual([{ generation_id: 'later' }, { generation_id: 'open' }]);
      await original.ledger.settle('open', use(20n));
      await original.ledger.settle('later', use(30n));
      expect(await settled(original)).toEqual({
        settledNanos: 51n,
        reservedNanos: 0n,
        differenceNanos: 0n,
      });
      expect(await bench.rows.find('account-1', 'open')).toMatchObject({
        charge: credit(20n),
        row: { finish_reason: 'stop' },
      });
      expect(original.ledger.isAvailable).toBe(true);
      expect(original.ledger.restartReason).toBeNull();
      expect(original.warnings).toEqual([]);
    };

    it('changes nothing for it when a command opens it, which reads and sets balances all the same', async () => {
      const opened = await openedAndCopied();
      const { copy } = opened;
      const before = { journals: await journals(), owner: readFileSync(join(copy, 'gateway-owner'), 'utf8') };
      const warnings: Warning[] = [];
      const state = await command(copy, warnings);
      try {
        expect(await state.ledger.spendingOf('key', ['key-1'], 1)).toMatchObject([
          { credit: { lifetime: 1n } },
        ]);
        expect(await state.ledger.statementOf('account-1')).toMatchObject({
          settledNanos: 1n,
          reservedNanos: 50n,
        });
        expect(await state.ledger.verify()).toMatchObject({
          openReservations: 2,
          generations: 1,
          journal: { segments: 1, tornTailBytes: 0 },
        });
        expect(await state.ledger.rebuild()).toBe(1);
        await state.ledger.grant('account-1', 1_000n, 1);
        await expect(state.ledger.reserve(generation('no'), () => credit(1n))).rejects.toThrow(
          LedgerUnavailable,
        );
      } finally {
        await state.close();
      }
      expect(warnings).toEqual([
        { message: expect.stringContaining('its gateway books them'), fields: { open: 1, settled: 0 } },
      ]);
      expect(await journals()).toEqual(before.journals);
      expect(readFileSync(join(copy, 'gateway-owner'), 'utf8')).toBe(before.owner);
      await expectUntouched(opened);
    });

    it('gets no id from a command', async () => {
      const directory = bench.directory();
      const state = await command(directory);
      await state.close();
      expect(existsSync(join(directory, 'gateway-id'))).toBe(false);
      expect(await journals()).toEqual([]);
    });

    it('is not served, and says what to do', async () => {
      const opened = await openedAndCopied();
      const before = await journals();
      await expect(serve(opened.copy)).rejects.toThrow(GatewayIdInUse);
      await expect(serve(opened.copy)).rejects.toThrow(/Stop that gateway; or .* remove gateway-id/);
      expect(await journals()).toEqual(before);
      await expectUntouched(opened);
    });

    it('is not served either after the lock was lost and taken again', async () => {
      const opened = await openedAndCopied();
      const [before] = await lockHolders();
      await sql`select pg_terminate_backend(${before}::int)`.execute(bench.postgres.database);
      // The ended backend holds its lock until PostgreSQL has taken it down: only another holder is news.
      const retaken = async () => (await lockHolders()).some((pid) => pid !== before);
      await expect.poll(retaken).toBe(true);
      await expect(serve(opened.copy)).rejects.toThrow(GatewayIdInUse);
      await expectUntouched(opened);
    });

    it('is not served either after PostgreSQL was restarted', async () => {
      const opened = await openedAndCopied();
      await server.stop();
      await server.start();
      await expect.poll(() => opened.original.ledger.isAvailable).toBe(true);
      await expect.poll(heldLocks).toBe(1);
      await expect(serve(opened.copy)).rejects.toThrow(GatewayIdInUse);
      await expectUntouched(opened);
    });

    it('waits after a start without database, and releases nothing until the other has ended', async () => {
      const opened = await openedAndCopied();
      const before = await journals();
      const identity = new GatewayIdentity(opened.copy);
      let tries = 0;
      let isFree = false;
      const hold = async () => {
        tries += 1;
        if (tries === 1) throw new DatabaseUnavailable();
        if (!isFree) throw new GatewayIdInUse(identity.id);
      };
      const lock = { hold, close() {} };
      const copy = await bench.ledger(opened.copy, { gatewayId: identity.id, identity, lock });
      await expect.poll(() => tries).toBeGreaterThan(2);
      expect(await copy.ledger.sweep()).toBe(0);
      expect(copy.ledger.isAvailable).toBe(false);
      expect(await journals()).toEqual(before);
      await expectUntouched(opened);
      await opened.original.close();
      isFree = true;
      await expect.poll(() => copy.ledger.isAvailable).toBe(true);
      expect(await settled(copy)).toMatchObject({ settledNanos: 51n, differenceNanos: 0n });
    });

    it('may be served under its own id once that gateway has ended', async () => {
      const { original, copy } = await openedAndCopied();
      await original.ledger.settle('open', use(20n));
      await original.ledger.settle('later', use(30n));
      await original.close();
      const other = await serve(copy, lockWith(PATIENT_MS));
      expect(await settled(other)).toEqual({ settledNanos: 51n, reservedNanos: 0n, differenceNanos: 0n });
    });

    describe('that was started all the same, because it could not be noticed', () => {
      it('keeps its reservations, and the first gateway says that it must be restarted', async () => {
        const directory = bench.directory();
        const first = await serveUnlocked(directory);
        const second = await serveUnlocked(copyOf(directory));
        await second.ledger.reserve(generation('g1', keyLimit(100n)), () => credit(20n));
        expect(first.ledger.restartReason).toBeNull();
        await expect(first.ledger.sweep()).rejects.toThrow();
        expect(await reservations()).toEqual([{ generation_id: 'g1' }]);
        expect(first.ledger.restartReason).toMatch(/restart this gateway/);
        await expect(first.ledger.reserve(generation('g2'), () => credit(1n))).rejects.toThrow(
          /copies of one data directory.*restart this gateway/,
        );
        expect(await first.ledger.sweep()).toBe(0);
        expect(first.warnings).toHaveLength(1);
        await second.ledger.settle('g1', use(20n));
        expect(await settled(second)).toMatchObject({ settledNanos: 20n });
      });
    });
  });

  describe('a gateway that is killed again and again before it has read its journal in the database', () => {
    let bench: LedgerBench;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
    });

    afterEach(() => bench.close());

    it('is still the same gateway, and not taken for a copy', async () => {
      const directory = bench.directory();
      const serve = () => {
        const identity = new GatewayIdentity(directory);
        return bench.ledger(directory, { gatewayId: identity.id, identity });
      };
      const first = await serve();
      await first.ledger.reserve(generation('g1'), () => credit(5n));
      await first.ledger.checkpoint('g1', use(3n));
      await first.crash();
      const { id } = new GatewayIdentity(directory);
      for (let starts = 0; starts < 20; starts++) new GatewayIdentity(directory);
      const last = await serve();
      expect(last.warnings).toEqual([]);
      expect(new GatewayIdentity(directory).id).toBe(id);
      expect(await last.ledger.statementOf('account-1')).toMatchObject({
        settledNanos: 3n,
        reservedNanos: 0n,
      });
      const owners = readFileSync(join(directory, 'gateway-owner'), 'utf8').trim().split('\n');
      expect(owners.length).toBeLessThan(12);
    });
  });

  describe('the lock on the id of a gateway', () => {
    let bench: LedgerBench;
    const locks: GatewayLock[] = [];

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
    });

    afterEach(async () => {
      for (const lock of locks.splice(0)) lock.close();
      await bench.close();
    });

    const lockWith = (patienceMs: number, settlingMs = 0) => {
      const warnings: string[] = [];
      const warn = (message: string) => warnings.push(message);
      const lock = new GatewayLock({ address: bench.address, warn, patienceMs, settlingMs });
      locks.push(lock);
      return Object.assign(lock, { warnings });
    };

    it('is waited for, with a line in the log, while the session of an earlier run lasts', async () => {
      const earlier = lockWith(0);
      await earlier.hold('one');
      const next = lockWith(PATIENT_MS);
      const held = next.hold('one');
      await expect.poll(() => next.warnings).toHaveLength(1);
      expect(next.isHeld).toBe(false);
      earlier.close();
      await held;
      expect(next.isHeld).toBe(true);
      expect(next.warnings).toEqual([expect.stringContaining('waiting for it')]);
    });

    it('is held for one id only, and released for another', async () => {
      const one = lockWith(0);
      await one.hold('one');
      await one.hold('one');
      await lockWith(0).hold('two');
      await one.hold('three');
      await lockWith(PATIENT_MS).hold('one');
      await expect(lockWith(0).hold('three')).rejects.toThrow(GatewayIdInUse);
    });

    it('is not taken by a start right after PostgreSQL started, so that gateways that run come first', async () => {
      await server.stop();
      const stoppedAt = performance.now();
      await server.start();
      await lockWith(PATIENT_MS, 3_000).hold('one');
      expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(2_900);
    });

    it('is not waited for by a gateway that is closed', async () => {
      await lockWith(0).hold('one');
      const closing = new AbortController();
      const held = lockWith(PATIENT_MS).hold('one', closing.signal);
      closing.abort();
      await expect(held).rejects.toThrow(/abort/i);
    });
  });
}
