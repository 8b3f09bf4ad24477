import type { Amount } from '../../../ir/amount.ts';
import { MOST_NANOS } from '../../../kit/money.ts';
import type { Use } from '../../../ports/ledger.ts';

/**
 * Use with amounts of at most MOST_USD. Nothing costs so much: an upstream has reported nonsense, and what is cut off is
 * disputed. More would not fit the columns of generations, and what cannot be stored must not hold others up.
 */
export function cappedUse(
  generationId: string,
  use: Use,
  warn: (message: string, fields: Readonly<Record<string, unknown>>) => void,
): Use {
  const { creditNanos, byokNanos } = use.used;
  const { nanos: unchargedNanos = 0n, cause = 'disputed' } = use.uncharged ?? {};
  if (creditNanos <= MOST_NANOS && byokNanos <= MOST_NANOS && unchargedNanos <= MOST_NANOS) return use;
  warn('a generation is said to have cost more than any may; it is settled with the most that one may cost', {
    generation_id: generationId,
    credit_nanos: String(creditNanos),
    byok_nanos: String(byokNanos),
    uncharged_nanos: String(unchargedNanos),
  });
  const used: Amount = { creditNanos: least(creditNanos), byokNanos: least(byokNanos) };
  const cutNanos = creditNanos - used.creditNanos;
  return { ...use, used, uncharged: { nanos: least(unchargedNanos + cutNanos), cause } };
}

function least(nanos: bigint): bigint {
  return nanos < MOST_NANOS ? nanos : MOST_NANOS;
}
