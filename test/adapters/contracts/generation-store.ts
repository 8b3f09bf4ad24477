import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  GenerationRefused,
  type GenerationStore,
  type StoredGeneration,
} from '../../../src/ports/generations/generations.ts';

/** An adapter under test, and how to close it. */
export interface GenerationStoreUnderTest {
  readonly generations: GenerationStore;
  close(): Promise<void>;
}

const generation = (id: string, more: Partial<StoredGeneration> = {}): StoredGeneration => ({
  id,
  scopes: { account: 'a', workspace: 'a-default', key: 'f'.repeat(64) },
  settledAtMs: 1_790_000_000_123,
  charge: { creditNanos: 5n, byokNanos: 0n },
  writtenOffNanos: 0n,
  writtenOffCause: null,
  row: { model: 'acme/large' },
  ...more,
});

/** What every GenerationStore must do. `open` gives an empty one each time. */
export function generationStoreContract(name: string, open: () => Promise<GenerationStoreUnderTest>): void {
  describe(`GenerationStore: ${name}`, () => {
    let under: GenerationStoreUnderTest;
    let generations: GenerationStore;

    beforeEach(async () => {
      under = await open();
      generations = under.generations;
    });

    afterEach(() => under.close());

    it('begins empty, and adding nothing leaves it so', async () => {
      await generations.add([]);
      expect(await generations.count()).toBe(0);
      expect(await generations.find('a', 'gen-1')).toBeUndefined();
      expect(await generations.prune(Number.MAX_SAFE_INTEGER, 10)).toBe(0);
    });

    it('keeps every member, money to the nano-dollar', async () => {
      const whole = generation('gen-1', {
        charge: { creditNanos: 9_007_199_254_740_993n, byokNanos: 9_007_199_254_740_995n },
        writtenOffNanos: 9_007_199_254_740_997n,
        writtenOffCause: 'searches',
        row: {
          text: "Robert'); DROP TABLE generations;-- \u{1F511} \u0000 \ud800",
          number: 0.1,
          list: [1, null, { deep: true }],
          nothing: null,
        },
      });
      await generations.add([whole]);
      expect(await generations.find('a', 'gen-1')).toEqual(whole);
    });

    it('finds nothing of another account', async () => {
      await generations.add([generation('gen-1')]);
      expect(await generations.find('b', 'gen-1')).toBeUndefined();
    });

    it('leaves stored rows unchanged, also if a row is added twice at once', async () => {
      const first = generation('gen-1');
      await generations.add([first]);
      const again = generation('gen-1', { charge: { creditNanos: 99n, byokNanos: 1n }, row: {} });
      await generations.add([again, generation('gen-2'), generation('gen-2', { row: {} })]);
      expect(await generations.count()).toBe(2);
      expect(await generations.find('a', 'gen-1')).toEqual(first);
      expect(await generations.find('a', 'gen-2')).toEqual(generation('gen-2'));
    });

    it('takes more than one statement holds', async () => {
      const many = Array.from({ length: 1001 }, (_, index) => generation(`gen-${index}`));
      await generations.add(many);
      await generations.add(many);
      expect(await generations.count()).toBe(1001);
      expect(await generations.find('a', 'gen-1000')).toEqual(many[1000]);
    });

    it.each([
      ['without an account', { scopes: { account: null as unknown as string, workspace: 'w', key: 'k' } }],
      ['with more credits than 64 bits hold', { charge: { creditNanos: 2n ** 63n, byokNanos: 0n } }],
      ['with more of its own than 64 bits hold', { charge: { creditNanos: 0n, byokNanos: 2n ** 64n + 5n } }],
      ['that wrote off more than 64 bits hold', { writtenOffNanos: 2n ** 63n }],
      ['from a time that is none', { settledAtMs: Number.NaN }],
    ])('adds all or none: refuses one %s, and names it', async (_, wrong) => {
      const bad = generation('gen-bad', wrong);
      const many = Array.from({ length: 300 }, (_, index) => generation(`gen-${index}`));
      await expect(generations.add([...many, bad])).rejects.toThrow(GenerationRefused);
      expect(await generations.count()).toBe(0);
      await generations.add(many);
      expect(await generations.count()).toBe(300);
    });

    it('keeps the largest amount that 64 bits hold', async () => {
      const largest = 2n ** 63n - 1n;
      const rich = generation('gen-1', {
        charge: { creditNanos: largest, byokNanos: largest },
        writtenOffNanos: largest,
      });
      await generations.add([rich]);
      expect(await generations.find('a', 'gen-1')).toEqual(rich);
    });

    it('takes the same rows from many at once', async () => {
      const rows = Array.from({ length: 20 }, (_, index) => generation(`gen-${index}`));
      await Promise.all(Array.from({ length: 8 }, () => generations.add(rows)));
      expect(await generations.count()).toBe(20);
    });

    it('returns all in the order of settlement, page by page', async () => {
      await generations.add(
        [300, 100, 200, 100, 200].map((settledAtMs, index) =>
          generation(`gen-${9 - index}`, { settledAtMs, row: { index } }),
        ),
      );
      const seen: string[] = [];
      let place = { settledAtMs: Number.MIN_SAFE_INTEGER, id: '' };
      for (let page = await generations.settledAfter(place, 2); page.length > 0; ) {
        expect(page.length).toBeLessThanOrEqual(2);
        seen.push(...page.map(({ id }) => id));
        place = page.at(-1) ?? place;
        page = await generations.settledAfter(place, 2);
      }
      expect(seen).toEqual(['gen-6', 'gen-8', 'gen-5', 'gen-7', 'gen-9']);
      const [first] = await generations.settledAfter({ settledAtMs: 200, id: '' }, 1);
      expect(first).toEqual(generation('gen-5', { settledAtMs: 200, row: { index: 4 } }));
    });

    it('sums what was written off, by account and by cause, for a key and a time', async () => {
      const lost = (id: string, more: Partial<StoredGeneration>) =>
        generation(id, { writtenOffNanos: 10n, writtenOffCause: 'dropped', ...more });
      const other = { account: 'b', workspace: 'w', key: 'other' };
      await generations.add([
        generation('gen-0', { settledAtMs: 50 }),
        lost('gen-1', { settledAtMs: 100 }),
        lost('gen-2', { settledAtMs: 200, writtenOffNanos: 2n ** 61n }),
        lost('gen-3', { settledAtMs: 200, writtenOffCause: 'time_limit' }),
        lost('gen-4', { settledAtMs: 300, writtenOffCause: null }),
        lost('gen-5', { settledAtMs: 300, scopes: other }),
      ]);
      const shown = async (scope: Parameters<typeof generations.writtenOff>[0]) =>
        (await generations.writtenOff(scope))
          .map(({ accountId, cause, nanos }) => `${accountId} ${cause} ${nanos}`)
          .sort();
      const all = [`a dropped ${2n ** 61n + 10n}`, 'a output 10', 'a time_limit 10', 'b dropped 10'];
      expect(await shown({})).toEqual(all);
      expect(await shown({ accountId: 'a' })).toEqual(all.slice(0, 3));
      expect((await generations.writtenOff({ accountId: 'a' }))[0]).toMatchObject({ cause: 'dropped' });
      expect(await shown({ keyHash: 'other' })).toEqual(['b dropped 10']);
      expect(await shown({ fromMs: 101, toMs: 300 })).toEqual([`a dropped ${2n ** 61n}`, 'a time_limit 10']);
    });

    it('prunes the oldest first, at most as many as it may, and none that is young enough', async () => {
      await generations.add(
        [300, 100, 200, 400].map((settledAtMs) => generation(`gen-${settledAtMs}`, { settledAtMs })),
      );
      const left = async () => {
        const found = await Promise.all([100, 200, 300, 400].map((at) => generations.find('a', `gen-${at}`)));
        return found.flatMap((one) => one?.settledAtMs ?? []);
      };
      expect(await generations.prune(400, 2)).toBe(2);
      expect(await left()).toEqual([300, 400]);
      expect(await generations.prune(400, 2)).toBe(1);
      expect(await generations.prune(400, 2)).toBe(0);
      expect(await left()).toEqual([400]);
    });
  });
}
