import { describe, expect, it } from 'vitest';
import { roundDuration, roundStep, ticksUpTo, ticksWithin } from './ticks.ts';

describe('roundStep', () => {
  it.each([
    [0, 1],
    [0.00042, 0.0005],
    [0.21, 0.25],
    [1, 1],
    [1.1, 2],
    [26, 50],
    [0.3, 0.5],
    [7_654, 10_000],
  ])('is, not below %d, %d', (least, step) => expect(roundStep(least)).toBeCloseTo(step, 12));
});

describe('roundDuration', () => {
  it.each([
    [340, 500],
    [3_000, 5_000],
    [7_000, 10_000],
    [12_000, 15_000],
    [40_000, 60_000],
    [90_000, 120_000],
    [5_000_000, 7_200_000],
  ])('is, not below %d ms, %d ms', (least, step) => expect(roundDuration(least)).toBe(step));
});

it('draws an axis up to the first tick above all values', () => {
  expect(ticksUpTo(0.8664, 5, roundStep)).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  expect(ticksUpTo(200, 2, roundStep)).toEqual([0, 100, 200]);
  expect(ticksUpTo(0, 2, roundStep)).toEqual([0, 0.5, 1]);
  expect(ticksUpTo(3_100, 2, roundDuration)).toEqual([0, 2_000, 4_000]);
});

it('draws ticks within a time that ends anywhere', () => {
  expect(ticksWithin(5_452, 4, roundDuration)).toEqual([0, 2_000, 4_000]);
  expect(ticksWithin(1_000, 4, roundDuration)).toEqual([0, 250, 500, 750, 1_000]);
});
