import type { AnalyticsMeta, AnalyticsRow, Granularity } from '../../api/contract.ts';
import { COUNT, DURATION, MONEY, type Notation, SHARE, TOKENS_PER_SECOND } from '../../format/notation.ts';
import { plainNumber } from '../../format/numbers.ts';
import {
  type Axis,
  COUNT_AXIS,
  DURATION_AXIS,
  MONEY_AXIS,
  PERCENT_AXIS,
  RATE_AXIS,
} from '../../parts/chart/axis.ts';
import { type ChartSeries, OTHER_SWATCH, SWATCHES } from '../../parts/chart/time-chart.tsx';
import { bucketStarts } from '../../parts/chart/time-scale.ts';
import type { Moments } from '../../parts/range/range.ts';
import type { Question } from './analytics-question.ts';

type Metric = AnalyticsMeta['metrics'][number];

interface Formats {
  readonly notation: Notation;
  readonly axis: Axis;
}

const FORMATS: Readonly<Record<Metric['display_format'], Formats>> = {
  number: { notation: COUNT, axis: COUNT_AXIS },
  currency: { notation: MONEY, axis: MONEY_AXIS },
  percent: { notation: SHARE, axis: PERCENT_AXIS },
  latency: { notation: DURATION, axis: DURATION_AXIS },
  throughput: { notation: TOKENS_PER_SECOND, axis: RATE_AXIS },
};

export function formatsOf({ display_format: format }: Metric): Formats {
  return FORMATS[format];
}

/** The value of a metric; counts beyond 2^53 come as text. Null = no data. */
export function metricValue(row: AnalyticsRow, metric: string): number | null {
  const value = row[metric] ?? null;
  return value === null ? null : Number(value);
}

/** The group of a row in words; a question without dimensions has one. */
export function groupOf(row: AnalyticsRow, { dimensions }: Question): string {
  if (dimensions.length === 0) return 'All';
  return dimensions.map((name) => String(row[name] ?? 'none')).join(' · ');
}

/** Rows as series over time: the groups with the most of the first metric, and the others as one if they add up. */
export function seriesOf(
  rows: readonly AnalyticsRow[],
  question: Question,
  metric: Metric,
  { fromMs, toMs }: Moments,
): { readonly starts: number[]; readonly series: ChartSeries[] } {
  const granularity = question.granularity as Granularity;
  const starts = bucketStarts(fromMs, toMs, granularity);
  const places = new Map(starts.map((startMs, place) => [startMs, place]));
  const groups = firstGroups(rows, question);
  const nothing = metric.is_rate ? null : 0;
  const valuesOf = new Map<string, (number | null)[]>();
  for (const row of rows) {
    const group = groupOf(row, question);
    const shown = groups.includes(group) ? group : OTHERS;
    const place = places.get(Date.parse(String(row[`date__${granularity}`])));
    if (place === undefined || (shown === OTHERS && metric.is_rate)) continue;
    const values = valuesOf.get(shown) ?? starts.map(() => nothing);
    valuesOf.set(shown, values);
    const value = metricValue(row, metric.name);
    values[place] = metric.is_rate ? value : (values[place] ?? 0) + (value ?? 0);
  }
  const series = groups.map((group, place) => ({
    label: group,
    swatch: SWATCHES[place] ?? OTHER_SWATCH,
    values: valuesOf.get(group) ?? starts.map(() => nothing),
  }));
  const others = valuesOf.get(OTHERS);
  return {
    starts,
    series:
      others === undefined ? series : [...series, { label: 'Others', swatch: OTHER_SWATCH, values: others }],
  };
}

/** No name of a group: those have characters. */
const OTHERS = '';

/** The groups that have colours: those with the most of the first metric. */
export function firstGroups(rows: readonly AnalyticsRow[], question: Question): readonly string[] {
  const [metric = ''] = question.metrics;
  const sums = new Map<string, number>();
  for (const row of rows) {
    const group = groupOf(row, question);
    sums.set(group, (sums.get(group) ?? 0) + (metricValue(row, metric) ?? 0));
  }
  return [...sums]
    .sort(([, one], [, other]) => other - one)
    .slice(0, SWATCHES.length)
    .map(([group]) => group);
}

/** A value with all its digits and no exponent; empty = none. */
export function exactText(value: unknown): string {
  if (typeof value === 'number') return plainNumber(value);
  return value === null || value === undefined ? '' : String(value);
}

/** Rows as a file for spreadsheets. Cells that a spreadsheet would take as a formula begin with an apostrophe. */
export function csvOf(rows: readonly AnalyticsRow[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cell = (value: unknown): string => {
    const text = exactText(value);
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [names.join(','), ...rows.map((row) => names.map((name) => cell(row[name])).join(',')), ''].join(
    '\r\n',
  );
}
