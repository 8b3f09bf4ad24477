import { describe, expect, it } from 'vitest';
import { growthOf } from './frugal-heap.ts';

const MIB = 1024 * 1024;

describe('the growth that a heap is allowed', () => {
  it.each([
    [10, 100],
    [48, 100],
    [96, 50],
    [160, 30],
    [2000, 20],
  ])('%i MiB: %i percent', (live, percent) => {
    expect(growthOf(live * MIB)).toBe(percent);
  });
});
