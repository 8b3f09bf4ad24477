import { type Amount, NOTHING } from '../../../../ir/amount.ts';
import type { Scope, ScopeIds } from '../../../../ports/money/ledger.ts';
import type { JournalledEnd } from '../booking/book-ends.ts';

/**
 * What booking these ends gives back to one of the scopes: what they reserved and did not use. Undefined when none of
 * them counts in it.
 */
export function freedByBooking(
  unbooked: Iterable<JournalledEnd>,
  scopes: ScopeIds,
  scope: Scope,
): Amount | undefined {
  let freed: Amount | undefined;
  for (const { scopes: other, reserved, settled, slice } of unbooked) {
    // A slice has what they did not use already.
    if (other[scope] !== scopes[scope] || slice !== undefined) continue;
    const { creditNanos, byokNanos } = settled?.charge ?? NOTHING;
    freed = {
      creditNanos: (freed?.creditNanos ?? 0n) + unused(reserved.creditNanos, creditNanos),
      byokNanos: (freed?.byokNanos ?? 0n) + unused(reserved.byokNanos, byokNanos),
    };
  }
  return freed;
}

function unused(reserved: bigint, used: bigint): bigint {
  return reserved > used ? reserved - used : 0n;
}
