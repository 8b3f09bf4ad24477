import { describe, expect, it } from 'vitest';
import { growthOf } from './frugal-heap.ts';

const MIB = 1024 * 1024;

describe('the growth that a heap is allowed', () => {
  it.each([
    [10, 100],
    [32, 100],
    [64, 50],
    [107, 30],
    [2000, 20],
  ])('%i MiB: %i percent', (live, percent) => {
    expect(growthOf(live * MIB)).toBe(percent);
  });
});
