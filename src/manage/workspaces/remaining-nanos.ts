import type { Nanos } from '../../kit/money.ts';
import type { Limit, Spending } from '../../ports/ledger.ts';

/** What a limit leaves, reservations not counted, at least 0: `limit_remaining`. */
export function remainingNanos({ window, nanos, countsByok }: Limit, { credit, byok }: Spending): Nanos {
  const spent = countsByok ? credit[window] + byok[window] : credit[window];
  return nanos > spent ? nanos - spent : 0n;
}
