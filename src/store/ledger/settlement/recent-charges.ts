import type { Charge } from '../../../ports/ledger.ts';
import type { RecordWrite } from '../records/record-write.ts';

/** What a generation was charged, and when that is safely recorded. */
export interface RecentCharge {
  readonly charge: Charge;
  readonly writing: Pick<RecordWrite, 'isDoneWithin'>;
}

/** What is not charged need not be recorded for anybody. */
export const ALREADY_RECORDED: RecentCharge['writing'] = { isDoneWithin: () => Promise.resolve(true) };

/** Whoever settles twice does so at once: some seconds of the busiest gateway are remembered. */
const HALF_CHARGES = 4_096;

/**
 * What the generations were charged that ended last. They are forgotten by halves: to look for the oldest of a map means to
 * walk over all that were removed before.
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
