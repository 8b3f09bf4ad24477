import type { Clock } from '../../src/kit/time/clock.ts';

/** It begins where all slices of time begin: at midnight. */
const DAY_MS = 86_400_000;

/** A clock that moves only when it is told to. */
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
