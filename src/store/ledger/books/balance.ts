import type { Nanos } from '../../../kit/money.ts';
import type { Limit } from '../../../ports/money/ledger.ts';

/** The money of an account. Immutable. */
export interface Balance {
  readonly grantedNanos: Nanos;
  /** False: spending is counted, but no request is refused for lack of credits. */
  readonly isEnforced: boolean;
  /**
   * Granted, neither spent nor reserved. Updated with every record instead of computed from the other figures, so that
   * `verify` can compare them.
   */
  readonly leftNanos: Nanos;
  /** Used beyond reservations and limits and charged to no account, since the beginning. */
  readonly writtenOffNanos: Nanos;
  /** Sequence of the last grant record. */
  readonly sequence: number;
}

/** An account without a grant: not enforced. */
export const UNGRANTED: Balance = {
  grantedNanos: 0n,
  isEnforced: false,
  leftNanos: 0n,
  writtenOffNanos: 0n,
  sequence: 0,
};

export type Grant = Pick<Balance, 'grantedNanos' | 'isEnforced' | 'leftNanos'>;

/** A balance as a limit; none when it is not enforced. */
export function balanceLimits({ isEnforced, grantedNanos }: Grant): readonly Limit[] {
  return isEnforced ? [{ window: 'lifetime', nanos: grantedNanos, countsByok: false }] : [];
}

/** A balance after a grant; null = no longer enforced. */
export function regranted(balance: Grant, grantedNanos: Nanos | null): Grant {
  if (grantedNanos === null) return { ...balance, isEnforced: false };
  return {
    grantedNanos,
    isEnforced: true,
    leftNanos: balance.leftNanos + grantedNanos - balance.grantedNanos,
  };
}
