import { type Amount, isWithinAmount, minus, NOTHING, plus } from '../../../../ir/amount.ts';
import type { PayingScopes } from '../tallies/reservation-sql.ts';

/**
 * Money that a gateway has reserved ahead for one payer: a reservation in the database under an id of its own, which
 * generations are paid from in memory. `taken` is what its open generations have reserved, and what its ended ones were
 * charged as long as they are not booked. The database never holds less than `held`, unless the slice was released by
 * another gateway: then booking finds out.
 */
export class Slice {
  readonly id: string;
  readonly payer: PayingScopes;
  #held: Amount = NOTHING;
  #taken: Amount = NOTHING;
  #isOpen = true;
  #generations = 0;
  #leasedAtMs: number;

  /** `atMs`: by a monotonic clock. */
  constructor(id: string, payer: PayingScopes, atMs: number) {
    this.id = id;
    this.payer = payer;
    this.#leasedAtMs = atMs;
  }

  /** When it was leased or refilled last, by a monotonic clock. */
  get leasedAtMs(): number {
    return this.#leasedAtMs;
  }

  /** Whether generations may be paid from it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get held(): Amount {
    return this.#held;
  }

  get free(): Amount {
    return minus(this.#held, this.#taken);
  }

  /** Whether a generation that it pays for is open or not booked. */
  get isTaken(): boolean {
    return this.#generations > 0;
  }

  /** Pays for a new generation. False when it is closed or has too little. */
  take(amount: Amount): boolean {
    if (!this.takeMore(amount)) return false;
    this.#generations += 1;
    return true;
  }

  /** Pays more for a generation. False when it is closed or has too little. */
  takeMore(more: Amount): boolean {
    if (!this.#isOpen || !isWithinAmount(more, this.free)) return false;
    this.#taken = plus(this.#taken, more);
    return true;
  }

  giveBack(amount: Amount): void {
    this.#taken = minus(this.#taken, amount);
  }

  /** The database holds more, since a statement that was sent at this time by a monotonic clock. */
  raise(more: Amount, atMs: number): void {
    this.#held = plus(this.#held, more);
    this.#leasedAtMs = atMs;
  }

  /** The database holds less, or will: what is free, except for `kept`. Returns the difference. */
  lower(kept: Amount): Amount {
    const { creditNanos, byokNanos } = minus(this.free, kept);
    const less: Amount = {
      creditNanos: creditNanos > 0n ? creditNanos : 0n,
      byokNanos: byokNanos > 0n ? byokNanos : 0n,
    };
    this.#held = minus(this.#held, less);
    return less;
  }

  /** The database holds more, and a generation that it pays for has reserved it. */
  raiseTaken(more: Amount): void {
    this.#held = plus(this.#held, more);
    this.#taken = plus(this.#taken, more);
  }

  /** The end of a generation is booked, with the charge that was taken. */
  booked(charge: Amount): void {
    this.#generations -= 1;
    this.#taken = minus(this.#taken, charge);
    this.#held = minus(this.#held, charge);
  }

  close(): void {
    this.#isOpen = false;
  }
}
