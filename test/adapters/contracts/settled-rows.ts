import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RowPlace, SettledRows } from '../../../src/ports/following/settled-rows.ts';
import type { GenerationStore, StoredGeneration } from '../../../src/ports/generations/generations.ts';

/** Adapters under test on one database, and how to close it. */
export interface SettledRowsUnderTest {
  readonly rows: SettledRows;
  readonly generations: GenerationStore;
  close(): Promise<void>;
}

/** A generation of a workspace. */
export function settledIn(workspace: string, id: string, settledAtMs = 1_790_000_000_000): StoredGeneration {
  return {
    id,
    scopes: { account: 'a', workspace, key: 'k' },
    settledAtMs,
    charge: { creditNanos: 5n, byokNanos: 0n },
    writtenOffNanos: 0n,
    writtenOffCause: null,
    row: { model: 'm' },
  };
}

/** Ids of a workspace behind a place, page by page, and where they end. */
export async function readAll(rows: SettledRows, workspaceId: string, from: RowPlace, limit = 2) {
  const ids: string[] = [];
  const until = await rows.end();
  let behind = from;
  while (behind !== until) {
    const { generations, place } = await rows.read({ workspaceId, behind, until }, limit);
    ids.push(...generations.map(({ id }) => id));
    if (place === behind) break;
    behind = place;
  }
  return { ids, place: behind };
}

/** What every SettledRows must do. `open` gives an empty one each time. */
export function settledRowsContract(name: string, open: () => Promise<SettledRowsUnderTest>): void {
  describe(`SettledRows: ${name}`, () => {
    let under: SettledRowsUnderTest;
    let rows: SettledRows;
    let generations: GenerationStore;

    beforeEach(async () => {
      under = await open();
      ({ rows, generations } = under);
    });

    afterEach(() => under.close());

    it('begins and ends where there is nothing', async () => {
      const place = await rows.begin('w', 0);
      expect((await readAll(rows, 'w', place)).ids).toEqual([]);
    });

    it('gives the rows of one workspace, page by page, each once, whatever the clock says', async () => {
      const place = await rows.begin('w', 100);
      await generations.add([settledIn('w', 'z', 300), settledIn('x', 'x', 300)]);
      await generations.add([settledIn('w', 'a', 250)]);
      const first = await readAll(rows, 'w', place);
      expect(first.ids).toEqual(['z', 'a']);
      await generations.add([settledIn('w', 'k', 120), settledIn('w', 'l', 121), settledIn('w', 'z', 300)]);
      const second = await readAll(rows, 'w', first.place);
      expect(second.ids).toEqual(['k', 'l']);
      expect((await readAll(rows, 'w', second.place)).ids).toEqual([]);
      expect(
        (await rows.read({ workspaceId: 'w', behind: place, until: await rows.end() }, 9)).generations[0],
      ).toEqual(settledIn('w', 'z', 300));
    });

    it('begins with what was settled since a moment, followed before or not', async () => {
      await generations.add([
        settledIn('w', 'old', 50),
        settledIn('w', 'new', 150),
        settledIn('x', 'x', 150),
      ]);
      const one = await rows.begin('w', 100);
      const later = await rows.begin('w', 200);
      expect((await readAll(rows, 'w', one)).ids).toEqual(['new']);
      expect((await readAll(rows, 'w', later)).ids).toEqual([]);
      await generations.add([settledIn('w', 'newest', 250)]);
      const again = await rows.begin('w', 200);
      for (const place of [later, again]) expect((await readAll(rows, 'w', place)).ids).toEqual(['newest']);
      expect((await readAll(rows, 'w', one)).ids).toEqual(['new', 'newest']);
    });

    it('reaches the end of all rows although those at the end are of other workspaces', async () => {
      const place = await rows.begin('w', 0);
      await rows.begin('x', 0);
      await generations.add([settledIn('w', 'a', 1), settledIn('x', 'b', 2)]);
      expect((await readAll(rows, 'w', place)).place).toBe(await rows.end());
    });

    it('counts and skips rows', async () => {
      const behind = await rows.begin('w', 0);
      await rows.begin('x', 0);
      await generations.add(
        ['a', 'b', 'c', 'd'].flatMap((id) => [settledIn('w', id), settledIn('x', `x${id}`)]),
      );
      const range = { workspaceId: 'w', behind, until: await rows.end() };
      expect(await rows.count(range, 3)).toBe(3);
      expect(await rows.count(range, 9)).toBe(4);
      expect(await rows.skip(range, 0)).toBe(behind);
      const third = await rows.skip(range, 2);
      expect((await readAll(rows, 'w', third)).ids).toEqual(['c', 'd']);
      expect(await rows.count({ ...range, behind: third }, 9)).toBe(2);
      expect(await rows.skip(range, 9)).toBe(range.until);
    });

    it('goes on behind rows that were released and pruned', async () => {
      const place = await rows.begin('w', 0);
      const other = await rows.begin('w', 0);
      await generations.add([settledIn('w', 'a', 1), settledIn('w', 'b', 2)]);
      const first = await readAll(rows, 'w', place);
      await rows.release(new Map([['w', [first.place, other]]]));
      expect((await readAll(rows, 'w', other)).ids).toEqual(['a', 'b']);
      await rows.release(new Map([['w', [first.place]]]));
      expect(await generations.prune(100, 10)).toBe(2);
      await generations.add([settledIn('w', 'c', 3)]);
      expect((await readAll(rows, 'w', first.place)).ids).toEqual(['c']);
      expect((await readAll(rows, 'w', other)).ids).toEqual(['c']);
    });

    it('begins anew in a workspace that was not followed for a while', async () => {
      await rows.begin('w', 0);
      await rows.begin('x', 0);
      await rows.release(new Map([['x', [await rows.end()]]]));
      await generations.add([settledIn('w', 'between', 100), settledIn('x', 'x', 100)]);
      const place = await rows.begin('w', 200);
      await generations.add([settledIn('w', 'after', 300)]);
      expect((await readAll(rows, 'w', place)).ids).toEqual(['after']);
      await rows.release(new Map());
      expect((await readAll(rows, 'w', await rows.begin('w', 200))).ids).toEqual(['after']);
    });
  });
}
