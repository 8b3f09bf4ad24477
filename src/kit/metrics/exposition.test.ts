import { expect, test } from 'vitest';
import { Counter } from './counter.ts';
import { expositionOf } from './exposition.ts';
import { gauge } from './gauge.ts';
import { Histogram } from './histogram.ts';

test('counters add up by their labels, and are written in the unit of their name', () => {
  const plain = new Counter({ name: 'requests_total', help: 'Requests.', labels: ['operation', 'status'] });
  plain.add({ operation: 'a', status: '200' });
  plain.add({ status: '200', operation: 'a' }, 2);
  plain.add({ operation: 'a', status: '404' });
  const money = new Counter({
    name: 'cost_usd_total',
    help: 'Cost.',
    labels: [],
    text: (nanos) => (nanos / 1e9).toFixed(9),
  });
  money.add({}, 1);
  expect(expositionOf([plain, money])).toBe(
    [
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{operation="a",status="200"} 3',
      'requests_total{operation="a",status="404"} 1',
      '# HELP cost_usd_total Cost.',
      '# TYPE cost_usd_total counter',
      'cost_usd_total 0.000000001',
      '',
    ].join('\n'),
  );
});

test('a value counts in its bucket and in all larger ones; its bound belongs to it', () => {
  const histogram = new Histogram({ name: 'took', help: 'Time.', labels: ['kind'], bounds: [0.1, 1] });
  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe({ kind: 'x' }, value);
  expect(expositionOf([histogram]).split('\n').slice(2)).toEqual([
    'took_bucket{kind="x",le="0.1"} 2',
    'took_bucket{kind="x",le="1"} 3',
    'took_bucket{kind="x",le="+Inf"} 4',
    'took_sum{kind="x"} 7.65',
    'took_count{kind="x"} 4',
    '',
  ]);
});

test('gauges are read when they are asked for, and nothing in a label can end it', () => {
  let size = 1;
  const open = gauge({ name: 'open', help: 'Back\\slash\nand line.', read: () => size });
  const sites = gauge({ name: 'sites', help: 'Sites.', read: () => [[{ name: 'a"b\\c\nd' }, Number.NaN]] });
  size = 2;
  expect(expositionOf([open, sites])).toBe(
    '# HELP open Back\\\\slash\\nand line.\n# TYPE open gauge\nopen 2\n' +
      '# HELP sites Sites.\n# TYPE sites gauge\nsites{name="a\\"b\\\\c\\nd"} NaN\n',
  );
});
