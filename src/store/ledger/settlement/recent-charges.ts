import type { FinalCharge } from '../../../ports/money/ledger.ts';
import type { PendingWrite } from '../records/pending-write.ts';

/** The charge of a generation, and the write of its record. */
export interface RecentCharge {
  readonly charge: FinalCharge;
  readonly writing: Pick<PendingWrite, 'isWrittenWithin'>;
}

/** For releases: a generation without a charge need not wait for its record. */
export const ALREADY_RECORDED: RecentCharge['writing'] = { isWrittenWithin: () => Promise.resolve(true) };

/** Charges in each half: some seconds of the busiest gateway. A repeated settlement follows the first one closely. */
const HALF_CHARGES = 4_096;

/**
 * Charges of the generations that ended last, in two halves of which the older is dropped as a whole. Deleting the
 * oldest entries one by one would be slow: a Map's iterator walks over removed entries.
 */
export class RecentCharges {
  #older = new Map<string, RecentCharge>();
  #recent = new Map<string, RecentCharge>();

  get(generationId: string): RecentCharge | undefined {
    return this.#recent.get(generationId) ?? this.#older.get(generationId);
  }

  add(generationId: string, charge: RecentCharge): void {
    if (this.#recent.size >= HALF_CHARGES) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(generationId, charge);
  }
}
