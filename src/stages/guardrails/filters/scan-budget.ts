/**
 * Most work on custom patterns for one request and the answer to it, in units of about ten nanoseconds: some two
 * seconds of a processor. 100,000 characters of prose take a hundredth of it.
 */
export const MAX_SCAN_WORK = 200_000_000;

/** What searches for custom patterns may still cost. Counted, not timed: the same text has the same fate everywhere. */
export class ScanBudget {
  readonly #most: number;
  /** Work so far. */
  spent = 0;

  constructor(most = MAX_SCAN_WORK) {
    this.#most = most;
  }

  get isSpent(): boolean {
    return this.spent >= this.#most;
  }
}
