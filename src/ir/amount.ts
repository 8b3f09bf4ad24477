import type { Nanos } from '../kit/money.ts';

/** Money of one generation: reserved, spent so far, or spent in the end. Never negative. */
export interface Amount {
  /** Charged to the account. */
  readonly creditNanos: Nanos;
  /** List price of what the account's BYOK credentials served: billed by their provider, counted here. */
  readonly byokNanos: Nanos;
}

export const NOTHING: Amount = { creditNanos: 0n, byokNanos: 0n };

export function plus(one: Amount, other: Amount): Amount {
  return {
    creditNanos: one.creditNanos + other.creditNanos,
    byokNanos: one.byokNanos + other.byokNanos,
  };
}

export function minus(whole: Amount, part: Amount): Amount {
  return {
    creditNanos: whole.creditNanos - part.creditNanos,
    byokNanos: whole.byokNanos - part.byokNanos,
  };
}

export function isSameAmount(one: Amount, other: Amount): boolean {
  return one.creditNanos === other.creditNanos && one.byokNanos === other.byokNanos;
}

/** Whether neither side is greater. */
export function isWithinAmount(one: Amount, other: Amount): boolean {
  return one.creditNanos <= other.creditNanos && one.byokNanos <= other.byokNanos;
}

/** The greater one on each side. */
export function atLeast(one: Amount, other: Amount): Amount {
  if (one.creditNanos <= other.creditNanos && one.byokNanos <= other.byokNanos) return other;
  return {
    creditNanos: one.creditNanos > other.creditNanos ? one.creditNanos : other.creditNanos,
    byokNanos: one.byokNanos > other.byokNanos ? one.byokNanos : other.byokNanos,
  };
}

/** Throws for a negative amount: use of the gateway never adds credit. */
export function assertAmount({ creditNanos, byokNanos }: Amount): void {
  if (creditNanos < 0n || byokNanos < 0n) {
    throw new RangeError(`negative amount: ${creditNanos} of credits, ${byokNanos} of BYOK credentials`);
  }
}
