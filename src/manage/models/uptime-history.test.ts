import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import { MemoryCallCounts } from '../../../test/kit/fakes/memory-call-counts.ts';
import type { CountedCalls, HourlyCalls, SummedHours } from '../../ports/upstreams/call-counts.ts';
import { hourOf } from './hourly-totals.ts';
import { UptimeHistory } from './uptime-history.ts';

const EAST = 'm/one\neast\nx';
const HOUR_MS = 3_600_000;

/** How the store answers what it is given. */
type Weather = 'well' | 'away' | 'answer lost' | 'silent';

let clock: HandClock;
let rows: MemoryCallCounts;
let weather: Weather;

/** One run of a gateway on the store. */
function openRun(runId: string) {
  let counted: CountedCalls[] = [];
  const outages: string[] = [];
  const lost: number[] = [];
  const given: (readonly HourlyCalls[])[] = [];
  const read: SummedHours[] = [];
  const history = new UptimeHistory({
    store: {
      async keep(run, totals) {
        given.push(totals);
        if (weather === 'away') throw new Error('away');
        if (weather === 'silent') return new Promise(() => {});
        await rows.keep(run, totals);
        if (weather === 'answer lost') throw new Error('connection lost');
      },
      async sums(hours) {
        read.push(hours);
        if (weather === 'silent') return new Promise(() => {});
        if (weather === 'away') throw new Error('away');
        return rows.sums(hours);
      },
    },
    take: () => counted.splice(0),
    runId,
    clock,
    outage: { worked: () => outages.push('worked'), failed: () => outages.push('failed') },
    lost: (calls) => lost.push(calls),
  });
  const count = (calls: number, failures = 0) => {
    counted = [...counted, { site: EAST, calls, failures }];
  };
  /** Calls and failures of the newest day; undefined if the store does not answer. */
  const today = async () => {
    clock.pass(2_000);
    const days = await history.days();
    if (days === undefined) return undefined;
    return [days.get(EAST)?.calls.at(-1) ?? 0, days.get(EAST)?.failures.at(-1) ?? 0];
  };
  return { history, count, today, outages, lost, given, read };
}

beforeEach(() => {
  clock = new HandClock();
  clock.pass(HOUR_MS - (clock.now() % HOUR_MS));
  rows = new MemoryCallCounts();
  weather = 'well';
});
afterEach(() => vi.useRealTimers());

describe('UptimeHistory', () => {
  it('stores at every full minute', async () => {
    vi.useFakeTimers();
    const run = openRun('a');
    clock.pass(20_000);
    run.history.open();
    run.count(1);
    await vi.advanceTimersByTimeAsync(39_999);
    expect(run.given).toHaveLength(0);
    clock.pass(40_000);
    await vi.advanceTimersByTimeAsync(1);
    expect(run.given).toHaveLength(1);
    run.count(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(run.given).toHaveLength(2);
    await run.history.close();
    run.count(1);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(run.given).toHaveLength(2);
  });

  it('shows what was counted at once, and keeps an answer for two seconds', async () => {
    const run = openRun('a');
    run.count(3, 1);
    expect(await run.today()).toEqual([3, 1]);
    run.count(1);
    clock.pass(1_999);
    expect((await run.history.days())?.get(EAST)?.calls.at(-1)).toBe(3);
    clock.pass(1);
    expect((await run.history.days())?.get(EAST)?.calls.at(-1)).toBe(4);
  });

  it('shows the counts of other runs, and of runs before', async () => {
    const first = openRun('a');
    first.count(3, 1);
    await first.history.close();
    const second = openRun('b');
    expect(await second.today()).toEqual([3, 1]);
    second.count(2);
    expect(await second.today()).toEqual([5, 1]);
    expect([first.lost, second.outages]).toEqual([[], ['worked']]);
  });

  it('counts what it takes at a full hour for the hour before', async () => {
    const run = openRun('a');
    const began = hourOf(clock.now());
    run.count(3);
    clock.pass(HOUR_MS);
    await run.history.keep();
    run.count(1);
    await run.history.keep();
    expect(run.given).toEqual([
      [{ hour: began, site: EAST, calls: 3, failures: 0 }],
      [{ hour: began + 1, site: EAST, calls: 1, failures: 0 }],
    ]);
  });

  it('stores nothing while nothing is counted', async () => {
    const run = openRun('a');
    await run.history.keep();
    run.count(1);
    await run.history.keep();
    await run.history.keep();
    await run.history.close();
    expect(run.given).toHaveLength(1);
  });

  it('keeps counts while the store is away, and stores each once afterwards', async () => {
    const run = openRun('a');
    weather = 'away';
    for (let hour = 0; hour < 3; hour++) {
      run.count(2, 1);
      clock.pass(HOUR_MS);
      await run.history.keep();
    }
    expect(await run.today()).toBeUndefined();
    weather = 'well';
    expect(await run.today()).toEqual([6, 3]);
    await run.history.keep();
    expect(await run.today()).toEqual([6, 3]);
    expect(run.outages).toEqual(['failed', 'failed', 'failed', 'failed', 'worked']);
  });

  it('reads past hours every five minutes and at a new hour, recent ones each time', async () => {
    const run = openRun('a');
    const pastReads = () => run.read.filter(({ beforeHour, lastHour }) => beforeHour < lastHour).length;
    await run.today();
    await run.today();
    expect([pastReads(), run.read.length]).toEqual([1, 3]);
    clock.pass(300_000);
    await run.today();
    expect(pastReads()).toBe(2);
    clock.pass(HOUR_MS - 300_000);
    await run.today();
    expect(pastReads()).toBe(3);
  });

  it('counts each call once although the answer of the store was lost', async () => {
    const run = openRun('a');
    run.count(2, 1);
    weather = 'answer lost';
    await run.history.keep();
    run.count(3);
    await run.history.keep();
    weather = 'well';
    await run.history.keep();
    expect(await run.today()).toEqual([5, 1]);
  });

  it('lets no reader and no stop wait for a store that is silent, and says what is lost', async () => {
    vi.useFakeTimers();
    const run = openRun('a');
    run.count(4);
    weather = 'silent';
    const read = run.today();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await read).toBeUndefined();
    const closed = run.history.close();
    await vi.advanceTimersByTimeAsync(2_000);
    await closed;
    expect(run.lost).toEqual([4]);
  });
});
