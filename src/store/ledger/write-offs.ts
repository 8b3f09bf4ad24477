import type { Nanos } from '../../kit/money.ts';
import type { WriteOffCause } from '../../ports/ledger.ts';

/** All causes. */
export const WRITE_OFF_CAUSES = [
  'prompt',
  'output',
  'searches',
  'price',
  'released',
] as const satisfies readonly WriteOffCause[];

/** The cause of what was used beyond a reservation when nobody said what it was. */
const UNSAID: WriteOffCause = 'output';

/** Why something was written off; null when nothing was. */
export function causeOf(writtenOffNanos: Nanos, exceededBy: WriteOffCause = UNSAID): WriteOffCause | null {
  return writtenOffNanos === 0n ? null : exceededBy;
}

/** What was written off, by cause. */
export class WriteOffs {
  readonly #sums: Record<WriteOffCause, Nanos> = {
    prompt: 0n,
    output: 0n,
    searches: 0n,
    price: 0n,
    released: 0n,
  };

  get sums(): Readonly<Record<WriteOffCause, Nanos>> {
    return this.#sums;
  }

  /** `cause`: null where nothing was written off. */
  add(cause: WriteOffCause | null, nanos: Nanos): void {
    if (cause !== null) this.#sums[cause] += nanos;
  }
}
