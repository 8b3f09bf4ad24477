import type { PeriodCalls, SummedHours } from '../../ports/upstreams/call-counts.ts';
import { hourOf } from './hourly-totals.ts';

export const UPTIME_DAYS = 30;

const HOURS_PER_DAY = 24;

/** Calls of one or more endpoints over the last UPTIME_DAYS periods of 24 hours, oldest first. */
export interface DailyCalls {
  readonly calls: readonly number[];
  readonly failures: readonly number[];
}

/** Calls over some days, and the share of them that was answered. */
export interface Uptime {
  readonly calls: number;
  readonly failures: number;
  /** Per cent, rounded down, so that it is 100 only without a failure; null = there were no calls. */
  readonly percent: number | null;
}

/**
 * The hours of an uptime in two parts, for periods of 24 hours that end with the current one: `past` hours, which are
 * many and hardly change, and `recent` ones. A clock ahead of ours may have begun the next hour.
 */
export function uptimeHours(nowMs: number): Record<'past' | 'recent', SummedHours> {
  const lastHour = hourOf(nowMs);
  const periods = { lastHour, hoursPerPeriod: HOURS_PER_DAY };
  const firstHour = lastHour + 1 - UPTIME_DAYS * HOURS_PER_DAY;
  return {
    past: { ...periods, fromHour: firstHour, beforeHour: lastHour - 1 },
    recent: { ...periods, fromHour: lastHour - 1, beforeHour: lastHour + 2 },
  };
}

/** Sums of a store as days, by endpoint. Endpoints without calls are left out. */
export function dailyCallsBySite(sums: readonly PeriodCalls[]): ReadonlyMap<string, DailyCalls> {
  const days = new Map<string, { readonly calls: number[]; readonly failures: number[] }>();
  for (const { site, period, calls, failures } of sums) {
    const of = days.get(site) ?? { calls: noCalls(), failures: noCalls() };
    days.set(site, of);
    const at = UPTIME_DAYS - 1 - period;
    of.calls[at] = (of.calls[at] ?? 0) + calls;
    of.failures[at] = (of.failures[at] ?? 0) + failures;
  }
  // A failure after the first token may fall into a later hour than its call.
  for (const { calls, failures } of days.values()) {
    for (const [at, failed] of failures.entries()) calls[at] = Math.max(calls[at] ?? 0, failed);
  }
  return days;
}

/** The calls of several endpoints together; undefined if there are none. */
export function sumOfDays(all: readonly DailyCalls[]): DailyCalls | undefined {
  if (all.length === 0) return undefined;
  const sum = (member: keyof DailyCalls) =>
    noCalls().map((_, day) => all.reduce((total, days) => total + (days[member][day] ?? 0), 0));
  return { calls: sum('calls'), failures: sum('failures') };
}

/** The uptime over the newest `days` days; `of` undefined = there were no calls. */
export function uptimeOver(days: number, of: DailyCalls | undefined): Uptime {
  const sum = (values: readonly number[]) => values.slice(-days).reduce((total, value) => total + value, 0);
  const calls = sum(of?.calls ?? []);
  const failures = sum(of?.failures ?? []);
  const percent = calls === 0 ? null : Math.floor((10_000 * (calls - failures)) / calls) / 100;
  return { calls, failures, percent };
}

function noCalls(): number[] {
  return new Array<number>(UPTIME_DAYS).fill(0);
}
