import { describe, expect, it } from 'vitest';
import { decodeJson, decodeProtobuf } from '../../../test/kit/fakes/otlp-decoder.ts';
import { runAtOnce } from '../../kit/loop/turns.ts';
import { Counter } from '../../kit/metrics/counter.ts';
import { gauge } from '../../kit/metrics/gauge.ts';
import { Histogram } from '../../kit/metrics/histogram.ts';
import { encodeParts } from '../otlp/encode.ts';
import { metricsRequests } from './metrics-request.ts';

const SOURCE = {
  resource: { attributes: [] },
  scope: { name: 'signalbox', version: '1.0.0' },
  startMs: 1_700_000_000_000,
};
const NOW_MS = SOURCE.startMs + 60_000;

function families() {
  const calls = new Counter({ name: 'calls_total', help: 'Calls.', labels: ['provider'] });
  calls.add({ provider: 'acme' }, 3);
  calls.of({ provider: 'none' });
  const seconds = new Histogram({ name: 'took_seconds', help: 'Took.', labels: ['kind'], bounds: [0.1, 1] });
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe({ kind: 'a' }, value);
  seconds.observe({ kind: 'b' }, 2);
  const odd = gauge({
    name: 'left_usd',
    help: 'Left.',
    read: () => [
      [{ account: 'a' }, -1.5],
      [{ account: 'b' }, Number.NaN],
      [{ account: 'c' }, Number.POSITIVE_INFINITY],
    ],
  });
  return [calls, seconds, odd, gauge({ name: 'absent', help: 'None.', read: () => [] })];
}

describe('metricsRequests', () => {
  const parts = [...metricsRequests(families(), SOURCE, NOW_MS)];
  const metrics = parts.flatMap(({ resourceMetrics }) => resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? []);
  const named = (name: string) => metrics.find((metric) => metric.name === name);
  const label = (key: string, stringValue: string) => [{ key, value: { stringValue } }];

  it('has the names of the registry, without those that have no figures', () => {
    expect(metrics.map(({ name }) => name)).toEqual(['calls_total', 'took_seconds', 'left_usd']);
  });

  it('adds up counters since the start', () => {
    expect(named('calls_total')?.sum).toEqual({
      aggregationTemporality: 2,
      isMonotonic: true,
      dataPoints: [3, 0].map((asDouble, place) => ({
        attributes: label('provider', ['acme', 'none'][place] ?? ''),
        startTimeUnixNano: '1700000000000000000',
        timeUnixNano: '1700000060000000000',
        asDouble,
      })),
    });
  });

  it('gives each distribution its bounds, and buckets that count what lies between them', () => {
    const points = named('took_seconds')?.histogram?.dataPoints ?? [];
    expect(points.map(({ attributes, startTimeUnixNano: _, timeUnixNano: __, ...rest }) => rest)).toEqual([
      { count: '4', sum: 7.65, bucketCounts: ['2', '1', '1'], explicitBounds: [0.1, 1] },
      { count: '1', sum: 2, bucketCounts: ['0', '0', '1'], explicitBounds: [0.1, 1] },
    ]);
    expect(points.map(({ attributes }) => attributes)).toEqual([label('kind', 'a'), label('kind', 'b')]);
  });

  it('leaves out figures that JSON has no number for', () => {
    expect(named('left_usd')?.gauge?.dataPoints.map(({ asDouble }) => asDouble)).toEqual([-1.5]);
  });

  it('divides a metric with many points, and says the same in both encodings', () => {
    const many = gauge({
      name: 'many',
      help: 'Many.',
      read: () => Array.from({ length: 1_201 }, (_, index) => [{ n: String(index) }, index] as const),
    });
    const [json, protobuf] = (['json', 'protobuf'] as const).map((format) => {
      const sliced = encodeParts(
        'ExportMetricsServiceRequest',
        metricsRequests([...families(), many], SOURCE, NOW_MS),
        format,
      );
      const { body } = runAtOnce(sliced);
      return format === 'json'
        ? decodeJson('ExportMetricsServiceRequest', JSON.parse(String(body)))
        : decodeProtobuf('ExportMetricsServiceRequest', body);
    });
    const scopes = (request: any) => request.resourceMetrics.flatMap(({ scopeMetrics }: any) => scopeMetrics);
    expect(scopes(protobuf)).toEqual(scopes(json));
    const pieces = scopes(json)
      .flatMap(({ metrics: each }: any) => each)
      .filter(({ name }: any) => name === 'many');
    expect(pieces.map(({ gauge: { dataPoints } }: any) => dataPoints.length)).toEqual([500, 500, 201]);
    expect(
      new Set(pieces.flatMap(({ gauge: { dataPoints } }: any) => dataPoints.map((p: any) => p.asDouble)))
        .size,
    ).toBe(1_201);
  });
});
