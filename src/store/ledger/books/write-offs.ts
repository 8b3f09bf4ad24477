import type { Amount } from '../../../ir/amount.ts';
import type { Nanos } from '../../../kit/money.ts';
import type { Use } from '../../../ports/money/ledger.ts';
import {
  plusWriteOffs,
  UNNAMED_CAUSE,
  type WriteOff,
  type WriteOffCause,
  type WrittenOff,
  writeOffRows,
} from '../../../ports/money/write-offs.ts';

/** The part of a use that is not charged. */
export function writtenOffBy(
  {
    used,
    exceededBy = UNNAMED_CAUSE,
    uncharged,
    row,
  }: Pick<Use, 'used' | 'exceededBy' | 'uncharged' | 'row'>,
  charge: Amount,
): WrittenOff {
  const exceededNanos = used.creditNanos - charge.creditNanos;
  const exceeded = exceededNanos === 0n ? undefined : [{ cause: exceededBy, nanos: exceededNanos }];
  const writeOffs = plusWriteOffs(exceeded, uncharged)?.filter(({ nanos }) => nanos !== 0n);
  if (writeOffs === undefined || writeOffs.length === 0)
    return { writtenOffNanos: 0n, writtenOffCause: null, row };
  const [largest] = [...writeOffs].sort((one, other) => (other.nanos > one.nanos ? 1 : -1));
  return {
    writtenOffNanos: writeOffs.reduce((sum, { nanos }) => sum + nanos, 0n),
    writtenOffCause: largest?.cause ?? null,
    row: { ...row, write_offs: writeOffRows(writeOffs) },
  };
}

/** Written-off amounts, by cause. */
export class WriteOffs {
  readonly #sums: Record<WriteOffCause, Nanos> = {
    prompt: 0n,
    output: 0n,
    searches: 0n,
    tools: 0n,
    price: 0n,
    released: 0n,
    disputed: 0n,
    abandoned: 0n,
    dropped: 0n,
    time_limit: 0n,
    cut: 0n,
  };

  get sums(): Readonly<Record<WriteOffCause, Nanos>> {
    return this.#sums;
  }

  add(writeOffs: readonly WriteOff[]): void {
    for (const { cause, nanos } of writeOffs) this.#sums[cause] += nanos;
  }
}
