import { describe, expect, it } from 'vitest';
import { Counter } from './counter.ts';
import { expositionOf } from './exposition.ts';
import { gauge } from './gauge.ts';
import { Histogram } from './histogram.ts';
import { mergeSnapshots, snapshotOf } from './metric-snapshot.ts';

const processOf = (requests: Readonly<Record<string, number>>, delays: readonly number[], age: number) => {
  const counter = new Counter({ name: 'requests_total', help: 'Requests.', labels: ['status'] });
  for (const [status, count] of Object.entries(requests)) counter.add({ status }, count);
  const histogram = new Histogram({ name: 'delay_seconds', help: 'Delays.', labels: [], bounds: [1, 2] });
  for (const delay of delays) histogram.observe({}, delay);
  const oldest = gauge({ name: 'age_seconds', help: 'Age.', read: () => age });
  return [counter, histogram, oldest].map(snapshotOf);
};

describe('mergeSnapshots', () => {
  it('adds up what has the same labels and keeps what only one process has', () => {
    const all = [...processOf({ 200: 3, 429: 1 }, [0.5, 3], 7), ...processOf({ 200: 4, 503: 2 }, [1.5], 5)];
    const families = mergeSnapshots(all, { age_seconds: 'highest' });
    expect(expositionOf(families)).toBe(
      [
        '# HELP requests_total Requests.',
        '# TYPE requests_total counter',
        'requests_total{status="200"} 7',
        'requests_total{status="429"} 1',
        'requests_total{status="503"} 2',
        '# HELP delay_seconds Delays.',
        '# TYPE delay_seconds histogram',
        'delay_seconds_bucket{le="1"} 1',
        'delay_seconds_bucket{le="2"} 2',
        'delay_seconds_bucket{le="+Inf"} 3',
        'delay_seconds_sum 5',
        'delay_seconds_count 3',
        '# HELP age_seconds Age.',
        '# TYPE age_seconds gauge',
        'age_seconds 7',
        '',
      ].join('\n'),
    );
  });

  it('takes the lowest where a rule says so, and understands infinities', () => {
    const of = (value: number) => snapshotOf(gauge({ name: 'start', help: 'Start.', read: () => value }));
    const [family] = mergeSnapshots([of(9), of(Number.POSITIVE_INFINITY), of(4)], { start: 'lowest' });
    expect([...(family?.samples() ?? [])]).toEqual([{ labels: {}, value: '4' }]);
  });
});
