import type { Amount } from '../../ir/amount.ts';
import type { Affordable, Headroom } from '../../ports/money/ledger.ts';

/** An amount that a worker wants reserved, and the headroom that it was sized for. */
export interface ReservationWish {
  /** Null = too little money in that headroom. */
  readonly amount: Amount | null;
  readonly seen: Headroom;
  /** True if the owner has told `seen` for this reservation; false = it is from an earlier one of the same key. */
  readonly isFresh: boolean;
  /** True if the ledger is to decide by the amount alone, whatever the headroom is by now. */
  readonly isLast: boolean;
}

/** The wish cannot be met: the worker has to size its reservation for this headroom. */
export interface UnmetWish {
  readonly headroom: Headroom;
}

/**
 * If the headroom covers this many times a wish, the worker would not size it otherwise. More than the factor by which
 * admission finds that there is plenty of money and does not count the prompt.
 */
export const PLENTY_FACTOR = 16n;

/**
 * Whether a wish may go to the ledger, given the current headroom. A fresh one may as soon as it fits: the headroom was
 * as the worker saw it at a moment since the reservation began.
 */
export function mayReserve(wish: ReservationWish, headroom: Headroom): boolean {
  if (wish.isLast || isSame(wish.seen, headroom)) return true;
  const { amount } = wish;
  // With and without a limit, different amounts are reserved.
  if (amount === null || isUnlimited(wish.seen) || isUnlimited(headroom)) return false;
  if (wish.isFresh) return fits(amount, 1n, headroom.affordable);
  // An amount of 0 is covered by any headroom, and says nothing about the size for another one.
  return amount.creditNanos + amount.byokNanos > 0n && fits(amount, PLENTY_FACTOR, headroom.affordable);
}

function isUnlimited({ affordable }: Headroom): boolean {
  return affordable.creditNanos === null && affordable.totalNanos === null;
}

function isSame(one: Headroom, other: Headroom): boolean {
  return isEqual(one.affordable, other.affordable) && isEqual(one.unspent, other.unspent);
}

function isEqual(one: Affordable, other: Affordable): boolean {
  return one.creditNanos === other.creditNanos && one.totalNanos === other.totalNanos;
}

function fits(
  { creditNanos, byokNanos }: Amount,
  times: bigint,
  { creditNanos: credit, totalNanos: total }: Affordable,
): boolean {
  return (
    (credit === null || creditNanos * times <= credit) &&
    (total === null || (creditNanos + byokNanos) * times <= total)
  );
}
