import fc from 'fast-check';
import { expect, it } from 'vitest';
import { piecesOf } from './in-pieces.ts';

const inputs = fc.array(
  fc.oneof(fc.string({ minLength: 1, maxLength: 40 }), fc.array(fc.nat(), { minLength: 1, maxLength: 40 })),
  { minLength: 1, maxLength: 50 },
);

it('keeps all inputs in order, in pieces that are within both limits', () => {
  fc.assert(
    fc.property(
      inputs,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 100 }),
      (all, most, length) => {
        const pieces = piecesOf(all, most, length);
        expect(pieces.flat(1)).toEqual(all);
        for (const piece of pieces) {
          expect(piece.length).toBeGreaterThan(0);
          expect(piece.length).toBeLessThanOrEqual(most);
          const total = piece.reduce((sum, input) => sum + input.length, 0);
          // One input is never split.
          expect(piece.length === 1 || total <= length).toBe(true);
        }
      },
    ),
  );
});

it('makes no more pieces than the limits ask for', () => {
  expect(piecesOf(['a', 'b', 'c'], 3)).toHaveLength(1);
  expect(piecesOf(['a', 'b', 'c'], 2)).toEqual([['a', 'b'], ['c']]);
  expect(piecesOf(['aaaa', 'b', 'c'], 9, 3)).toEqual([['aaaa'], ['b', 'c']]);
});
