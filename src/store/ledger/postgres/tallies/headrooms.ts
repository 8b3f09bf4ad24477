import type { Amount } from '../../../../ir/amount.ts';
import type { Affordable, Headroom } from '../../../../ports/money/ledger.ts';

const NO_LIMIT: Affordable = { creditNanos: null, totalNanos: null };

/** The headroom of a payer that no limit covers. */
export const UNLIMITED: Headroom = { affordable: NO_LIMIT, unspent: NO_LIMIT };

export function isWithoutLimit({ affordable: { creditNanos, totalNanos } }: Headroom): boolean {
  return creditNanos === null && totalNanos === null;
}

/** A headroom with more that can be reserved. */
export function raisedBy({ affordable, unspent }: Headroom, { creditNanos, byokNanos }: Amount): Headroom {
  const { creditNanos: credit, totalNanos: total } = affordable;
  return {
    affordable: {
      creditNanos: credit === null ? null : credit + creditNanos,
      totalNanos: total === null ? null : total + creditNanos + byokNanos,
    },
    unspent,
  };
}

export function isAffordable({ creditNanos, totalNanos }: Affordable, amount: Amount): boolean {
  if (creditNanos !== null && amount.creditNanos > creditNanos) return false;
  return totalNanos === null || amount.creditNanos + amount.byokNanos <= totalNanos;
}
