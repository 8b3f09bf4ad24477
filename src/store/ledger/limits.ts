import type { Amount } from '../../ir/amount.ts';
import type { Nanos } from '../../kit/money.ts';
import type { Affordable, Limit, Refusal, Scope, Spending } from '../../ports/ledger.ts';

/** In the order in which limits are checked. */
export const SCOPES: readonly Scope[] = ['key', 'workspace', 'account'];

/** Where a limit stands. */
export interface Standing {
  readonly scope: Scope;
  readonly limit: Limit;
  /** Neither spent nor reserved. Negative after the limit was lowered. */
  readonly leftNanos: Nanos;
}

/** The part of an amount that a limit counts. */
export function countedNanos({ countsByok }: Limit, { creditNanos, byokNanos }: Amount): Nanos {
  return countsByok ? creditNanos + byokNanos : creditNanos;
}

/** What has been spent of a limit, given spending as it counts now. */
export function spentNanos({ window, countsByok }: Limit, { credit, byok }: Spending): Nanos {
  return countsByok ? credit[window] + byok[window] : credit[window];
}

/** The first limit that an amount would break. */
export function refusalOf(standings: readonly Standing[], amount: Amount): Refusal | undefined {
  for (const { scope, limit, leftNanos } of standings) {
    if (countedNanos(limit, amount) <= leftNanos) continue;
    return {
      scope,
      window: limit.window,
      limitNanos: limit.nanos,
      leftNanos: atLeastZero(leftNanos),
    };
  }
  return undefined;
}

/** The most that all limits let pass. */
export function affordableWithin(standings: readonly Standing[]): Affordable {
  return { creditNanos: leastLeft(standings, false), totalNanos: leastLeft(standings, true) };
}

/**
 * What is charged in the end. Up to what was reserved: all of it. Beyond that only what the limits still leave; the rest
 * is the operator's loss, because nobody spends more than a limit. What own credentials served is a fact, not a charge.
 */
export function chargeWithin(standings: readonly Standing[], reserved: Amount, used: Amount): Amount {
  let creditNanos = used.creditNanos;
  for (const { limit, leftNanos } of standings) {
    const own = leftNanos + countedNanos(limit, reserved) - (limit.countsByok ? used.byokNanos : 0n);
    const most = own > reserved.creditNanos ? own : reserved.creditNanos;
    if (creditNanos > most) creditNanos = most;
  }
  return { creditNanos, byokNanos: used.byokNanos };
}

function leastLeft(standings: readonly Standing[], countsByok: boolean): Nanos | null {
  let least: Nanos | null = null;
  for (const { limit, leftNanos } of standings) {
    if (limit.countsByok === countsByok && (least === null || leftNanos < least)) least = leftNanos;
  }
  return least === null ? null : atLeastZero(least);
}

function atLeastZero(nanos: Nanos): Nanos {
  return nanos > 0n ? nanos : 0n;
}
