import type { OverviewFigures, OverviewSums } from '../../api/contract.ts';
import { COUNT, DURATION, MONEY, type Notation, SHARE } from '../../format/notation.ts';
import { change, percentOf, plainNumber, pointChange } from '../../format/numbers.ts';
import { type Axis, COUNT_AXIS, DURATION_AXIS, MONEY_AXIS, PERCENT_AXIS } from '../../parts/chart/axis.ts';
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
  readonly notation: Notation;
  readonly axis: Axis;
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

const errorShare = ({ error_count, request_count }: OverviewSums): string =>
  percentOf(error_count, request_count);

const percentiles = (name: 'latency' | 'duration'): readonly RateLine[] => [
  { label: 'p50', swatch: 'k1', figure: `p50_${name}` },
  { label: 'p90', swatch: 'k5', figure: `p90_${name}` },
  { label: 'p99', swatch: 'k2', figure: `p99_${name}` },
];

const ofSum = (
  name: string,
  title: string,
  sum: keyof OverviewSums,
  notation: Notation,
  axis: Axis,
): OverviewMetric => ({
  name,
  title,
  figure: sum,
  sum,
  lines: [],
  notation,
  axis,
  shown: (figures) => notation.one(figures[sum]),
  changeText: (now, before) => change(now[sum], before[sum]),
  context: (_now, before) => `from ${notation.one(before[sum])}`,
  worseBy: 0,
});

const ofPercentile = (name: string, title: string, of: 'latency' | 'duration'): OverviewMetric => ({
  name,
  title,
  detail: 'p50',
  figure: `p50_${of}`,
  sum: null,
  lines: percentiles(of),
  notation: DURATION,
  axis: DURATION_AXIS,
  shown: (figures) => orNull(figures[`p50_${of}`], DURATION),
  changeText: (now, before) => change(now[`p50_${of}`] ?? 0, before[`p50_${of}`] ?? 0),
  context: (now) => `p99 ${orNull(now[`p99_${of}`], DURATION) ?? '–'}`,
  worseBy: 1,
});

function orNull(value: number | null, { one }: Notation): string | null {
  return value === null ? null : one(value);
}

/** The tiles, in their order. */
export const OVERVIEW_METRICS: readonly OverviewMetric[] = [
  ofSum('spend', 'Spend', 'total_usage', MONEY, MONEY_AXIS),
  ofSum('requests', 'Requests', 'request_count', COUNT, COUNT_AXIS),
  ofSum('tokens', 'Tokens', 'tokens_total', COUNT, COUNT_AXIS),
  {
    ...ofSum('errors', 'Errors', 'error_count', COUNT, COUNT_AXIS),
    shown: errorShare,
    changeText: (now, before) => change(errorRate(now), errorRate(before)),
    context: (_now, before) => `from ${errorShare(before)}`,
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
    notation: SHARE,
    axis: PERCENT_AXIS,
    shown: ({ cache_hit_rate }) => orNull(cache_hit_rate, SHARE),
    changeText: (now, before) => pointChange(now.cache_hit_rate ?? 0, before.cache_hit_rate ?? 0),
    context: ({ usage_cache }) => `saved ${MONEY.one(usage_cache)}`,
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
