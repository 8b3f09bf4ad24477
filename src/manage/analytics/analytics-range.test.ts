import { expect, it } from 'vitest';
import { bucketsIn } from './analytics-range.ts';

it.each([
  ['minute', '2026-03-02T10:00:30Z', '2026-03-02T10:02:00Z', 2],
  ['hour', '2026-03-02T10:59:59Z', '2026-03-02T11:00:01Z', 2],
  ['day', '2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z', 1],
  ['day', '2026-03-02T23:00:00Z', '2026-03-04T00:00:00.001Z', 3],
  // The 1st of March 2026 is a Sunday.
  ['week', '2026-03-01T12:00:00Z', '2026-03-09T00:00:00Z', 2],
  ['week', '2026-03-01T12:00:00Z', '2026-03-09T00:00:01Z', 3],
  ['month', '2025-12-31T23:00:00Z', '2026-02-01T00:00:00Z', 2],
] as const)('counts the buckets of a %s from %s to %s: %i', (granularity, start, end, buckets) => {
  expect(bucketsIn({ startMs: Date.parse(start), endMs: Date.parse(end) }, granularity)).toBe(buckets);
});
