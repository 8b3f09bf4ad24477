import { expect, it } from 'vitest';
import { csvOf, formatsOf, seriesOf } from './analytics-answer.ts';
import type { Question } from './analytics-question.ts';

const QUESTION: Question = {
  metrics: ['request_count'],
  dimensions: ['model'],
  granularity: 'day',
  filters: [],
  order: null,
};
const METRIC = {
  name: 'request_count',
  display_label: '',
  is_rate: false,
  display_format: 'number',
} as const;
const RANGE = { fromMs: Date.UTC(2026, 0, 1, 12), toMs: Date.UTC(2026, 0, 3) };
const row = (day: number, model: string | null, value: number | string | null) => ({
  date__day: `2026-01-0${day}T00:00:00.000Z`,
  model,
  request_count: value,
});
const ROWS = [
  ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((model, index) => row(1, model, 10 - index)),
  row(2, 'a', '9007199254740993'),
  row(2, null, 1),
];

it('has series of the first six groups, and the others as one', () => {
  const { starts, series } = seriesOf(ROWS, QUESTION, METRIC, RANGE);
  expect(starts.length).toBe(2);
  expect(series.map(({ label, swatch, values }) => [label, swatch, ...values])).toEqual([
    ['a', 'k1', 10, 9007199254740992],
    ['b', 'k2', 9, 0],
    ['c', 'k3', 8, 0],
    ['d', 'k4', 7, 0],
    ['e', 'k5', 6, 0],
    ['f', 'k6', 5, 0],
    ['Others', 'k8', 7, 1],
  ]);
});

it('does not add up rates, and leaves gaps where there are no data', () => {
  const { series } = seriesOf(ROWS, QUESTION, { ...METRIC, is_rate: true }, RANGE);
  expect(series.length).toBe(6);
  expect(series[1]?.values).toEqual([9, null]);
});

it('writes rows as CSV, without formulas', () => {
  expect(csvOf([{ model: '=1+1', note: 'a "b", c', request_count: -3, empty: null }])).toBe(
    'model,note,request_count,empty\r\n\'=1+1,"a ""b"", c",-3,\r\n',
  );
});

it('writes amounts below a millionth exactly, in files and in cells', () => {
  expect(csvOf([{ model: 'a', total_usage: 1e-7 }])).toBe('model,total_usage\r\na,0.0000001\r\n');
  const { notation } = formatsOf({ ...METRIC, display_format: 'currency' });
  expect(notation.column([1e-7])(1e-7)).toBe('$0.000000100');
});
