import type { OverviewFigures, OverviewSums } from '../../api/contract.ts';
import { sumMoney } from '../../format/money.ts';
import { change, count, percent, plainNumber, pointChange } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { countAxis, durationAxis, moneyAxis, percentAxis } from '../../parts/chart/axis-format.ts';
import { type ExactAttributes, exactFigure, exactUsd } from '../../parts/exact.ts';

/** A line of a chart of rates. */
export interface RateLine {
  readonly label: string;
  readonly swatch: string;
  readonly figure: keyof OverviewFigures;
}

/** A tile of the strip, which chooses the metric of the chart. */
export interface OverviewMetric {
  /** In the address. */
  readonly name: string;
  readonly title: string;
  /** Beside the title, quieter. */
  readonly detail?: string;
  /** What the breakdown and the sparkline show. */
  readonly figure: keyof OverviewFigures;
  /** Sums are stacked bars of groups; rates are lines. */
  readonly sum: keyof OverviewSums | null;
  readonly lines: readonly RateLine[];
  readonly format: (value: number) => string;
  readonly formatAxis: (value: number) => string;
  /** The figure of the tile; null = no data. */
  readonly shown: (figures: OverviewFigures) => string | null;
  /** All digits, for copying. */
  readonly changeText: (now: OverviewFigures, before: OverviewFigures) => string;
  readonly context: (now: OverviewFigures, before: OverviewFigures) => string;
  /** Whether more is clearly worse (1) or better (-1); 0 = neither. */
  readonly worseBy: -1 | 0 | 1;
}

const errorRate = ({ error_count, request_count }: OverviewSums): number =>
  request_count === 0 ? 0 : error_count / request_count;

const percentiles = (name: 'latency' | 'duration'): readonly RateLine[] => [
  { label: 'p50', swatch: 'k1', figure: `p50_${name}` },
  { label: 'p90', swatch: 'k5', figure: `p90_${name}` },
  { label: 'p99', swatch: 'k2', figure: `p99_${name}` },
];

const ofSum = (
  name: string,
  title: string,
  sum: keyof OverviewSums,
  format: (value: number) => string,
  formatAxis: (value: number) => string,
): OverviewMetric => ({
  name,
  title,
  figure: sum,
  sum,
  lines: [],
  format,
  formatAxis,
  shown: (figures) => format(figures[sum]),
  changeText: (now, before) => change(now[sum], before[sum]),
  context: (_now, before) => `from ${format(before[sum])}`,
  worseBy: 0,
});

const ofPercentile = (name: string, title: string, of: 'latency' | 'duration'): OverviewMetric => ({
  name,
  title,
  detail: 'p50',
  figure: `p50_${of}`,
  sum: null,
  lines: percentiles(of),
  format: duration,
  formatAxis: durationAxis,
  shown: (figures) => orNull(figures[`p50_${of}`], duration),
  changeText: (now, before) => change(now[`p50_${of}`] ?? 0, before[`p50_${of}`] ?? 0),
  context: (now) => `p99 ${orNull(now[`p99_${of}`], duration) ?? '–'}`,
  worseBy: 1,
});

function orNull(value: number | null, format: (value: number) => string): string | null {
  return value === null ? null : format(value);
}

/** Sums of little money have more places: nothing that was spent is shown as $0.00. */
export function spend(usd: number): string {
  if (usd === 0) return '$0';
  return Math.abs(usd) < 1
    ? `${usd < 0 ? '−' : ''}$${Math.abs(usd).toFixed(Math.abs(usd) < 0.01 ? 6 : 4)}`
    : sumMoney(usd);
}

/** The tiles, in their order. */
export const OVERVIEW_METRICS: readonly OverviewMetric[] = [
  ofSum('spend', 'Spend', 'total_usage', spend, moneyAxis),
  ofSum('requests', 'Requests', 'request_count', count, countAxis),
  ofSum('tokens', 'Tokens', 'tokens_total', count, countAxis),
  {
    ...ofSum('errors', 'Errors', 'error_count', count, countAxis),
    shown: (figures) => percent(errorRate(figures)),
    changeText: (now, before) => change(errorRate(now), errorRate(before)),
    context: (_now, before) => `from ${percent(errorRate(before))}`,
    worseBy: 1,
  },
  ofPercentile('answer-time', 'Total', 'duration'),
  ofPercentile('first-token', 'First token', 'latency'),
  {
    name: 'cache',
    title: 'Cache share',
    figure: 'cache_hit_rate',
    sum: null,
    lines: [{ label: 'Cache share', swatch: 'k1', figure: 'cache_hit_rate' }],
    format: (share) => percent(share),
    formatAxis: percentAxis,
    shown: ({ cache_hit_rate }) => orNull(cache_hit_rate, percent),
    changeText: (now, before) => pointChange(now.cache_hit_rate ?? 0, before.cache_hit_rate ?? 0),
    context: ({ usage_cache }) => `saved ${spend(usage_cache)}`,
    worseBy: -1,
  },
];

/** The metric of an address. */
export function metricNamed(name: string | null): OverviewMetric {
  const [first] = OVERVIEW_METRICS;
  return OVERVIEW_METRICS.find((metric) => metric.name === name) ?? (first as OverviewMetric);
}

/** The class of a change: coloured only where more is clearly worse or better. */
export function changeClass(metric: OverviewMetric, text: string): string {
  const sign = text.startsWith('+') ? 1 : text.startsWith('−') ? -1 : 0;
  const isWorse = sign * metric.worseBy;
  return isWorse === 0 ? '' : isWorse > 0 ? 'bad' : 'ok';
}

/** Attributes of a rounded figure of a metric, with all its digits. */
export function exactValue({ figure }: OverviewMetric, value: number): ExactAttributes {
  return figure === 'total_usage' ? exactUsd(value) : exactFigure(plainNumber(value));
}
