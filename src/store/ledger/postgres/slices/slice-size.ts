import { type Amount, isWithinAmount, plus } from '../../../../ir/amount.ts';
import type { Nanos } from '../../../../kit/money.ts';
import type { Affordable } from '../../../../ports/money/ledger.ts';

/** Bounds of what a gateway holds ahead for one payer. */
export interface SliceBounds {
  /** The most that may be free in a slice, nano-dollars; 0 = there are no slices. */
  readonly maxNanos: Nanos;
  /** The most that may be free in a slice, as a share of what is left of the tightest limit, from 0 to 1. */
  readonly maxShare: number;
  /** A payer with this many reservations in the last four seconds gets a slice; absent = `HOT_RESERVATIONS`. */
  readonly hotReservations?: number;
}

/** Parts into which a limit is divided for exact arithmetic. */
const PARTS = 1_000_000;

/** What a slice should have free. */
export interface SliceTarget {
  readonly wanted: Amount;
  /** Smallest useful amount: the largest recent reservation. */
  readonly least: Amount;
}

/**
 * What a slice that has `free` should reserve more to have what is wanted, or what the bounds allow if that is less;
 * null when nothing is missing, or when it would not have the least.
 */
export function missingInSlice(
  { wanted, least: needed }: SliceTarget,
  free: Amount,
  affordable: Affordable,
  { maxNanos, maxShare }: SliceBounds,
): Amount | null {
  const share = (left: Nanos | null): Nanos | null =>
    left === null ? null : (left * BigInt(Math.round(maxShare * PARTS))) / BigInt(PARTS);
  const credit = least(
    wanted.creditNanos,
    maxNanos,
    share(affordable.creditNanos),
    share(affordable.totalNanos),
  );
  const total = share(affordable.totalNanos);
  const byok = least(wanted.byokNanos, maxNanos, total === null ? null : total - credit);
  const more: Amount = {
    creditNanos: atLeastZero(credit - free.creditNanos),
    byokNanos: atLeastZero(byok - free.byokNanos),
  };
  if (more.creditNanos === 0n && more.byokNanos === 0n) return null;
  return isWithinAmount(needed, plus(free, more)) ? more : null;
}

function least(first: Nanos, ...others: (Nanos | null)[]): Nanos {
  return others.reduce<Nanos>((low, nanos) => (nanos !== null && nanos < low ? nanos : low), first);
}

function atLeastZero(nanos: Nanos): Nanos {
  return nanos > 0n ? nanos : 0n;
}
