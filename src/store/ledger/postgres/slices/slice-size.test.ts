import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Amount, NOTHING, plus } from '../../../../ir/amount.ts';
import { missingInSlice } from './slice-size.ts';

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });
const UNLIMITED = { creditNanos: null, totalNanos: null };
const BOUNDS = { maxNanos: 1_000n, maxShare: 0.1 };

describe('the size of a slice', () => {
  const missing = (wanted: bigint, free: bigint, left: bigint | null, least = 0n) =>
    missingInSlice(
      { wanted: credit(wanted), least: credit(least) },
      credit(free),
      { creditNanos: left, totalNanos: null },
      BOUNDS,
    );

  it('is what is wanted, within the bounds', () => {
    expect(missing(300n, 0n, null)).toEqual(credit(300n));
    expect(missing(300n, 100n, null)).toEqual(credit(200n));
    expect(missing(5_000n, 0n, null)).toEqual(credit(1_000n));
    expect(missing(5_000n, 0n, 800n)).toEqual(credit(80n));
    expect(missing(300n, 300n, null)).toBeNull();
  });

  it('is nothing if it would be of no use', () => {
    expect(missing(300n, 0n, 800n, 90n)).toBeNull();
    expect(missing(300n, 0n, 800n, 80n)).toEqual(credit(80n));
    expect(missing(300n, 0n, 0n)).toBeNull();
  });

  it('never takes more than its share of what is left, of credits alone or with BYOK', () => {
    const nanos = fc.bigInt(0n, 10n ** 12n);
    const amount = fc.record({ creditNanos: nanos, byokNanos: nanos });
    const left = fc.option(nanos);
    fc.assert(
      fc.property(amount, left, left, (wanted, creditNanos, totalNanos) => {
        const more = missingInSlice({ wanted, least: NOTHING }, NOTHING, { creditNanos, totalNanos }, BOUNDS);
        const { creditNanos: credit, byokNanos: byok } = plus(more ?? NOTHING, NOTHING);
        if (creditNanos !== null) expect(credit * 10n).toBeLessThanOrEqual(creditNanos);
        if (totalNanos !== null) expect((credit + byok) * 10n).toBeLessThanOrEqual(totalNanos);
        expect(credit <= BOUNDS.maxNanos && byok <= BOUNDS.maxNanos && credit >= 0n && byok >= 0n).toBe(true);
      }),
    );
    expect(missingInSlice({ wanted: credit(5n), least: NOTHING }, NOTHING, UNLIMITED, BOUNDS)).toEqual(
      credit(5n),
    );
  });
});
