import type { Amount } from '../../ir/amount.ts';
import { MOST_NANOS } from '../../kit/money.ts';
import type { Use } from '../../ports/ledger.ts';

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
  const disputedNanos = use.disputedNanos ?? 0n;
  if (creditNanos <= MOST_NANOS && byokNanos <= MOST_NANOS && disputedNanos <= MOST_NANOS) return use;
  warn('a generation is said to have cost more than any may; it is settled with the most that one may cost', {
    generation_id: generationId,
    credit_nanos: String(creditNanos),
    byok_nanos: String(byokNanos),
    disputed_nanos: String(disputedNanos),
  });
  const used: Amount = { creditNanos: least(creditNanos), byokNanos: least(byokNanos) };
  const cutNanos = creditNanos - used.creditNanos;
  return { ...use, used, disputedNanos: least(disputedNanos + cutNanos) };
}

function least(nanos: bigint): bigint {
  return nanos < MOST_NANOS ? nanos : MOST_NANOS;
}
