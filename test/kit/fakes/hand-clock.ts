import type { Clock } from '../../../src/kit/time/clock.ts';

/** Midnight, where all windows begin. */
const DAY_MS = 86_400_000;

/** A clock that moves only by hand. */
export class HandClock implements Clock {
  #passedMs = 0;

  now(): number {
    return 1_760_000_000_000 + this.#passedMs;
  }

  monotonic(): number {
    return DAY_MS + this.#passedMs;
  }

  pass(milliseconds: number): void {
    this.#passedMs += milliseconds;
  }
}
