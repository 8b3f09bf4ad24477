import { performance } from 'node:perf_hooks';

/** The shortest time over which the loop's rest is measured. */
const WINDOW_MS = 20;

/** A loop that rests less than the remainder has no time left. */
const SATURATED = 0.95;

/** Tells whether the event loop had any rest lately. Looking costs next to nothing, and nothing runs while nobody looks. */
export class Saturation {
  #since = performance.eventLoopUtilization();
  #sinceMs = performance.now();
  #isSaturated = false;

  isSaturated(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs < WINDOW_MS) return this.#isSaturated;
    const now = performance.eventLoopUtilization();
    this.#isSaturated = performance.eventLoopUtilization(now, this.#since).utilization > SATURATED;
    this.#since = now;
    this.#sinceMs = nowMs;
    return this.#isSaturated;
  }
}
