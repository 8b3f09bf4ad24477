import { isInTime } from '../kit/loop/is-in-time.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { Changes } from '../ports/shared/changes.ts';

/** How old the knowledge of changes may be for a cached value to count as current, milliseconds. */
const CURRENT_MS = 1_000;

/** How long cached values are trusted while the store does not answer, milliseconds. */
const TRUSTED_MS = 300_000;

/** How long a cached value waits for news of changes, milliseconds. After that the store counts as not answering. */
const PATIENCE_MS = 1_000;

/**
 * Tells how long a value that was read from the store may be used. Changes drop cached values, so that a value still
 * in its cache is as current as the knowledge of changes is.
 */
export class Freshness {
  readonly #changes: Pick<Changes, 'seenUntilMs' | 'catchUp'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When a wait for news began that took too long. Until newer changes are known, no other value waits. */
  #unansweredSinceMs = Number.NEGATIVE_INFINITY;

  constructor(changes: Pick<Changes, 'seenUntilMs' | 'catchUp'>, clock: Pick<Clock, 'monotonic'>) {
    this.#changes = changes;
    this.#clock = clock;
  }

  /** Whether a value that was read at this time needs no confirmation. */
  isCurrent(readAtMs: number): boolean {
    return this.#clock.monotonic() - this.currentUntilMs(readAtMs) < CURRENT_MS;
  }

  /** Until when a value that was read at this time is known to have been current. */
  currentUntilMs(readAtMs: number): number {
    return Math.max(readAtMs, this.#changes.seenUntilMs());
  }

  /** Whether a value that was current until then may be used although nothing confirms it. */
  isTrusted(currentUntilMs: number): boolean {
    return this.#clock.monotonic() - currentUntilMs < TRUSTED_MS;
  }

  /**
   * Waits until changes that were stored before the call have dropped what they concern, or until that takes too long
   * or fails. A value that is still cached then may be used if it is trusted. While the store does not answer, only the
   * first calls wait: otherwise each request would wait for every cache that it asks.
   */
  async confirm(): Promise<void> {
    if (this.#changes.seenUntilMs() < this.#unansweredSinceMs) return;
    const beganAtMs = this.#clock.monotonic();
    const hasEnded = await isInTime(this.#changes.catchUp(), PATIENCE_MS).catch(() => true);
    if (!hasEnded) this.#unansweredSinceMs = beganAtMs;
  }
}
