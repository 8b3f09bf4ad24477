import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallCountStore, HourlyCalls, PeriodCalls } from '../../../src/ports/upstreams/call-counts.ts';

const EAST = 'm/one\neast\nx';
const WEST = 'm/one\nwest\nx';

/** An hour in the middle of 2026. */
const NOW = 494_700;

const total = (hour: number, calls: number, failures = 0, site = EAST): HourlyCalls => ({
  hour,
  site,
  calls,
  failures,
});

const DAYS = { fromHour: NOW - 719, beforeHour: NOW + 2, lastHour: NOW, hoursPerPeriod: 24 };

/** What every store of call counts does. */
export function callCountStoreContract(
  name: string,
  open: () => Promise<{ readonly store: CallCountStore; close(): Promise<void> }>,
): void {
  describe(name, () => {
    let store: CallCountStore;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ store, close } = await open());
    });
    afterEach(() => close());

    const sums = async (hours = DAYS) =>
      [...(await store.sums(hours))].sort((one: PeriodCalls, other: PeriodCalls) =>
        one.period === other.period ? one.site.localeCompare(other.site) : one.period - other.period,
      );

    it('has nothing at first', async () => {
      await store.keep('a', []);
      expect(await sums()).toEqual([]);
      expect(await store.pruneOldest(NOW)).toBe(0);
    });

    it('sums the hours of a period over all runs, for each endpoint', async () => {
      await store.keep('a', [total(NOW, 5, 1), total(NOW - 23, 10), total(NOW - 24, 7, 7)]);
      await store.keep('b', [total(NOW, 3), total(NOW, 2, 2, WEST)]);
      expect(await sums()).toEqual([
        { period: 0, site: EAST, calls: 18, failures: 1 },
        { period: 0, site: WEST, calls: 2, failures: 2 },
        { period: 1, site: EAST, calls: 7, failures: 7 },
      ]);
    });

    it('counts an hour ahead as now, and leaves out hours that are not asked for', async () => {
      await store.keep('a', [total(NOW + 1, 1), total(NOW + 2, 10), total(NOW - 47, 100)]);
      await store.keep('a', [total(NOW - 48, 1_000)]);
      expect(await sums({ ...DAYS, fromHour: NOW - 47 })).toEqual([
        { period: 0, site: EAST, calls: 1, failures: 0 },
        { period: 1, site: EAST, calls: 100, failures: 0 },
      ]);
    });

    it('takes a total again without counting it twice, and is not set back by a late one', async () => {
      await store.keep('a', [total(NOW, 5, 1)]);
      await store.keep('a', [total(NOW, 5, 1)]);
      await store.keep('a', [total(NOW, 9, 2)]);
      await store.keep('a', [total(NOW, 7, 1)]);
      expect(await sums()).toEqual([{ period: 0, site: EAST, calls: 9, failures: 2 }]);
    });

    it('takes many totals at once, and totals beyond 32 bits', async () => {
      const totals = Array.from({ length: 2_500 }, (_, at) => total(NOW, 3_000_000_000, 1, `m/${at}\nt\nx`));
      await store.keep('a', totals);
      await store.keep('b', totals);
      const found = await sums();
      expect(found).toHaveLength(2_500);
      expect(new Set(found.map(({ calls }) => calls))).toEqual(new Set([6_000_000_000]));
    });

    it('removes one hour at a time, the oldest first', async () => {
      await store.keep('a', [
        total(NOW - 3, 1),
        total(NOW - 2, 1),
        total(NOW, 1),
        total(NOW - 3, 1, 0, WEST),
      ]);
      expect(await store.pruneOldest(NOW)).toBe(2);
      expect(await store.pruneOldest(NOW)).toBe(1);
      expect(await store.pruneOldest(NOW)).toBe(0);
      expect(await sums()).toEqual([{ period: 0, site: EAST, calls: 1, failures: 0 }]);
    });
  });
}
