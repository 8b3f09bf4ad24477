import type { Overview, OverviewFigures, OverviewSums } from '../../api/contract.ts';
import { type ChartSeries, OTHER_SWATCH, SWATCHES } from '../../parts/chart/time-chart.tsx';
import { bucketStart, bucketStarts } from '../../parts/chart/time-scale.ts';
import type { RateLine } from './overview-metrics.ts';

/** Groups with their own colour; all others are one. */
const COLOURED = SWATCHES.length;

/** The time buckets of an overview. */
export function startsOf({ from, to, granularity }: Overview): number[] {
  return bucketStarts(Date.parse(from), Date.parse(to), granularity);
}

type Point = { readonly date: string } & OverviewFigures;

/** One figure of every bucket. Without generations, sums are 0 and rates null. */
export function valuesOf(
  points: readonly Point[],
  starts: readonly number[],
  figure: keyof OverviewFigures,
): (number | null)[] {
  const byStart = new Map(points.map((point) => [Date.parse(point.date), point[figure]]));
  const nothing = SUMS.has(figure) ? 0 : null;
  return starts.map((startMs) => byStart.get(startMs) ?? nothing);
}

const SUMS: ReadonlySet<string> = new Set([
  'total_usage',
  'request_count',
  'tokens_total',
  'error_count',
  'usage_cache',
]);

/** The same of the period before, moved to the buckets of the range. */
export function valuesBefore(
  { from, before_from, granularity, series_before }: Overview,
  starts: readonly number[],
  figure: keyof OverviewFigures,
): (number | null)[] {
  const shiftMs = Date.parse(from) - Date.parse(before_from);
  const moved = series_before.map((point) => ({
    ...point,
    date: new Date(bucketStart(Date.parse(point.date) + shiftMs, granularity)).toISOString(),
  }));
  return valuesOf(moved, starts, figure);
}

/** The first groups as stacked series, and what is left as one more. */
export function stackedSeries(
  overview: Overview,
  starts: readonly number[],
  figure: keyof OverviewSums,
  swatches: ReadonlyMap<string | null, string>,
  nameOf: (group: Overview['groups'][number]) => string,
): ChartSeries[] {
  const places = new Map(starts.map((startMs, place) => [startMs, place]));
  const rest = valuesOf(overview.series, starts, figure).map((value) => value ?? 0);
  const shown = overview.groups.slice(0, COLOURED).map((group): ChartSeries => {
    const values = starts.map(() => 0);
    for (const point of overview.stacks) {
      const place = point.id === group.id ? places.get(Date.parse(point.date)) : undefined;
      if (place === undefined) continue;
      values[place] = point[figure];
      // Differences of decimals leave crumbs: a millionth of the whole is nothing.
      const left = (rest[place] ?? 0) - point[figure];
      rest[place] = left < point[figure] * 1e-9 ? 0 : left;
    }
    return { label: nameOf(group), swatch: swatches.get(group.id) ?? OTHER_SWATCH, values };
  });
  const others = overview.group_count - shown.length;
  return others > 0 ? [...shown, { label: `${others} other`, swatch: OTHER_SWATCH, values: rest }] : shown;
}

/** Lines of rates. */
export function rateSeries(
  points: readonly Point[],
  starts: readonly number[],
  lines: readonly RateLine[],
): ChartSeries[] {
  return lines.map(({ label, swatch, figure }) => ({
    label,
    swatch,
    values: valuesOf(points, starts, figure),
  }));
}

/** Colours of the first groups. A group keeps the colour that it had, as long as it is among the first. */
export function swatchesOf(
  ids: readonly (string | null)[],
  before: ReadonlyMap<string | null, string>,
): ReadonlyMap<string | null, string> {
  const first = ids.slice(0, COLOURED);
  const kept = new Map([...before].filter(([id]) => first.includes(id)));
  const free = SWATCHES.filter((swatch) => ![...kept.values()].includes(swatch));
  for (const id of first) {
    const next = kept.has(id) ? undefined : free.shift();
    if (next !== undefined) kept.set(id, next);
  }
  return kept;
}
