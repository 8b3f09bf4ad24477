import { beforeEach, describe, expect, it } from 'vitest';
import { HourlyTotals, hourOf } from './hourly-totals.ts';

const EAST = 'm/one\neast\nx';
const counted = (calls: number, failures = 0) => [{ site: EAST, calls, failures }];
const total = (hour: number, calls: number, failures = 0) => ({ hour, site: EAST, calls, failures });

let totals: HourlyTotals;

beforeEach(() => {
  totals = new HourlyTotals(3);
});

describe('hourOf', () => {
  it('begins an hour at its first millisecond', () => {
    expect([hourOf(3_599_999), hourOf(3_600_000)]).toEqual([0, 1]);
  });
});

describe('HourlyTotals', () => {
  it('grow with each count of their hour', () => {
    totals.add(7, counted(2, 1));
    totals.add(7, counted(3));
    totals.add(8, counted(1));
    totals.add(8, []);
    expect(totals.due()).toEqual([total(7, 5, 1), total(8, 1)]);
    expect(totals.unstoredCalls).toBe(6);
  });

  it('are due again as a whole when they have grown after they were stored', () => {
    totals.add(7, counted(2));
    totals.stored([total(7, 2)], 7);
    expect(totals.due()).toEqual([]);
    totals.add(7, counted(1, 1));
    expect(totals.due()).toEqual([total(7, 3, 1)]);
    expect(totals.unstoredCalls).toBe(1);
  });

  it('stay due if they have grown while they were being stored', () => {
    totals.add(7, counted(2));
    const sent = totals.due();
    totals.add(7, counted(1));
    totals.stored(sent, 7);
    expect(totals.due()).toEqual([total(7, 3)]);
  });

  it('are forgotten when they are stored and their hour is over', () => {
    totals.add(7, counted(2));
    totals.add(8, counted(1));
    totals.stored(totals.due(), 8);
    totals.add(7, counted(1));
    totals.add(8, counted(1));
    expect(totals.due()).toEqual([total(8, 2), total(7, 1)]);
  });

  it('wait no longer than they would be kept', () => {
    for (const hour of [1, 2, 3, 4, 5]) totals.add(hour, counted(1));
    expect(totals.due().map(({ hour }) => hour)).toEqual([3, 4, 5]);
  });
});
