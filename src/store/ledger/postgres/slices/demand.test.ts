import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../../ir/amount.ts';
import { Demand } from './demand.ts';

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });

describe('demand', () => {
  /** A generation every 10 ms that reserves 300 and costs 100. */
  const steady = (ms: number) => {
    const demand = new Demand(0);
    for (let atMs = 10; atMs <= ms; atMs += 10) {
      demand.reserved(credit(300n), atMs);
      demand.charged(credit(100n), atMs);
    }
    return demand;
  };

  it('of a steady stream is what it spends in 25 s, and what it reserves in 2 s, from its first second on', () => {
    const perSecond = 100n;
    const expected = perSecond * (100n * 25n + 300n * 2n);
    for (const ms of [1_000, 60_000]) {
      const { creditNanos, byokNanos } = steady(ms).target(ms);
      expect(Number(creditNanos) / Number(expected)).toBeCloseTo(1, 1);
      expect(byokNanos).toBe(0n);
    }
  });

  it('of a few large reservations is four of them at least', () => {
    const demand = new Demand(0);
    demand.reserved(credit(1_000n), 60_000);
    expect(demand.target(60_000)).toEqual(credit(4_000n));
    expect(demand.largest(60_000)).toEqual(credit(1_000n));
  });

  it('fades when nothing comes', () => {
    const demand = steady(10_000);
    expect(demand.count(10_000)).toBeGreaterThan(300);
    expect(demand.count(40_000)).toBeLessThan(1);
    expect(demand.target(100_000).creditNanos).toBeLessThanOrEqual(1n);
  });

  it('is not confused by a clock that stands still', () => {
    const demand = new Demand(100);
    for (let index = 0; index < 10; index++) demand.reserved(credit(1n), 100);
    demand.reserved(credit(1n), 50);
    expect([demand.count(100), demand.atMs]).toEqual([11, 100]);
  });
});
