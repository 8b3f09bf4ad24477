import type { FollowerFault } from '../ports/following/follower.ts';

/**
 * Tries in a row before fewer are given at once. The first time the same ones are given again: the answer may have been
 * lost, and not the request. One that fails for another reason is not to be asked for each as soon as it is away.
 */
const WHOLE_TRIES: Readonly<Record<FollowerFault, number>> = { late: 2, failed: 4 };

/** Tries in a row of a single generation, before others are given first. */
const ALONE_TRIES = 3;

/** How many generations a follower is given at once: fewer where what it is given may be why it fails. */
export class BatchSize {
  #max: number;
  #size: number;
  #given = 0;
  #failures = 0;
  #failuresAlone = 0;
  /** Among so many generations is one that makes batches fail. */
  #suspects = 0;

  constructor(max: number) {
    this.#max = max;
    this.#size = max;
  }

  /** Generations of the next batch. */
  get size(): number {
    return this.#size;
  }

  /** Batches that failed in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** A single generation has failed so often that only others can tell whether it is why. */
  get isStuck(): boolean {
    return this.#failuresAlone >= ALONE_TRIES;
  }

  limit(max: number): void {
    this.#max = max;
    this.#size = Math.min(this.#size, max);
  }

  /** A batch of so many is given: there may be no more. */
  given(count: number): void {
    this.#given = count;
  }

  /** A batch was taken, or what was left of it was given up. */
  passed(count: number): void {
    this.#failures = 0;
    this.#failuresAlone = 0;
    this.#suspects = Math.max(0, this.#suspects - count);
    const size = this.#suspects > 0 ? Math.min(this.#size, this.#suspects) : this.#size * 2;
    this.#size = Math.min(size, this.#max);
  }

  /** A batch failed. `fault`: undefined = not because of what was in it. */
  failed(fault: FollowerFault | undefined): void {
    this.#failures++;
    if (fault === undefined) return;
    const given = Math.min(this.#given, this.#size);
    if (given === 1) this.#failuresAlone++;
    if (this.#suspects === 0 && this.#failures < WHOLE_TRIES[fault]) return;
    if (fault === 'failed') this.#suspects = given;
    this.#size = Math.ceil(given / 2);
  }
}
