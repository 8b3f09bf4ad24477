import type { Clock } from '../../kit/time/clock.ts';

/** Longest time that is granted, milliseconds. */
const MAX_RETRY_AFTER_MS = 300_000;

/** A time for which a site asked to be left alone. */
export class RetryAfter {
  readonly #clock: Clock;
  /** By the monotonic clock, and the same moment as callers are told it. */
  #until = { monotonicMs: 0, epochMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on for so long, but never shorter than granted before. */
  grant(durationMs: number): void {
    const lengthMs = Math.min(MAX_RETRY_AFTER_MS, durationMs);
    const monotonicMs = this.#clock.monotonic() + lengthMs;
    if (monotonicMs <= this.#until.monotonicMs) return;
    this.#until = { monotonicMs, epochMs: Math.ceil(this.#clock.now() + lengthMs) };
  }

  /** Milliseconds that are left; 0 = it is over. */
  leftAt(nowMs: number): number {
    return Math.max(0, this.#until.monotonicMs - nowMs);
  }

  /** Its end in epoch milliseconds; 0 = it is over. */
  untilMs(nowMs: number): number {
    return this.leftAt(nowMs) > 0 ? this.#until.epochMs : 0;
  }

  /** When it ends by the monotonic clock; infinity when it is over. */
  changesAt(nowMs: number): number {
    return this.leftAt(nowMs) > 0 ? this.#until.monotonicMs : Number.POSITIVE_INFINITY;
  }
}
