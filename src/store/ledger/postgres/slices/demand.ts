import type { Amount } from '../../../../ir/amount.ts';

/** Time over which rates are averaged, milliseconds. */
const MEMORY_MS = 4_000;

/** Rates of a payer that is known for less are those of this time, milliseconds. */
const MIN_AGE_MS = 250;

/** Spending that a slice is to last for without the database, milliseconds: a restart of it, or a cut. */
const LASTING_MS = 25_000;

/** Reservations that may come together before any of them ends, milliseconds of them. */
const BURST_MS = 2_000;

/** A slice pays for this many reservations of the largest size at least. */
const LEAST_RESERVATIONS = 4;

/** From this many reservations within `MEMORY_MS` on, a slice is worth its statements. */
export const HOT_RESERVATIONS = 3;

type Side = keyof Amount;
const SIDES: readonly Side[] = ['creditNanos', 'byokNanos'];

/** What a payer has reserved and spent lately, by which its slice is sized. Averages fade exponentially. */
export class Demand {
  readonly #bornAtMs: number;
  #atMs: number;
  #count = 0;
  readonly #reserved = { creditNanos: 0, byokNanos: 0 };
  readonly #charged = { creditNanos: 0, byokNanos: 0 };
  readonly #largest = { creditNanos: 0, byokNanos: 0 };

  constructor(atMs: number) {
    this.#bornAtMs = atMs;
    this.#atMs = atMs;
  }

  /** When anything was reserved or charged last, by a monotonic clock, milliseconds. */
  get atMs(): number {
    return this.#atMs;
  }

  reserved(amount: Amount, atMs: number): void {
    this.#fade(atMs);
    this.#count += 1;
    for (const side of SIDES) {
      const nanos = Number(amount[side]);
      this.#reserved[side] += nanos;
      if (nanos > this.#largest[side]) this.#largest[side] = nanos;
    }
  }

  charged(amount: Amount, atMs: number): void {
    this.#fade(atMs);
    for (const side of SIDES) this.#charged[side] += Number(amount[side]);
  }

  /** Reservations within the last `MEMORY_MS`, about. */
  count(atMs: number): number {
    this.#fade(atMs);
    return this.#count;
  }

  /** The largest reservation of late, which fades too. */
  largest(atMs: number): Amount {
    this.#fade(atMs);
    const { creditNanos, byokNanos } = this.#largest;
    return { creditNanos: BigInt(Math.ceil(creditNanos)), byokNanos: BigInt(Math.ceil(byokNanos)) };
  }

  /** What a slice should have free. */
  target(atMs: number): Amount {
    this.#fade(atMs);
    const ageMs = Math.max(MIN_AGE_MS, this.#atMs - this.#bornAtMs);
    // Sums of a payer that is young have not grown to what a steady stream adds up to.
    const summedMs = MEMORY_MS * (1 - Math.exp(-ageMs / MEMORY_MS));
    const wanted = (side: Side) =>
      Math.max(
        (this.#charged[side] * LASTING_MS + this.#reserved[side] * BURST_MS) / summedMs,
        this.#largest[side] * LEAST_RESERVATIONS,
      );
    return {
      creditNanos: BigInt(Math.ceil(wanted('creditNanos'))),
      byokNanos: BigInt(Math.ceil(wanted('byokNanos'))),
    };
  }

  /** Sums fade so that a steady stream adds up to what comes within `MEMORY_MS`. */
  #fade(atMs: number): void {
    const factor = Math.exp(-Math.max(0, atMs - this.#atMs) / MEMORY_MS);
    this.#atMs = Math.max(this.#atMs, atMs);
    this.#count *= factor;
    for (const side of SIDES) {
      this.#reserved[side] *= factor;
      this.#charged[side] *= factor;
      this.#largest[side] *= factor;
    }
  }
}
