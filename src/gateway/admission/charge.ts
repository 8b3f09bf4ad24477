import type { ChargeKind } from '../../ir/leg.ts';
import type { Nanos } from '../../kit/money.ts';
import type { ChargeRow } from '../../ports/generation-row.ts';

/** Something besides a model call that a generation has paid for. */
export interface Charge {
  readonly kind: ChargeKind;
  readonly nanos: Nanos;
}

/** Charges that a record lists: more are counted and not named. */
const MOST_LISTED = 100;

export function chargeRows(charges: readonly Charge[]): ChargeRow[] {
  return charges.slice(0, MOST_LISTED).map(({ kind, nanos }) => ({ kind, nanos: String(nanos) }));
}
