import type { Amount } from '../../../ir/amount.ts';
import { MAX_NANOS } from '../../../kit/money.ts';
import type { Use } from '../../../ports/ledger.ts';

/**
 * Caps the amounts of a use at MAX_USD. No generation costs more: the upstream has reported nonsense, and the excess
 * is disputed. Larger amounts do not fit the columns of the generations table, where they would block the rows behind
 * them.
 */
export function cappedUse(
  generationId: string,
  use: Use,
  warn: (message: string, fields: Readonly<Record<string, unknown>>) => void,
): Use {
  const { creditNanos, byokNanos } = use.used;
  const { nanos: unchargedNanos = 0n, cause = 'disputed' } = use.uncharged ?? {};
  if (creditNanos <= MAX_NANOS && byokNanos <= MAX_NANOS && unchargedNanos <= MAX_NANOS) return use;
  warn('the reported cost of a generation exceeds the maximum; it is settled with the maximum', {
    generation_id: generationId,
    credit_nanos: String(creditNanos),
    byok_nanos: String(byokNanos),
    uncharged_nanos: String(unchargedNanos),
  });
  const used: Amount = { creditNanos: atMost(creditNanos), byokNanos: atMost(byokNanos) };
  const cutNanos = creditNanos - used.creditNanos;
  return { ...use, used, uncharged: { nanos: atMost(unchargedNanos + cutNanos), cause } };
}

function atMost(nanos: bigint): bigint {
  return nanos < MAX_NANOS ? nanos : MAX_NANOS;
}
