import { expect, it } from 'vitest';
import { pauseMs } from './pauses.ts';

it('doubles pauses up to half a minute, with jitter', () => {
  const longest = Array.from({ length: 7 }, (_, index) => pauseMs(index + 1, undefined, () => 1));
  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(pauseMs(3, undefined, () => 0)).toBe(2_000);
  expect(pauseMs(100_000, undefined, () => 0)).toBe(15_000);
});

it('obeys what was asked for, within an hour', () => {
  expect(pauseMs(9, 7_000, () => 0)).toBe(7_000);
  expect(pauseMs(1, 0, () => 0)).toBe(1_000);
  expect(pauseMs(1, 1e12, () => 0)).toBe(3_600_000);
});
