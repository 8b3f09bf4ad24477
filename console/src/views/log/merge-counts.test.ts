import { expect, it } from 'vitest';
import { mergedCounts } from './merge-counts.ts';

const HOURS = { from: '2026-11-18T00:00:00.000Z', to: '2026-11-18T04:00:00.000Z', bucket_ms: 3_600_000 };

function bucket(hour: number, count: number, failed: number) {
  return { start: `2026-11-18T0${hour}:00:00.000Z`, count, failed, refused: 0 };
}

it('puts counts of parts together, the oldest bucket first', () => {
  const newest = {
    total: 5,
    failed: 1,
    refused: 1,
    refused_requests: 9,
    counted_from: '2026-11-18T02:00:00.000Z',
    missing_before: null,
  };
  const oldest = {
    total: 7,
    failed: 2,
    refused: 2,
    refused_requests: 2,
    counted_from: null,
    missing_before: null,
  };
  expect(
    mergedCounts([
      { ...HOURS, ...newest, buckets: [bucket(2, 2, 0), bucket(3, 3, 1)] },
      { ...HOURS, ...oldest, buckets: [bucket(0, 7, 2)] },
    ]),
  ).toEqual({
    ...HOURS,
    total: 12,
    failed: 3,
    refused: 3,
    refused_requests: 11,
    counted_from: null,
    missing_before: null,
    buckets: [bucket(0, 7, 2), bucket(2, 2, 0), bucket(3, 3, 1)],
  });
  expect(mergedCounts([])).toBeUndefined();
});
