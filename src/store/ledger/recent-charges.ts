import type { Charge } from '../../ports/ledger.ts';
import type { Writing } from './writing.ts';

/** What a generation was charged, and when that is safely recorded. */
export interface RecentCharge {
  readonly charge: Charge;
  readonly writing: Pick<Writing, 'isDoneWithin'>;
}

/** What is not charged need not be recorded for anybody. */
export const NO_MATTER: RecentCharge['writing'] = { isDoneWithin: () => Promise.resolve(true) };

/** Whoever settles twice does so at once: a few seconds of the busiest gateway are remembered. */
const MAX_CHARGES = 8_192;

/** What the generations were charged that ended last. */
export class RecentCharges {
  readonly #charges = new Map<string, RecentCharge>();

  get(generationId: string): RecentCharge | undefined {
    return this.#charges.get(generationId);
  }

  add(generationId: string, charge: RecentCharge): void {
    this.#charges.set(generationId, charge);
    if (this.#charges.size <= MAX_CHARGES) return;
    for (const oldest of this.#charges.keys()) {
      this.#charges.delete(oldest);
      return;
    }
  }
}
