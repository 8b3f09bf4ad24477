import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type {
  CallCountStore,
  CountedCalls,
  PeriodCalls,
  SummedHours,
} from '../../ports/upstreams/call-counts.ts';
import { HourlyTotals, hourOf } from './hourly-totals.ts';
import { type DailyCalls, dailyCallsBySite, uptimeHours } from './uptime.ts';

/** Hours for which counts of calls are kept: 31 days. */
export const KEPT_HOURS = 744;

const MINUTE_MS = 60_000;

/** How long an answer of the store is shown again, milliseconds. */
const FRESH_MS = 2_000;

/** How long the sums of past hours are used, milliseconds: a gateway that was cut off may have added to them. */
const PAST_FRESH_MS = 300_000;

/** How long a reader waits for the store, milliseconds. */
const READ_LIMIT_MS = 2_000;

/** How long closing waits for the store, milliseconds. */
const CLOSE_LIMIT_MS = 2_000;

export interface UptimeHistoryParts {
  readonly store: Pick<CallCountStore, 'keep' | 'sums'>;
  /** What was counted since the last time. */
  readonly take: () => readonly CountedCalls[];
  /** Id of this run: counts of two runs are never mixed. */
  readonly runId: string;
  readonly clock: Clock;
  /** Hears how each attempt to store ended. */
  readonly outage: { worked(): void; failed(error: unknown): void };
  /** Counts that could not be stored are lost with this process. */
  lost(calls: number): void;
}

/**
 * The calls of endpoints by hour. What this run counts is stored every minute, and before it is read. While the store
 * does not answer, counts wait in memory; each call is counted once afterwards, also if the store had taken it and only
 * its answer was lost.
 */
export class UptimeHistory {
  readonly #parts: UptimeHistoryParts;
  readonly #totals = new HourlyTotals(KEPT_HOURS);
  #takenAtMs: number;
  #timer: NodeJS.Timeout | undefined;
  #keeping: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #read: { readonly atMs: number; readonly days: ReadonlyMap<string, DailyCalls> } | undefined;
  #past:
    | { readonly atMs: number; readonly lastHour: number; readonly sums: readonly PeriodCalls[] }
    | undefined;

  constructor(parts: UptimeHistoryParts) {
    this.#parts = parts;
    this.#takenAtMs = parts.clock.now();
  }

  /** Stores at every full minute until `close`, so that the counts of two hours are not mixed. */
  open(): void {
    const waitMs = MINUTE_MS - (this.#parts.clock.now() % MINUTE_MS);
    this.#timer = setTimeout(() => {
      void this.keep();
      this.open();
    }, waitMs).unref();
  }

  /** Stores what was counted; resolves with the attempt under way if there is one. Never rejects. */
  keep(): Promise<void> {
    this.#keeping ??= this.#keep().finally(() => {
      this.#keeping = undefined;
    });
    return this.#keeping;
  }

  /** The calls of the last days by site, up to 2 seconds old; undefined if the store does not answer. */
  async days(): Promise<ReadonlyMap<string, DailyCalls> | undefined> {
    const nowMs = this.#parts.clock.monotonic();
    if (this.#read !== undefined && nowMs - this.#read.atMs < FRESH_MS) return this.#read.days;
    this.#reading ??= this.#readStore().finally(() => {
      this.#reading = undefined;
    });
    return (await isInTime(this.#reading, READ_LIMIT_MS)) ? this.#read?.days : undefined;
  }

  /** Stores what is left. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    // An attempt under way may have begun before the last calls.
    const stored = Promise.resolve(this.#keeping).then(() => this.keep());
    await isInTime(stored, CLOSE_LIMIT_MS);
    if (this.#totals.unstoredCalls > 0) this.#parts.lost(this.#totals.unstoredCalls);
  }

  async #keep(): Promise<void> {
    const { store, runId, outage } = this.#parts;
    this.#take();
    const due = this.#totals.due();
    if (due.length === 0) return;
    try {
      await store.keep(runId, due);
    } catch (error) {
      outage.failed(error);
      return;
    }
    this.#totals.stored(due, hourOf(this.#takenAtMs));
    outage.worked();
  }

  /** What was counted since the last time belongs to the hour of the last time. */
  #take(): void {
    const { clock, take } = this.#parts;
    this.#totals.add(hourOf(this.#takenAtMs), take());
    this.#takenAtMs = clock.now();
  }

  async #readStore(): Promise<void> {
    const { store, clock } = this.#parts;
    await this.keep();
    try {
      const { past, recent } = uptimeHours(clock.now());
      const sums = [...(await this.#readPast(past)), ...(await store.sums(recent))];
      this.#read = { atMs: clock.monotonic(), days: dailyCallsBySite(sums) };
    } catch {
      this.#read = undefined;
    }
  }

  async #readPast(hours: SummedHours): Promise<readonly PeriodCalls[]> {
    const { store, clock } = this.#parts;
    const { lastHour } = hours;
    const nowMs = clock.monotonic();
    if (this.#past?.lastHour !== lastHour || nowMs - this.#past.atMs >= PAST_FRESH_MS) {
      this.#past = { atMs: nowMs, lastHour, sums: await store.sums(hours) };
    }
    return this.#past.sums;
  }
}
