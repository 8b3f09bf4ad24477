import { expect, it } from 'vitest';
import { SegmentSequences } from './segment-sequences.ts';

it('knows the first segment with a record beyond a sequence, however they came', () => {
  const segments = new SegmentSequences();
  expect(segments.firstBeyond(0)).toBeUndefined();
  for (const [segment, sequence] of [
    [3, 1],
    [3, 4],
    [4, 5],
    [5, 2],
    [5, 6],
  ] as const) {
    segments.note({ segment, offset: 100 }, sequence);
  }
  expect([0, 3, 4, 5, 6].map((sequence) => segments.firstBeyond(sequence))).toEqual([3, 3, 4, 5, undefined]);
  segments.forgetBefore(4);
  expect(segments.firstBeyond(0)).toBe(4);
});
