import type { Clock } from '../../kit/time/clock.ts';
import type {
  Limiter,
  RateCount,
  RateCounter,
  RateLimit,
  RateVerdict,
  RateWindow,
} from '../../ports/shared/limiter.ts';

/** Requests or tokens of one subject in the current window. */
interface Count {
  used: number;
  /** End of the window by the monotonic clock. */
  endsAt: number;
  /** The UTC day that it counts; `NO_DAY` for minutes. */
  readonly day: number;
}

/** A daily count as it is stored across restarts. */
export interface DayCount {
  readonly name: string;
  readonly subject: string;
  readonly day: number;
  readonly used: number;
}

const DONE = Promise.resolve();

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Expired counts are removed whenever the number of subjects has doubled since the last sweep, from this number on.
 */
const MIN_SUBJECTS_TO_SWEEP = 1024;

/**
 * Counts in memory. Windows end by the monotonic clock, so that setting the wall clock neither extends nor resets
 * them; a day ends at midnight UTC, or after the time that was left until then when it began.
 */
export class MemoryLimiter implements Limiter {
  readonly #clock: Clock;
  /** Counts by the name of the limit, then by subject. */
  readonly #counts = new Map<string, Map<string, Count>>();
  #subjects = 0;
  #sweepAt = MIN_SUBJECTS_TO_SWEEP;
  #changes = 0;

  /** `days`: counts from before a restart. */
  constructor(clock: Clock, days: readonly DayCount[] = []) {
    this.#clock = clock;
    const now = clock.now();
    for (const { name, subject, day, used } of days) {
      if (day !== dayOf(now)) continue;
      const endsAt = clock.monotonic() + untilMidnight(now);
      this.#countsOf(name).set(subject, { used, day, endsAt });
      this.#subjects += 1;
    }
  }

  async take(limits: readonly RateLimit[]): Promise<RateVerdict> {
    const verdict = this.check(limits);
    if (verdict.ok) {
      for (const limit of limits) if (limit.unit === 'requests') this.#add(limit, 1);
    }
    return verdict;
  }

  add(counts: readonly RateCount[]): Promise<void> {
    for (const count of counts) this.#add(count, count.amount);
    return DONE;
  }

  /** The verdict on a request that is not counted. */
  check(limits: readonly RateLimit[]): RateVerdict {
    const now = this.#clock.monotonic();
    const wall = this.#clock.now();
    for (const limit of limits) {
      const count = this.#current(limit, now, wall);
      if (count !== undefined && count.used >= limit.max) {
        return { ok: false, limit, resetAtMs: Math.round(wall + count.endsAt - now) };
      }
    }
    return PASS;
  }

  /** Grows with everything that is counted in a daily limit. */
  get changes(): number {
    return this.#changes;
  }

  /** Today's counts, for the next start. */
  days(): DayCount[] {
    const today = dayOf(this.#clock.now());
    return [...this.#counts].flatMap(([name, ofName]) =>
      [...ofName]
        .filter(([, { day }]) => day === today)
        .map(([subject, { day, used }]) => ({ name, subject, day, used })),
    );
  }

  #add(counter: RateCounter, amount: number): void {
    const now = this.#clock.monotonic();
    const wall = this.#clock.now();
    const count = this.#current(counter, now, wall) ?? this.#begin(counter, now, wall);
    count.used += amount;
    if (count.day !== NO_DAY) this.#changes += 1;
  }

  /** The count of the current window; undefined if nothing was counted in it. */
  #current({ name, subject }: RateCounter, now: number, wall: number): Count | undefined {
    const known = this.#counts.get(name)?.get(subject);
    return known !== undefined && known.endsAt > now && !isOver(known, wall) ? known : undefined;
  }

  #begin({ name, subject, window }: RateCounter, now: number, wall: number): Count {
    const ofName = this.#countsOf(name);
    if (!ofName.has(subject)) this.#makeRoom(now);
    const fresh = freshCount(window, now, wall);
    ofName.set(subject, fresh);
    return fresh;
  }

  #countsOf(name: string): Map<string, Count> {
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    const made = new Map<string, Count>();
    this.#counts.set(name, made);
    return made;
  }

  /** Counts one more subject, and removes expired counts when there are many. */
  #makeRoom(now: number): void {
    this.#subjects += 1;
    if (this.#subjects < this.#sweepAt) return;
    this.#subjects = 1;
    for (const ofName of this.#counts.values()) {
      for (const [subject, { endsAt }] of ofName) if (endsAt <= now) ofName.delete(subject);
      this.#subjects += ofName.size;
    }
    this.#sweepAt = Math.max(MIN_SUBJECTS_TO_SWEEP, 2 * this.#subjects);
  }
}

const PASS: RateVerdict = { ok: true };

/** A day also ends when the wall clock was set forward past it. */
function isOver({ day }: Count, wall: number): boolean {
  return day !== NO_DAY && dayOf(wall) > day;
}

function freshCount(window: RateWindow, now: number, wall: number): Count {
  return window === 'minute'
    ? { used: 0, endsAt: now + MINUTE_MS, day: NO_DAY }
    : { used: 0, endsAt: now + untilMidnight(wall), day: dayOf(wall) };
}

const NO_DAY = -1;

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function untilMidnight(ms: number): number {
  return DAY_MS - (((ms % DAY_MS) + DAY_MS) % DAY_MS);
}
