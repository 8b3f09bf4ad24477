import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailable, type Limits, type NewGeneration } from '../../../src/ports/money/ledger.ts';
import {
  type BenchLedger,
  credit,
  generation,
  keyLimit,
  LedgerBench,
  NO_LIMITS,
  use,
} from '../../kit/servers/ledger-bench.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const NOW = Date.parse('2025-06-15T12:00:00Z');
const AMPLE = keyLimit(10n ** 12n);

/** Every payer gets a slice after its second reservation. Time passes by steps of the tests. */
const EAGER = {
  slices: () => ({ maxNanos: 1_000n, maxShare: 0.5, hotReservations: 1.5 }),
  heartbeatMs: 3_600_000,
};

if (server !== undefined) {
  describe('slices of gateways that share PostgreSQL', () => {
    let bench: LedgerBench;
    let ids = 0;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
      bench.timeMs = NOW;
    });

    afterEach(() => bench.close());

    const reserve = async (
      { ledger }: BenchLedger,
      nanos: bigint,
      limits = AMPLE,
    ): Promise<string | undefined> => {
      const id = `g${ids++}`;
      const { ok } = await ledger.reserve(generation(id, limits), () => credit(nanos));
      return ok ? id : undefined;
    };

    const spend = async (gateway: BenchLedger, nanos: bigint, limits = AMPLE) => {
      const id = await reserve(gateway, nanos, limits);
      if (id !== undefined) await gateway.ledger.settle(id, use(nanos));
      return id;
    };

    /** Amounts that the database holds for slices. */
    const held = async (): Promise<bigint[]> => {
      const { rows } = await sql<{ credit_nanos: string }>`
        select credit_nanos from ledger_reservations where generation_id like 'slice-%'`.execute(
        bench.postgres.database,
      );
      return rows.map((row) => BigInt(row.credit_nanos));
    };

    /** A gateway whose payer has a slice. */
    const withSlice = async (directory = bench.directory(), limits = AMPLE): Promise<BenchLedger> => {
      const gateway = await bench.ledger(directory, EAGER);
      for (let index = 0; index < 4; index++) await spend(gateway, 10n, limits);
      await expect.poll(held).not.toEqual([]);
      await expect.poll(() => gateway.ledger.slices.freeNanos).toBeGreaterThan(0n);
      return gateway;
    };

    const expectRight = async ({ ledger }: BenchLedger) => {
      for (const { fault, differenceNanos } of (await ledger.verify()).accounts) {
        expect([fault, differenceNanos]).toEqual([null, 0n]);
      }
    };

    const pass = async (seconds: number, beating: readonly BenchLedger[]) => {
      for (let passed = 0; passed < seconds; passed += 5) {
        bench.timeMs += 5_000;
        for (const { ledger } of beating) {
          await ledger.beat();
          await ledger.sweep();
        }
      }
    };

    it('cost a hot key far less than a statement for each generation', async () => {
      const one = await bench.ledger(bench.directory(), {
        ...EAGER,
        slices: () => ({ maxNanos: 10n ** 9n, maxShare: 0.5 }),
      });
      const before = one.statements();
      const beganAt = performance.now();
      for (let index = 0; index < 1_000; index++) {
        expect(await spend(one, 10n)).toBeDefined();
        bench.timeMs += 1;
      }
      // Ends are booked every 100 ms of real time, however long the machine takes.
      const bookings = Math.ceil((performance.now() - beganAt) / 100);
      const statements = one.statements() - before;
      await expectRight(one);
      expect((await one.ledger.statementOf('account-1')).settledNanos).toBe(10_000n);
      expect((statements - bookings) / 1_000).toBeLessThan(0.05);
      const { paidGenerations, statements: ofSlices } = one.ledger.slices;
      expect(paidGenerations).toBeGreaterThan(900);
      expect(ofSlices).toBeLessThanOrEqual(statements);
      expect(ofSlices).toBeGreaterThan(0);
    });

    it('serve while the database is away, up to what they hold, and not after their lease', async () => {
      const one = await withSlice();
      for (let index = 0; index < 26; index++) await spend(one, 10n);
      await expect.poll(() => one.ledger.slices.freeNanos).toBeGreaterThan(200n);
      one.setAway(true);
      let served = 300n;
      const serve = async () => {
        await expect(reserve(one, 10n, keyLimit(10n ** 11n))).rejects.toThrow(LedgerUnavailable);
        await expect(spend(one, 10n)).resolves.toBeDefined();
        served += 10n;
      };
      for (let second = 0; second < 15; second++) {
        await serve();
        bench.timeMs += 1_000;
      }
      bench.timeMs += 20_000;
      await expect(reserve(one, 10n)).rejects.toThrow(LedgerUnavailable);
      one.setAway(false);
      await expectRight(one);
      expect((await one.ledger.statementOf('account-1')).settledNanos).toBe(served);
    });

    it('are never exceeded while the database is away', async () => {
      const one = await withSlice();
      const free = one.ledger.slices.freeNanos;
      one.setAway(true);
      let served = 0n;
      for (;;) {
        const id = await spend(one, 7n).catch(() => undefined);
        if (id === undefined) break;
        served += 7n;
      }
      expect(served).toBe((free / 7n) * 7n);
      one.setAway(false);
      expect((await one.ledger.statementOf('account-1')).settledNanos).toBe(40n + served);
    });

    it('give back what a generation did not use, and pay for more than it reserved', async () => {
      const one = await withSlice();
      const free = one.ledger.slices.freeNanos;
      const id = (await reserve(one, 30n)) ?? '';
      expect(one.ledger.slices.freeNanos).toBeLessThanOrEqual(free);
      expect(await one.ledger.settle(id, use(35n))).toEqual({ charge: credit(35n), writtenOffNanos: 0n });
      const voided = (await reserve(one, 30n)) ?? '';
      await one.ledger.void(voided, bench.timeMs);
      const raised = (await reserve(one, 10n)) ?? '';
      expect(await one.ledger.topUp(raised, () => credit(20n), bench.timeMs)).toEqual({
        ok: true,
        more: credit(20n),
      });
      expect(await one.ledger.settle(raised, use(28n))).toMatchObject({ charge: credit(28n) });
      expect(await one.ledger.statementOf('account-1')).toMatchObject({
        settledNanos: 103n,
        reservedNanos: 0n,
      });
      await expectRight(one);
    });

    it('pay for what a generation used beyond its reservation when the database answers too late', async () => {
      const one = await bench.ledger(bench.directory(), { ...EAGER, reservationMs: 400 });
      for (let index = 0; index < 4; index++) await spend(one, 10n);
      await expect.poll(() => one.ledger.slices.freeNanos).toBeGreaterThan(0n);
      const id = (await reserve(one, 10n)) ?? '';
      await expect.poll(() => one.ledger.lag.database).toBe(0);
      one.setLate(1_500);
      const free = one.ledger.slices.freeNanos;
      const settled = one.ledger.settle(id, use(free + 50n));
      const first = await Promise.race([settled, delay(1_400, 'late')]);
      expect(first).toMatchObject({ charge: credit(10n + free) });
      one.setLate(0);
      // The extension comes after all, and what it holds is returned.
      await delay(1_500);
      expect(await one.ledger.statementOf('account-1')).toMatchObject({
        settledNanos: 50n + free,
        reservedNanos: 0n,
      });
      await expectRight(one);
      await one.close();
      expect(await held()).toEqual([]);
    });

    it('are returned when they are not used, and at the end of their gateway', async () => {
      const one = await withSlice();
      bench.timeMs += 10_000;
      await expect.poll(held).toEqual([]);
      for (let index = 0; index < 4; index++) await spend(one, 10n);
      await expect.poll(held).not.toEqual([]);
      await one.close();
      expect(await held()).toEqual([]);
    });

    it('leave the last nano-dollar of a limit to be spent', async () => {
      const one = await bench.ledger(bench.directory(), EAGER);
      const limits = keyLimit(500n);
      for (let index = 0; index < 50; index++)
        expect(await spend(one, 10n, limits), `spend ${index}`).toBeDefined();
      expect(await spend(one, 1n, limits)).toBeUndefined();
      expect((await one.ledger.statementOf('account-1')).settledNanos).toBe(500n);
    });

    it('follow a limit that is lowered', async () => {
      const one = await withSlice();
      expect(await reserve(one, 10n, keyLimit(45n))).toBeUndefined();
      expect(await reserve(one, 5n, keyLimit(45n))).toBeDefined();
    });

    it('of a gateway that died are released within 60 s; what it books then stays within the limit', async () => {
      const alive = await bench.ledger(bench.directory(), EAGER);
      const limits = keyLimit(200n);
      const directory = bench.directory();
      const dying = await withSlice(directory, limits);
      const open = (await reserve(dying, 20n, limits)) ?? '';
      await dying.ledger.checkpoint(open, use(20n));
      await dying.crash();
      await pass(55, [alive]);
      expect(await held()).toEqual([]);
      let spent = 0n;
      while ((await spend(alive, 10n, limits)) !== undefined) spent += 10n;
      // Returns its own slice, as it has nothing open.
      await alive.ledger.statementOf('account-1');
      const back = await bench.ledger(directory, EAGER);
      expect(await back.ledger.statementOf('account-1')).toMatchObject({ reservedNanos: 0n, fault: null });
      const [key] = await back.ledger.spendingOf('key', ['key-1']);
      expect(key?.credit.lifetime).toBe(200n);
      expect(spent).toBeGreaterThan(0n);
      expect(await bench.rows.find('account-1', open)).toMatchObject({ writtenOffCause: 'released' });
    });

    it('of an earlier run pay for what it left open, and are released then', async () => {
      const directory = bench.directory();
      const limits = keyLimit(100n);
      const first = await withSlice(directory, limits);
      const open = (await reserve(first, 15n, limits)) ?? '';
      await first.ledger.checkpoint(open, use(15n));
      await first.crash();
      const second = await bench.ledger(directory, EAGER);
      await second.ledger.statementOf('account-1');
      await second.ledger.sweep();
      expect(await held()).toEqual([]);
      expect(await second.ledger.statementOf('account-1')).toMatchObject({ settledNanos: 55n, fault: null });
      expect(await bench.rows.find('account-1', open)).toMatchObject({
        charge: credit(15n),
        writtenOffNanos: 0n,
      });
    });

    it('that were taken back are noticed by booking, and replaced', async () => {
      const one = await withSlice(bench.directory(), keyLimit(1_000n));
      const open = (await reserve(one, 10n, keyLimit(1_000n))) ?? '';
      const { database } = bench.postgres;
      // As another gateway does that takes this one for dead.
      const other = await bench.ledger(bench.directory(), EAGER);
      await sql`update ledger_reservations set expires_at_ms = 0 where generation_id like 'slice-%'`.execute(
        database,
      );
      await other.ledger.sweep();
      await one.ledger.settle(open, use(10n));
      await one.ledger.statementOf('account-1');
      expect(one.ledger.slices.freeNanos).toBe(0n);
      for (let index = 0; index < 3; index++) await spend(one, 10n, keyLimit(1_000n));
      await expectRight(one);
      expect((await one.ledger.statementOf('account-1')).settledNanos).toBe(80n);
    });

    it('are returned before a balance is set, and serve those that no limit covers too', async () => {
      const one = await withSlice(bench.directory(), NO_LIMITS);
      await one.ledger.grant('account-1', 25n, bench.timeMs);
      expect(await held()).toEqual([]);
      const outcomes = await Promise.all([
        reserve(one, 10n, NO_LIMITS),
        reserve(one, 10n, NO_LIMITS),
        reserve(one, 10n, NO_LIMITS),
      ]);
      expect(outcomes.filter((id) => id !== undefined)).toHaveLength(2);
    });

    it('that are out at midnight pay for the new day, no more than its limit and all of it', async () => {
      bench.timeMs = Date.parse('2025-06-15T23:59:58Z');
      const limits: Limits = { key: [{ window: 'daily', nanos: 300n, countsByok: false }], workspace: [] };
      const gateways = [
        await withSlice(bench.directory(), limits),
        await withSlice(bench.directory(), limits),
      ] as const;
      const across = (await reserve(gateways[0], 10n, limits)) ?? '';
      const today = async () =>
        (await gateways[0].ledger.spendingOf('key', ['key-1']))[0]?.credit.daily ?? 0n;
      await expect.poll(today).toBe(80n);
      bench.timeMs += 4_000;
      expect(await today()).toBe(0n);
      await gateways[0].ledger.settle(across, use(10n, { atMs: bench.timeMs }));
      let spent = 10n;
      for (let refusedInTurn = 0; refusedInTurn < 2; ) {
        for (const gateway of gateways) {
          const id = await spend(gateway, 10n, limits);
          refusedInTurn = id === undefined ? refusedInTurn + 1 : 0;
          if (id !== undefined) spent += 10n;
        }
      }
      for (const gateway of gateways) await expectRight(gateway);
      expect(spent).toBe(300n);
      expect(await today()).toBe(300n);
    });

    it.each([3_600_000, -3_600_000])(
      'are not spent while the clock of their gateway is wrong by %i ms, and are afterwards',
      async (jumpMs) => {
        let offsetMs = 0;
        const one = await bench.ledger(bench.directory(), {
          ...EAGER,
          sweepMs: 10,
          clock: { now: () => bench.timeMs + offsetMs, monotonic: () => bench.timeMs },
        });
        const limits: Limits = { key: [{ window: 'daily', nanos: 500n, countsByok: false }], workspace: [] };
        for (let index = 0; index < 4; index++) await spend(one, 10n, limits);
        await expect.poll(() => one.ledger.slices.freeNanos).toBeGreaterThan(0n);
        offsetMs = jumpMs;
        await expect.poll(() => one.ledger.clockAheadMs).toBe(jumpMs);
        await expect(reserve(one, 10n, limits)).rejects.toThrow(LedgerUnavailable);
        offsetMs = 0;
        await expect.poll(() => one.ledger.clockAheadMs).toBe(0);
        let spent = 40n;
        while ((await spend(one, 10n, limits)) !== undefined) spent += 10n;
        await expectRight(one);
        expect(spent).toBe(500n);
      },
    );

    it('of keys under one budget of a member, and one of a workspace, pass neither', async () => {
      const limits: Limits = {
        key: [],
        member: [{ window: 'monthly', nanos: 300n, countsByok: true }],
        workspace: [{ window: 'weekly', nanos: 400n, countsByok: true }],
      };
      const patient = { ...EAGER, reservationMs: 60_000 };
      const gateways = [
        await bench.ledger(bench.directory(), patient),
        await bench.ledger(bench.directory(), patient),
      ] as const;
      const spendAs = async (member: string, index: number): Promise<bigint> => {
        const { ledger } = gateways[index % 2] ?? gateways[0];
        const id = `${member}-${index}`;
        const asked = generation(id, limits);
        const scopes = { ...asked.scopes, member };
        const { ok } = await ledger.reserve({ ...asked, scopes }, () => credit(9n));
        if (!ok) return 0n;
        // Some use more than they reserved, within what the budgets leave.
        const { charge } = await ledger.settle(id, use(index % 5 === 0 ? 12n : 7n));
        return charge.creditNanos;
      };
      const spentBy = async (member: string) => {
        const spent = await Promise.all(Array.from({ length: 80 }, (_, index) => spendAs(member, index)));
        return spent.reduce((sum, nanos) => sum + nanos, 0n);
      };
      const [one, other] = await Promise.all([spentBy('member-1'), spentBy('member-2')]);
      for (const gateway of gateways) await expectRight(gateway);
      const [workspace] = await gateways[0].ledger.spendingOf('workspace', ['workspace-1']);
      expect(workspace?.credit.weekly).toBe(one + other);
      for (const spent of [one, other]) expect(spent).toBeLessThanOrEqual(300n);
      expect(one + other).toBeLessThanOrEqual(400n);
      expect(one + other).toBeGreaterThan(300n);
    });

    it('let 600 racing requests of three gateways pass no limit, one of which is killed', async () => {
      const limits: Limits = {
        key: [{ window: 'daily', nanos: 2_000n, countsByok: false }],
        workspace: [{ window: 'lifetime', nanos: 2_500n, countsByok: true }],
      };
      const directories = [bench.directory(), bench.directory(), bench.directory()];
      const gateways = await Promise.all(directories.map((directory) => bench.ledger(directory, EAGER)));
      const served = await Promise.all(
        Array.from({ length: 600 }, async (_, index) => {
          const { ledger, crash } = gateways[index % 3]!;
          const id = `race-${index}`;
          const asked: NewGeneration = generation(id, limits);
          if (index === 301) await crash();
          try {
            const { ok } = await ledger.reserve(asked, () => credit(9n));
            if (!ok) return undefined;
            await ledger.checkpoint(id, use(9n));
            await ledger.settle(id, use(index % 5 === 0 ? 14n : 6n));
            return id;
          } catch (error) {
            if (!(error instanceof LedgerUnavailable)) throw error;
            return undefined;
          }
        }),
      );
      await bench.ledger(directories[1]!, EAGER);
      const [one] = gateways;
      await pass(60, [one!, gateways[2]!]);
      await gateways[2]!.ledger.statementOf('account-1');
      const { accounts } = await one!.ledger.verify();
      expect(accounts).toMatchObject([{ fault: null, differenceNanos: 0n, reservedNanos: 0n }]);
      const [key] = await one!.ledger.spendingOf('key', ['key-1']);
      expect(key?.credit.daily).toBeLessThanOrEqual(2_000n);
      expect(served.filter((id) => id !== undefined).length).toBeGreaterThan(100);
    });
  });
}
