import { expect, it } from 'vitest';
import {
  axisText,
  bucketName,
  bucketStarts,
  bucketText,
  gridValues,
  labelledBuckets,
  labelsWithin,
  roundUp,
} from './time-scale.ts';

const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);

it('has all buckets that a range overlaps, of UTC', () => {
  const of = (from: string, to: string, granularity: 'hour' | 'week' | 'month') =>
    bucketStarts(at(from), at(to), granularity).map(iso);
  expect(of('2026-11-02T22:30Z', '2026-11-03T00:30Z', 'hour')).toEqual([
    '2026-11-02T22:00',
    '2026-11-02T23:00',
    '2026-11-03T00:00',
  ]);
  expect(of('2026-11-01T12:00Z', '2026-11-09T00:00Z', 'week')).toEqual([
    '2026-10-26T00:00',
    '2026-11-02T00:00',
  ]);
  expect(of('2025-12-31T23:00Z', '2026-02-01T00:00Z', 'month')).toEqual([
    '2025-12-01T00:00',
    '2026-01-01T00:00',
  ]);
});

it.each([
  [0, 1],
  [0.00042, 0.0006],
  [1, 1],
  [23.1, 24],
  [26, 32],
  [0.3, 0.32],
  [10, 10],
  [7_654, 8_000],
])('ends the scale for %d at %d', (value, max) => {
  expect(roundUp(value)).toBeCloseTo(max, 12);
});

it('draws grid lines from the top to 0', () => {
  expect(gridValues(30, 5)).toEqual([30, 22.5, 15, 7.5, 0]);
});

it('labels few buckets, the first of them always', () => {
  expect(labelledBuckets(24, 8)).toEqual([0, 3, 6, 9, 12, 15, 18, 21]);
  expect(labelledBuckets(3, 8)).toEqual([0, 1, 2]);
  expect(labelledBuckets(25, 8)).toEqual([0, 4, 8, 12, 16, 20]);
  expect(labelledBuckets(0, 8)).toEqual([]);
});

it('puts no more texts below a chart than there is room for', () => {
  expect([labelsWithin(null), labelsWithin(1_200), labelsWithin(320), labelsWithin(40)]).toEqual([
    8, 8, 5, 1,
  ]);
});

it('names days and longer as UTC has them, in every zone', () => {
  const start = at('2026-11-01T00:00Z');
  expect([axisText(start, 'day'), axisText(start, 'month')]).toEqual(['1 Nov', 'Nov 2026']);
  expect(bucketText(start, 'day')).toBe('1 Nov, UTC');
  expect(bucketText(at('2026-11-02T00:00Z'), 'week')).toBe('2 Nov – 8 Nov, UTC');
  expect([bucketName('hour'), bucketName('week')]).toEqual(['hour', 'week (UTC)']);
});
