import { describe, expect, it } from 'vitest';
import { dailyCallsBySite, sumOfDays, UPTIME_DAYS, uptimeHours, uptimeOver } from './uptime.ts';

const EAST = 'm/one\neast\nx';

/** Days with calls in some of them; 0 = today. */
const daysWith = (some: Readonly<Record<number, readonly [calls: number, failures: number]>>) =>
  dailyCallsBySite(
    Object.entries(some).map(([period, [calls, failures]]) => ({
      period: Number(period),
      site: EAST,
      calls,
      failures,
    })),
  ).get(EAST);

describe('uptimeHours', () => {
  it('are 720 with the current one, and the next for a clock that is ahead', () => {
    const { past, recent } = uptimeHours(1_000 * 3_600_000 + 1);
    expect(past).toEqual({ fromHour: 281, beforeHour: 999, lastHour: 1_000, hoursPerPeriod: 24 });
    expect(recent).toEqual({ fromHour: 999, beforeHour: 1_002, lastHour: 1_000, hoursPerPeriod: 24 });
  });
});

describe('dailyCallsBySite', () => {
  it('has 30 days, oldest first', () => {
    const days = daysWith({ 0: [5, 1], 29: [7, 0] });
    expect(days?.calls).toHaveLength(UPTIME_DAYS);
    expect([days?.calls[0], days?.calls[1], days?.calls[29], days?.failures[29]]).toEqual([7, 0, 5, 1]);
  });

  it('adds what was read in parts', () => {
    const part = { period: 0, site: EAST, calls: 3, failures: 1 };
    const days = dailyCallsBySite([part, part]).get(EAST);
    expect([days?.calls[29], days?.failures[29]]).toEqual([6, 2]);
  });

  it('counts a call whose failure falls into the next day there too', () => {
    expect(daysWith({ 0: [0, 1] })?.calls[29]).toBe(1);
  });
});

describe('uptimeOver', () => {
  const days = daysWith({ 0: [4, 1], 6: [4, 0], 7: [2, 2], 29: [10, 2] });

  it('is of the newest days', () => {
    expect(uptimeOver(1, days)).toEqual({ calls: 4, failures: 1, percent: 75 });
    expect(uptimeOver(7, days)).toEqual({ calls: 8, failures: 1, percent: 87.5 });
    expect(uptimeOver(30, days)).toEqual({ calls: 20, failures: 5, percent: 75 });
  });

  it('is unknown without calls', () => {
    expect(uptimeOver(30, undefined)).toEqual({ calls: 0, failures: 0, percent: null });
    expect(uptimeOver(1, daysWith({ 3: [9, 9] })).percent).toBeNull();
  });

  it('is 100 only if no call has failed', () => {
    expect(uptimeOver(1, daysWith({ 0: [1_000_000, 1] })).percent).toBe(99.99);
    expect(uptimeOver(1, daysWith({ 0: [1_000_000, 0] })).percent).toBe(100);
  });
});

describe('sumOfDays', () => {
  it('adds endpoints day by day', () => {
    const sum = sumOfDays(
      [daysWith({ 0: [1, 0] }), daysWith({ 0: [2, 1], 1: [3, 0] })].flatMap((of) => of ?? []),
    );
    expect([sum?.calls.slice(-2), sum?.failures.slice(-2)]).toEqual([
      [3, 3],
      [0, 1],
    ]);
    expect(sumOfDays([])).toBeUndefined();
  });
});
