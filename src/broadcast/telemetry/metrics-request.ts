import type { MetricFamily, MetricSample } from '../../kit/metrics/metric-family.ts';
import { numberOf } from '../../kit/metrics/metric-snapshot.ts';
import {
  CUMULATIVE,
  type ExportMetricsServiceRequest,
  type HistogramDataPoint,
  type KeyValue,
  type Metric,
  type NumberDataPoint,
} from '../otlp/messages.ts';
import { unixNano } from '../otlp/values.ts';
import type { TelemetrySource } from './telemetry-source.ts';

/** When figures were read, and since when sums are added up. */
interface Times {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

/** Points that are encoded in one slice: about a millisecond of work. */
const POINTS_TOGETHER = 500;

/**
 * All figures of `/metrics`, under the same names, as the parts of a request. Figures that are no finite numbers are
 * left out; a metric with many points comes in several pieces.
 */
export function* metricsRequests(
  families: readonly MetricFamily[],
  { resource, scope, startMs }: TelemetrySource,
  nowMs: number,
): Generator<ExportMetricsServiceRequest> {
  const times = { startTimeUnixNano: unixNano(startMs), timeUnixNano: unixNano(nowMs) };
  let metrics: Metric[] = [];
  let points = 0;
  const part = () => ({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] });
  for (const family of families) {
    const metric = metricOf(family, times);
    if (metric === undefined) continue;
    for (const piece of piecesOf(metric)) {
      metrics.push(piece);
      points += pointsOf(piece).length;
      if (points < POINTS_TOGETHER) continue;
      yield part();
      metrics = [];
      points = 0;
    }
  }
  if (metrics.length > 0) yield part();
}

function pointsOf({ gauge, sum, histogram }: Metric): readonly unknown[] {
  return (gauge ?? sum ?? histogram)?.dataPoints ?? [];
}

/** A metric in pieces with few points, each with all else that it has. */
function piecesOf(metric: Metric): Metric[] {
  const count = Math.ceil(pointsOf(metric).length / POINTS_TOGETHER);
  if (count <= 1) return [metric];
  return Array.from({ length: count }, (_, index) => {
    const from = index * POINTS_TOGETHER;
    const cut = <Kind extends { readonly dataPoints: readonly unknown[] }>(kind: Kind | undefined) =>
      kind && { ...kind, dataPoints: kind.dataPoints.slice(from, from + POINTS_TOGETHER) };
    return { ...metric, gauge: cut(metric.gauge), sum: cut(metric.sum), histogram: cut(metric.histogram) };
  });
}

/** Without a unit, because some receivers put units behind names: they would no longer be those of `/metrics`. */
function metricOf(family: MetricFamily, times: Times): Metric | undefined {
  const { name, help: description, type } = family;
  const samples = [...family.samples()];
  if (type === 'histogram') {
    const dataPoints = histogramPoints(samples, times);
    if (dataPoints.length === 0) return undefined;
    return { name, description, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
  }
  const isSum = type === 'counter';
  const dataPoints = samples.flatMap((sample) => pointOf(sample, times, isSum) ?? []);
  if (dataPoints.length === 0) return undefined;
  return isSum
    ? { name, description, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } }
    : { name, description, gauge: { dataPoints } };
}

function pointOf(
  { labels, value }: MetricSample,
  { startTimeUnixNano, timeUnixNano }: Times,
  isSum: boolean,
): NumberDataPoint | undefined {
  const asDouble = numberOf(value);
  if (!Number.isFinite(asDouble)) return undefined;
  return {
    attributes: attributesOf(labels),
    startTimeUnixNano: isSum ? startTimeUnixNano : undefined,
    timeUnixNano,
    asDouble,
  };
}

interface Distribution {
  readonly labels: Readonly<Record<string, string>>;
  readonly bounds: number[];
  /** Counts of values up to each bound; the last one counts all. */
  readonly upTo: number[];
  sum: number;
}

/** Points from the samples that a scraper gets: their buckets count values up to a bound. */
function histogramPoints(samples: readonly MetricSample[], times: Times): HistogramDataPoint[] {
  const distributions = new Map<string, Distribution>();
  for (const { suffix, labels: all, value } of samples) {
    const { le, ...labels } = all;
    const key = JSON.stringify(labels);
    const known = distributions.get(key) ?? { labels, bounds: [], upTo: [], sum: 0 };
    distributions.set(key, known);
    if (suffix === '_sum') known.sum = numberOf(value);
    if (suffix !== '_bucket' || le === undefined) continue;
    const bound = numberOf(le);
    if (Number.isFinite(bound)) known.bounds.push(bound);
    known.upTo.push(numberOf(value));
  }
  return [...distributions.values()].map(({ labels, bounds, upTo, sum }) => ({
    attributes: attributesOf(labels),
    ...times,
    count: String(upTo.at(-1) ?? 0),
    sum,
    bucketCounts: upTo.map((count, place) => String(count - (upTo[place - 1] ?? 0))),
    explicitBounds: bounds,
  }));
}

function attributesOf(labels: Readonly<Record<string, string>>): KeyValue[] {
  return Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}
