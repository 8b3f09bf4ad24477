import type { Nanos } from '../../../kit/money.ts';
import type { Limit } from '../../../ports/ledger.ts';

/** The money of an account. A value. */
export interface Balance {
  /** Given in all, from the beginning. */
  readonly grantedNanos: Nanos;
  /** False: spending is counted, but nothing is refused for want of credits. */
  readonly isEnforced: boolean;
  /**
   * Granted, neither spent nor reserved. Kept with every step, not computed from the other figures: that they agree is
   * what `verify` checks.
   */
  readonly leftNanos: Nanos;
  /** Used beyond reservations and limits, and charged to nobody, in all. */
  readonly writtenOffNanos: Nanos;
  /** The record that changed the grant last. */
  readonly sequence: number;
}

/** An account that nobody gave anything: not enforced. */
export const UNGRANTED: Balance = {
  grantedNanos: 0n,
  isEnforced: false,
  leftNanos: 0n,
  writtenOffNanos: 0n,
  sequence: 0,
};

/** The part of a balance that a grant changes. */
export type Grant = Pick<Balance, 'grantedNanos' | 'isEnforced' | 'leftNanos'>;

/** The limit that a balance is. */
export function limitsOf({ isEnforced, grantedNanos }: Grant): readonly Limit[] {
  return isEnforced ? [{ window: 'lifetime', nanos: grantedNanos, countsByok: false }] : [];
}

/** A balance after another grant; null = not enforced from now on. */
export function regranted(balance: Grant, grantedNanos: Nanos | null): Grant {
  if (grantedNanos === null) return { ...balance, isEnforced: false };
  return {
    grantedNanos,
    isEnforced: true,
    leftNanos: balance.leftNanos + grantedNanos - balance.grantedNanos,
  };
}
