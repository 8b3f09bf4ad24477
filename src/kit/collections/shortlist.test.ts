import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Shortlist } from './shortlist.ts';

const byFirst = ([one]: readonly number[], [other]: readonly number[]) => (one ?? 0) - (other ?? 0);

it('has the first ones, as sorting everything would', () => {
  const entries = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer()));
  fc.assert(
    fc.property(entries, fc.integer({ min: 0, max: 12 }), (all, most) => {
      const list = new Shortlist(most, byFirst);
      for (const entry of all) list.add(entry);
      expect(list.members).toEqual(all.toSorted(byFirst).slice(0, most));
    }),
  );
});

it('reports whether a place is free', () => {
  const list = new Shortlist(1, (one: number, other: number) => one - other);
  expect(list.admits(5)).toBe(true);
  list.add(5);
  expect([4, 5, 6].map((number) => list.admits(number))).toEqual([true, false, false]);
});
