import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billOf } from '../../catalog/prices/bill.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { chargeOf, type Price } from '../../kit/money.ts';
import type { Leg } from '../leg/leg.ts';
import { accountOf, type LegSoFar } from './account.ts';

/** A leg of so many prompt tokens at a price. */
function legOf(inputTokens: number, prompt: Price): LegSoFar {
  const usage = { ...NO_USAGE, inputTokens, source: 'measured' as const };
  return {
    leg: {} as Leg,
    usage,
    bill: billOf({ usage, inputImages: 0 }, { prompt }),
    status: 'completed',
  };
}

/** Prices far below and above a nano-dollar a token. */
const lines = fc.array(fc.tuple(fc.nat(100_000), fc.bigInt({ min: 0n, max: 3_000_000_000n })), {
  maxLength: 12,
});

describe('the account of a generation', () => {
  it('is summed exactly over its legs and rounded once', () => {
    fc.assert(
      fc.property(lines, (all) => {
        const { bill, used } = accountOf(
          all.map(([tokens, price]) => legOf(tokens, price)),
          [],
        );
        expect(bill.totalNanos).toBe(chargeOf(all));
        expect(bill.inputNanos + bill.outputNanos).toBe(bill.totalNanos);
        expect(used).toEqual({ creditNanos: bill.totalNanos, byokNanos: 0n });
      }),
    );
  });

  it('charges three legs of 1,000.4 nano-dollars 3,001', () => {
    const leg = legOf(1, 1_000_400_000_000n);
    expect(leg.bill.totalNanos).toBe(1_000n);
    expect(accountOf([leg, leg, leg], []).bill.totalNanos).toBe(3_001n);
  });

  it('never falls while legs are added', () => {
    fc.assert(
      fc.property(lines, (all) => {
        const legs = all.map(([tokens, price]) => legOf(tokens, price));
        const sums = legs.map((_, index) => accountOf(legs.slice(0, index + 1), []).bill.totalNanos);
        expect(sums).toEqual(sums.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0)));
      }),
    );
  });
});
