import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sortSliced } from './sort-sliced.ts';
import { runAtOnce } from './turns.ts';

const byFirst = ([one]: readonly number[], [other]: readonly number[]) => (one ?? 0) - (other ?? 0);

it('sorts as sorting at once does, equal members in their order', () => {
  const entries = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer()), {
    maxLength: 2_000,
    size: 'max',
  });
  fc.assert(
    fc.property(entries, (all) => {
      expect(runAtOnce(sortSliced(all, byFirst))).toEqual(all.toSorted(byFirst));
    }),
    { numRuns: 30 },
  );
});

it('compares a few thousand times in a slice at most', () => {
  let compared = 0;
  const numbers = Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 20_011);
  const work = sortSliced(numbers, (one, other) => {
    compared += 1;
    return one - other;
  });
  for (let isDone = false; !isDone; compared = 0) {
    isDone = work.next().done === true;
    expect(compared).toBeLessThan(2_500);
  }
});
