/** Delay after the first failed start, milliseconds. It doubles with each further one. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;

/** A worker that has served for less counts as a failed start, milliseconds. */
const SERVED_MS = 1_000;

/** Decides when a dead worker is replaced: at once if it had served, later and later if workers die at their start. */
export class RestartDelay {
  #failedStarts = 0;

  /** `servedMs`: how long it has served, 0 if never. Returns milliseconds. */
  afterDeath(servedMs: number): number {
    if (servedMs >= SERVED_MS) {
      this.#failedStarts = 0;
      return 0;
    }
    return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failedStarts++);
  }
}
