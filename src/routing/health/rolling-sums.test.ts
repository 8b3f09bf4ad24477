import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RollingSums } from './rolling-sums.ts';

const SLICES = 6;
const SLICE_MS = 5000;

describe('RollingSums', () => {
  it('is the sum over the slices of the window', () => {
    const additions = fc.array(
      fc.record({
        afterMs: fc.integer({ min: 0, max: 40_000 }),
        column: fc.integer({ min: 0, max: 1 }),
        amount: fc.integer({ min: 0, max: 9 }),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(additions, fc.integer({ min: 1, max: SLICES }), (list, slices) => {
        const sums = new RollingSums(new Uint32Array(2 * SLICES), 2, SLICE_MS);
        let nowMs = 0;
        const told = list.map(({ afterMs, column, amount }) => {
          nowMs += afterMs;
          sums.add(column, amount, nowMs);
          return { slice: Math.floor(nowMs / SLICE_MS), column, amount };
        });
        const expected = (column: number, count: number) =>
          told
            .filter((each) => each.column === column && each.slice > Math.floor(nowMs / SLICE_MS) - count)
            .reduce((sum, { amount }) => sum + amount, 0);
        expect(sums.sum(0, nowMs, slices)).toBe(expected(0, slices));
        expect([...sums.sums(nowMs)]).toEqual([expected(0, SLICES), expected(1, SLICES)]);
      }),
    );
  });

  it('forgets everything after a long silence', () => {
    const sums = new RollingSums(new Uint32Array(SLICES), 1, SLICE_MS);
    sums.add(0, 1, 1000);
    expect(sums.sum(0, 29_999)).toBe(1);
    expect(sums.sum(0, 30_000)).toBe(0);
    sums.add(0, 1, 30_000);
    expect(sums.sum(0, 10_000_000_000)).toBe(0);
  });

  it('saturates at the largest value of a cell', () => {
    const sums = new RollingSums(new Uint16Array(1), 1, 1000);
    for (let time = 0; time < 3; time++) sums.add(0, 40_000, 0);
    expect(sums.sum(0, 0)).toBe(65_535);
  });

  it('counts times before the newest slice as in it', () => {
    const sums = new RollingSums(new Uint32Array(SLICES), 1, SLICE_MS);
    sums.add(0, 1, 100_000);
    sums.add(0, 1, 20_000);
    expect(sums.sum(0, 100_000, 1)).toBe(2);
  });
});
