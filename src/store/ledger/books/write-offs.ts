import type { Amount } from '../../../ir/amount.ts';
import type { Nanos } from '../../../kit/money.ts';
import type { Uncharged, Use, WriteOffCause } from '../../../ports/ledger.ts';

/** The part of a use that is charged to no account, and its cause; null when there is none. */
export interface WriteOff {
  readonly writtenOffNanos: Nanos;
  readonly writtenOffCause: WriteOffCause | null;
}

/** Cause of an excess when the use names none. */
const DEFAULT_CAUSE: WriteOffCause = 'output';

/** The part of a use that is not charged. Of two causes the larger one is named. */
export function writeOffOf(
  { used, exceededBy = DEFAULT_CAUSE, uncharged }: Pick<Use, 'used' | 'exceededBy' | 'uncharged'>,
  charge: Amount,
): WriteOff {
  const exceededNanos = used.creditNanos - charge.creditNanos;
  const { nanos, cause } = uncharged ?? NOT_UNCHARGED;
  const writtenOffNanos = exceededNanos + nanos;
  if (writtenOffNanos === 0n) return NO_WRITE_OFF;
  return { writtenOffNanos, writtenOffCause: nanos > exceededNanos ? cause : exceededBy };
}

const NOT_UNCHARGED: Uncharged = { nanos: 0n, cause: 'disputed' };

const NO_WRITE_OFF: WriteOff = { writtenOffNanos: 0n, writtenOffCause: null };

/** Written-off amounts, by cause. */
export class WriteOffs {
  readonly #sums: Record<WriteOffCause, Nanos> = {
    prompt: 0n,
    output: 0n,
    searches: 0n,
    price: 0n,
    released: 0n,
    disputed: 0n,
    abandoned: 0n,
  };

  get sums(): Readonly<Record<WriteOffCause, Nanos>> {
    return this.#sums;
  }

  add({ writtenOffCause, writtenOffNanos }: WriteOff): void {
    if (writtenOffCause !== null) this.#sums[writtenOffCause] += writtenOffNanos;
  }
}
