import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Limits } from '../../../src/ports/money/ledger.ts';
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

if (server !== undefined) {
  describe('a generation that used more than was reserved while PostgreSQL is unavailable', () => {
    let bench: LedgerBench;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
    });

    afterEach(() => bench.close());

    /** Reserves 10 nano-dollars and is cut off from the database. */
    const begun = async (limits: Limits, directory = bench.directory()): Promise<BenchLedger> => {
      const one = await bench.ledger(directory);
      expect(await one.ledger.reserve(generation('g1', limits), () => credit(10n))).toEqual({
        ok: true,
        reserved: credit(10n),
      });
      one.setAway(true);
      return one;
    };

    const moneyOf = async (one: BenchLedger) => {
      const { settledNanos, reservedNanos, writtenOffNanos, differenceNanos } =
        await one.ledger.statementOf('account-1');
      expect({ reservedNanos, differenceNanos }).toEqual({ reservedNanos: 0n, differenceNanos: 0n });
      return { settledNanos, writtenOffNanos };
    };

    it('is charged in full when no limit, budget or balance covers it', async () => {
      const one = await begun(NO_LIMITS);
      expect(await one.ledger.settle('g1', use(70n))).toEqual({ charge: credit(70n), writtenOffNanos: 0n });
      one.setAway(false);
      expect(await moneyOf(one)).toEqual({ settledNanos: 70n, writtenOffNanos: 0n });
      expect(await bench.rows.find('account-1', 'g1')).toMatchObject({
        charge: credit(70n),
        writtenOffNanos: 0n,
      });
    });

    it('is charged what was reserved when a limit or a balance covers it', async () => {
      const limited = await begun(keyLimit(1_000n));
      expect(await limited.ledger.settle('g1', use(70n))).toEqual({
        charge: credit(10n),
        writtenOffNanos: 60n,
      });
      limited.setAway(false);
      expect(await moneyOf(limited)).toEqual({ settledNanos: 10n, writtenOffNanos: 60n });
      await limited.ledger.grant('account-1', 1_000n, 1);
      await limited.ledger.reserve(generation('g2'), () => credit(10n));
      limited.setAway(true);
      expect(await limited.ledger.settle('g2', use(70n))).toMatchObject({ charge: credit(10n) });
    });

    it('takes no balance below zero that was set meanwhile', async () => {
      const one = await begun(NO_LIMITS);
      await one.ledger.settle('g1', use(70n));
      const other = await bench.ledger(bench.directory());
      await other.ledger.grant('account-1', 25n, 1);
      one.setAway(false);
      expect(await moneyOf(one)).toEqual({ settledNanos: 25n, writtenOffNanos: 45n });
    });
  });
}
