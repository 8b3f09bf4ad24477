import type { Clock } from '../../kit/time/clock.ts';
import type { HttpLog } from '../dependencies.ts';

/** Time in which a reason is logged once. */
const WINDOW_MS = 60_000;

/** Reasons that are kept; our own messages are fewer. */
const MAX_REASONS = 50;

/** Logs requests that get 503: one line a reason and minute, so that a flood does not fill the log. */
export class ShedRequests {
  readonly #clock: Clock;
  readonly #log: HttpLog;
  readonly #reasons = new Map<string, { loggedAtMs: number; unlogged: number }>();

  constructor(clock: Clock, log: HttpLog) {
    this.#clock = clock;
    this.#log = log;
  }

  note(reason: string): void {
    const now = this.#clock.monotonic();
    const known = this.#reasons.get(reason);
    if (known !== undefined && now - known.loggedAtMs < WINDOW_MS) {
      known.unlogged += 1;
      return;
    }
    if (known === undefined && this.#reasons.size >= MAX_REASONS) this.#reasons.clear();
    this.#log.warn('requests get 503', { reason, requests: (known?.unlogged ?? 0) + 1 });
    this.#reasons.set(reason, { loggedAtMs: now, unlogged: 0 });
  }
}
