import { expect, it } from 'vitest';
import type { Overview, OverviewFigures } from '../../api/contract.ts';
import { stackedSeries, startsOf, swatchesOf, valuesBefore, valuesOf } from './overview-series.ts';

const figures = (usd: number): OverviewFigures => ({
  total_usage: usd,
  request_count: usd,
  tokens_total: 0,
  error_count: 0,
  cache_hit_rate: null,
  usage_cache: 0,
  p50_latency: usd,
  p90_latency: null,
  p99_latency: null,
  p50_duration: null,
  p90_duration: null,
  p99_duration: null,
});

const group = (id: string | null, usd: number) => ({
  id,
  name: id ?? 'none',
  now: figures(usd),
  before: figures(0),
});

const stack = (hour: number, id: string | null, usd: number) => ({
  date: `2026-11-02T${hour}:00:00.000Z`,
  id,
  total_usage: usd,
  request_count: usd,
  tokens_total: 0,
  error_count: 0,
});

const OVERVIEW: Overview = {
  from: '2026-11-02T14:30:00.000Z',
  to: '2026-11-02T17:00:00.000Z',
  before_from: '2026-11-02T12:00:00.000Z',
  granularity: 'hour',
  by: 'model',
  now: figures(9),
  before: figures(0),
  series: [
    { date: '2026-11-02T14:00:00.000Z', ...figures(0.3) },
    { date: '2026-11-02T16:00:00.000Z', ...figures(6) },
  ],
  series_before: [{ date: '2026-11-02T12:00:00.000Z', ...figures(5) }],
  groups: [group('a', 5.3), group(null, 1)],
  group_count: 3,
  stacks: [stack(14, 'a', 0.1 + 0.2), stack(16, 'a', 4), stack(16, null, 1)],
  errors: [],
  ledger: { state: 'agrees', booked: 0, counted: 0, difference: 0, imported: 0, newest_generation_at: null },
  written_off: [],
  query_time_ms: 1,
};

it('fills buckets without generations: 0 for sums, nothing for rates', () => {
  const starts = startsOf(OVERVIEW);
  expect(valuesOf(OVERVIEW.series, starts, 'total_usage')).toEqual([0.3, 0, 6]);
  expect(valuesOf(OVERVIEW.series, starts, 'p50_latency')).toEqual([0.3, null, 6]);
});

it('moves the period before to the buckets of the range', () => {
  expect(valuesBefore(OVERVIEW, startsOf(OVERVIEW), 'total_usage')).toEqual([5, 0, 0]);
});

it('stacks the first groups, and the rest as one', () => {
  const swatches = swatchesOf(['a', null], new Map());
  const series = stackedSeries(OVERVIEW, startsOf(OVERVIEW), 'total_usage', swatches, ({ name }) => name);
  expect(series).toEqual([
    { label: 'a', swatch: 'k1', values: [0.1 + 0.2, 0, 4] },
    { label: 'none', swatch: 'k2', values: [0, 0, 1] },
    { label: '1 other', swatch: 'k8', values: [0, 0, 1] },
  ]);
});

it('lets a group keep its colour when the order changes', () => {
  const first = swatchesOf(['a', 'b', 'c'], new Map());
  const second = swatchesOf(['c', 'd', 'a'], first);
  expect([...second]).toEqual(
    expect.arrayContaining([
      ['c', 'k3'],
      ['a', 'k1'],
      ['d', 'k2'],
    ]),
  );
});
