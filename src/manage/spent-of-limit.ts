import type { Nanos } from '../kit/money.ts';
import type { Limit, Spending } from '../ports/money/ledger.ts';

/** What counts towards a limit in its current window; open reservations are not counted. */
export function spentNanos(
  { window, countsByok }: Pick<Limit, 'window' | 'countsByok'>,
  { credit, byok }: Spending,
): Nanos {
  return countsByok ? credit[window] + byok[window] : credit[window];
}

/** Limit minus settled spending, at least 0 (`limit_remaining`). */
export function remainingNanos(limit: Limit, spending: Spending): Nanos {
  const spent = spentNanos(limit, spending);
  return limit.nanos > spent ? limit.nanos - spent : 0n;
}
