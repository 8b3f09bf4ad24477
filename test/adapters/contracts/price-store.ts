import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PriceRow, PriceStore } from '../../../src/ports/upstreams/prices.ts';

const row = (over: Partial<PriceRow>): PriceRow => ({
  model: 'acme/one',
  endpoint: 'acme',
  member: 'prompt',
  minPromptTokens: 0,
  sinceMs: 1_000,
  price: '0.000001',
  ...over,
});

/** What every price store does. */
export function priceStoreContract(
  name: string,
  open: () => Promise<{ readonly store: PriceStore; close(): Promise<void> }>,
): void {
  describe(name, () => {
    let store: PriceStore;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ store, close } = await open());
    });
    afterEach(() => close());

    it('has the newest row of each key, and all rows by key and time', async () => {
      const later = row({ sinceMs: 2_000, price: null });
      const long = row({ minPromptTokens: 200_000, price: '0.000002' });
      const other = row({ model: 'acme/two' });
      await store.add([later, other, long, row({})]);
      expect(await store.list()).toEqual([row({}), later, long, other]);
      expect(await store.list('acme/two')).toEqual([other]);
      const newest = await store.newest();
      expect(newest).toHaveLength(3);
      expect(newest).toEqual(expect.arrayContaining([later, long, other]));
    });

    it('leaves rows that it has as they are, and takes many at once', async () => {
      const rows = Array.from({ length: 1_201 }, (_, index) => row({ model: `acme/${index}` }));
      await store.add(rows);
      await store.add([row({ model: 'acme/7', price: '9' })]);
      expect(await store.newest()).toHaveLength(rows.length);
      expect(await store.list('acme/7')).toEqual([row({ model: 'acme/7' })]);
    });
  });
}
