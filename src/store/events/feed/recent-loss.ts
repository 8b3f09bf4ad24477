/**
 * How long after a loss answers carry a warning, milliseconds. A question that was under way when the loss was noticed
 * may be answered without rows that are fed before its answer is sent.
 */
const WARNED_MS = 5_000;

/** Whether a store of events was found to have lost them a moment ago. */
export class RecentLoss {
  #noticedAtMs = Number.NEGATIVE_INFINITY;

  note(): void {
    this.#noticedAtMs = performance.now();
  }

  get isRecent(): boolean {
    return performance.now() - this.#noticedAtMs < WARNED_MS;
  }
}
