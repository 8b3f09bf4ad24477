import { expect, it } from 'vitest';
import { bucketName, bucketStarts, bucketText, labelsOf, labelsWithin } from './time-scale.ts';

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

it('labels few buckets: round times of the clock, and every so many dates', () => {
  const hours = bucketStarts(at('2026-11-02T00:00Z'), at('2026-11-03T00:00Z'), 'hour');
  expect(labelsOf(hours, 'hour', 4)).toHaveLength(4);
  const days = bucketStarts(at('2026-11-01T00:00Z'), at('2026-11-26T00:00Z'), 'day');
  expect(labelsOf(days, 'day', 8).map(({ text }) => text)).toEqual([
    '1 Nov',
    '5 Nov',
    '9 Nov',
    '13 Nov',
    '17 Nov',
    '21 Nov',
  ]);
  expect(labelsOf([], 'day', 8)).toEqual([]);
});

it('puts no more texts below a chart than there is room for', () => {
  expect([labelsWithin(null), labelsWithin(1_200), labelsWithin(320), labelsWithin(40)]).toEqual([
    8, 8, 5, 1,
  ]);
});

it('names days and longer as UTC has them, in every zone', () => {
  const start = at('2026-11-01T00:00Z');
  expect(labelsOf([start], 'day', 8)).toEqual([{ place: 0, text: '1 Nov' }]);
  expect(labelsOf([start], 'month', 8)).toEqual([{ place: 0, text: 'Nov 2026' }]);
  expect(bucketText(start, 'day')).toBe('1 Nov, UTC');
  expect(bucketText(at('2026-11-02T00:00Z'), 'week')).toBe('2 Nov – 8 Nov, UTC');
  expect([bucketName('hour'), bucketName('week')]).toEqual(['hour', 'week (UTC)']);
});
