import type { Amount } from '../../../ir/amount.ts';
import { MAX_NANOS } from '../../../kit/money.ts';
import type { Use } from '../../../ports/money/ledger.ts';
import { plusWriteOffs, type WriteOff } from '../../../ports/money/write-offs.ts';

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
  const { uncharged = [] } = use;
  const unchargedNanos = uncharged.reduce((sum, { nanos }) => sum + nanos, 0n);
  if (creditNanos <= MAX_NANOS && byokNanos <= MAX_NANOS && unchargedNanos <= MAX_NANOS) return use;
  warn('the reported cost of a generation exceeds the maximum; it is settled with the maximum', {
    generation_id: generationId,
    credit_nanos: String(creditNanos),
    byok_nanos: String(byokNanos),
    uncharged_nanos: String(unchargedNanos),
  });
  const used: Amount = { creditNanos: atMost(creditNanos), byokNanos: atMost(byokNanos) };
  const cutNanos = creditNanos - used.creditNanos;
  const all = plusWriteOffs(uncharged, [{ cause: 'disputed', nanos: cutNanos }]) ?? uncharged;
  return { ...use, used, uncharged: within(MAX_NANOS, all) };
}

/** The write-offs up to a sum; the last ones are cut first. */
function within(most: bigint, writeOffs: readonly WriteOff[]): WriteOff[] {
  let left = most;
  return writeOffs.map(({ cause, nanos }) => {
    const kept = nanos < left ? nanos : left;
    left -= kept;
    return { cause, nanos: kept };
  });
}

function atMost(nanos: bigint): bigint {
  return nanos < MAX_NANOS ? nanos : MAX_NANOS;
}
