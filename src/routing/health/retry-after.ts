import type { Clock } from '../../kit/time/clock.ts';

/** Longer requests of an upstream are cut to this, milliseconds. */
const MAX_RETRY_AFTER_MS = 300_000;

/** Retry-after of a site: a time during which the upstream asked for no calls. */
export class RetryAfter {
  readonly #clock: Clock;
  /** End of the time by the monotonic clock, and the same moment in epoch time for callers. */
  #until = { monotonicMs: 0, epochMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts or extends it; never shortens it. */
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

  /** Its end by the monotonic clock; infinity = it is over. */
  changesAt(nowMs: number): number {
    return this.leftAt(nowMs) > 0 ? this.#until.monotonicMs : Number.POSITIVE_INFINITY;
  }
}
