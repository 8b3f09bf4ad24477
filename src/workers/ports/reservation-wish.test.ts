import { describe, expect, it } from 'vitest';
import type { Headroom } from '../../ports/money/ledger.ts';
import { mayReserve, PLENTY_FACTOR, type ReservationWish } from './reservation-wish.ts';

const room = (nanos: bigint | null): Headroom => {
  const affordable = { creditNanos: nanos, totalNanos: nanos };
  return { affordable, unspent: affordable };
};

const wish = (
  nanos: bigint | null,
  seen: bigint | null,
  more: Partial<ReservationWish> = {},
): ReservationWish => ({
  amount: nanos === null ? null : { creditNanos: nanos, byokNanos: 0n },
  seen: room(seen),
  isFresh: false,
  isLast: false,
  ...more,
});

describe('mayReserve', () => {
  it('passes what was sized for the headroom that there is, even if it does not fit: the ledger refuses it', () => {
    expect(mayReserve(wish(5n, 4n), room(4n))).toBe(true);
    expect(mayReserve(wish(null, 4n), room(4n))).toBe(true);
    expect(mayReserve(wish(5n, null), room(null))).toBe(true);
  });

  it('asks for another size if a limit has come or gone', () => {
    expect(mayReserve(wish(5n, null), room(1_000n))).toBe(false);
    expect(mayReserve(wish(5n, 1_000n), room(null))).toBe(false);
    expect(mayReserve(wish(5n, null, { isFresh: true }), room(1_000n))).toBe(false);
  });

  it('passes an old wish only if there is plenty', () => {
    expect(mayReserve(wish(5n, 1_000n), room(5n * PLENTY_FACTOR))).toBe(true);
    expect(mayReserve(wish(5n, 1_000n), room(5n * PLENTY_FACTOR - 1n))).toBe(false);
    expect(mayReserve(wish(null, 1_000n), room(2_000n))).toBe(false);
  });

  it('passes a fresh wish that still fits', () => {
    expect(mayReserve(wish(5n, 9n, { isFresh: true }), room(5n))).toBe(true);
    expect(mayReserve(wish(5n, 9n, { isFresh: true }), room(4n))).toBe(false);
  });

  it('counts credits and BYOK together against the total', () => {
    const both = { ...wish(1n, 9n, { isFresh: true }), amount: { creditNanos: 1n, byokNanos: 4n } };
    const only = (totalNanos: bigint): Headroom => {
      const affordable = { creditNanos: null, totalNanos };
      return { affordable, unspent: affordable };
    };
    expect(mayReserve(both, only(5n))).toBe(true);
    expect(mayReserve(both, only(4n))).toBe(false);
  });

  it('leaves the last try to the ledger', () => {
    expect(mayReserve(wish(5n, 9n, { isLast: true }), room(1n))).toBe(true);
  });
});
