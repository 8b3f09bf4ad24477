import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailable, type Limits } from '../../../src/ports/money/ledger.ts';
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
const DAY_MS = 86_400_000;

const daily = (nanos: bigint): Limits => ({
  key: [{ window: 'daily', nanos, countsByok: false }],
  workspace: [],
});

if (server !== undefined) {
  describe('clocks of gateways that share PostgreSQL', () => {
    let bench: LedgerBench;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
      bench.timeMs = NOW;
    });

    afterEach(() => bench.close());

    const spentToday = async ({ ledger }: BenchLedger) =>
      (await ledger.spendingOf('key', ['key-1']))[0]?.credit.daily;

    /** A gateway whose clock is wrong by so much. */
    const openOff = (offsetMs: () => number, sweepMs = 3_600_000) =>
      bench.ledger(bench.directory(), {
        clock: { now: () => bench.timeMs + offsetMs(), monotonic: () => 0 },
        sweepMs,
      });

    it('do not empty the current window by a record that is two windows old', async () => {
      const one = await bench.ledger(bench.directory());
      await one.ledger.reserve(generation('g1', daily(100n)), () => credit(90n));
      await one.ledger.settle('g1', use(90n));
      expect(await spentToday(one)).toBe(90n);
      await one.ledger.reserve(generation('old', NO_LIMITS), () => credit(1n));
      await one.ledger.settle('old', use(1n, { atMs: NOW - 2 * DAY_MS }));
      expect(await spentToday(one)).toBe(91n);
      expect(await one.ledger.reserve(generation('g2', daily(100n)), () => credit(10n))).toMatchObject({
        ok: false,
        refusal: { leftNanos: 9n },
      });
    });

    it('do not let a daily limit be spent more than once when they are two days apart', async () => {
      const right = await bench.ledger(bench.directory());
      const wrong = await bench.ledger(bench.directory());
      let spent = 0n;
      for (let index = 0; index < 10; index++) {
        const [{ ledger }, atMs] = index % 2 === 0 ? [right, NOW] : [wrong, NOW + 2 * DAY_MS];
        const id = `g${index}`;
        const { ok } = await ledger.reserve({ ...generation(id, daily(100n)), atMs }, () => credit(40n));
        if (!ok) continue;
        await ledger.settle(id, use(40n, { atMs }));
        await ledger.statementOf('account-1');
        spent += 40n;
      }
      expect(spent).toBe(80n);
      bench.timeMs = NOW + DAY_MS;
      expect(await spentToday(right)).toBe(0n);
      expect(await right.ledger.reserve(generation('next', daily(100n)), () => credit(100n))).toMatchObject({
        ok: true,
      });
    });

    it('are warned of above two seconds, once, with both times; and once when they agree again', async () => {
      let offsetMs = 2_001;
      let read = 0;
      const { warnings, ledger } = await openOff(() => {
        read += 1;
        return offsetMs;
      }, 10);
      /** Until the clocks were compared a few times more. */
      const comparedAgain = () => expect.poll(() => read).toBeGreaterThan(read + 3);
      expect(ledger.clockAheadMs).toBe(2_001);
      await comparedAgain();
      const told = () => warnings.map(({ message }) => message);
      expect(warnings).toEqual([
        {
          message: expect.stringContaining('differs from that of the database'),
          fields: {
            gateway_time: '2025-06-15T12:00:02.001Z',
            database_time: '2025-06-15T12:00:00.000Z',
            mend: expect.stringContaining('NTP'),
          },
        },
      ]);
      offsetMs = -2_000;
      await expect.poll(() => told().length).toBe(2);
      await comparedAgain();
      expect(told()).toHaveLength(2);
      expect(told()[1]).toContain('agrees with that of the database again');
      expect(await ledger.reserve(generation('g1', keyLimit(5n)), () => credit(1n))).toMatchObject({
        ok: true,
      });
    });

    it.each([61_000, -61_000])('that are %i ms apart serve nothing that a limit covers', async (offsetMs) => {
      const { ledger } = await openOff(() => offsetMs);
      const reserve = (id: string, limits: Limits) =>
        ledger.reserve(generation(id, limits), () => credit(1n));
      expect(await reserve('free', NO_LIMITS)).toMatchObject({ ok: true });
      const refused = await reserve('g1', keyLimit(100n)).catch((error: Error) => error);
      expect(refused).toBeInstanceOf(LedgerUnavailable);
      expect(String(refused)).toContain(
        `the clock of this gateway is 61 s ${offsetMs > 0 ? 'ahead of' : 'behind'}`,
      );
      const budget: Limits = { key: [], workspace: [{ window: 'monthly', nanos: 9n, countsByok: true }] };
      await expect(reserve('g2', budget)).rejects.toThrow('the clock of this gateway');
      await ledger.grant('account-1', 100n, NOW);
      await expect(reserve('g3', NO_LIMITS)).rejects.toThrow('the clock of this gateway');
      expect(ledger.openReservations).toBe(1);
    });
  });
}
