import { expect, it } from 'vitest';
import { bodyOf, questionOf, vocabularyOf, withQuestion } from './analytics-question.ts';

const named = (name: string) => ({ name, display_label: name });
const META = vocabularyOf({
  metrics: ['total_usage', 'request_count', 'p90_latency'].map((name) => ({
    ...named(name),
    is_rate: false,
    display_format: 'number' as const,
  })),
  dimensions: ['model', 'provider', 'workspace'].map(named),
  operators: [
    { name: 'eq', value_type: 'scalar' },
    { name: 'in', value_type: 'array' },
    { name: 'gt', value_type: 'scalar' },
  ],
  granularities: ['hour', 'day'].map(named),
});
const of = (query: string) => questionOf(new URLSearchParams(query), META);

it('asks for spend and requests by model and day without anything in the address', () => {
  expect(of('')).toEqual({
    metrics: ['total_usage', 'request_count'],
    dimensions: ['model'],
    granularity: 'day',
    filters: [],
    order: null,
  });
  expect(withQuestion(new URLSearchParams('from=-30d'), of('')).toString()).toBe('from=-30d');
});

it.each([
  'metrics=p90_latency&dimensions=provider%2Cworkspace&granularity=hour&order=p90_latency.asc',
  'dimensions=none&granularity=none&where=model%3Aeq%3Aa%3Ab&where=provider%3Ain%3AX%2CY',
])('keeps a question in the address: %s', (query) => {
  expect(withQuestion(new URLSearchParams(), of(query)).toString()).toBe(query);
});

it('leaves out what the gateway does not know', () => {
  expect(
    of('metrics=nonsense&dimensions=planet&granularity=eon&where=planet:eq:1&where=model:is:1&order=x.asc'),
  ).toEqual({
    ...of(''),
    dimensions: [],
    granularity: null,
  });
});

it('writes the body of the request, with lists where the operator takes one', () => {
  const question = of(
    'dimensions=provider&granularity=none&where=provider:in:X, Y&where=model:eq:a:b&order=provider.desc',
  );
  expect(bodyOf(question, { fromMs: 0, toMs: 86_400_000 }, META)).toEqual({
    metrics: ['total_usage', 'request_count'],
    dimensions: ['provider'],
    time_range: { start: '1970-01-01T00:00:00.000Z', end: '1970-01-02T00:00:00.000Z' },
    filters: [
      { field: 'provider', operator: 'in', value: ['X', 'Y'] },
      { field: 'model', operator: 'eq', value: 'a:b' },
    ],
    order_by: { field: 'provider', direction: 'desc' },
  });
});

it('asks for tags of a classifier beside dimensions of the gateway', () => {
  const classifier = {
    id: 'c',
    name: 'support',
    dimensions: [{ name: 'topic', description: null, values: [{ value: 'billing', description: null }] }],
  };
  const meta = vocabularyOf(META, classifier);
  const query = new URLSearchParams(
    'dimensions=model,topic&where=topic:in:billing,other&where=topic:gt:a&where=provider:eq:X&order=topic.asc',
  );
  expect(bodyOf(questionOf(query, meta), { fromMs: 0, toMs: 1 }, meta)).toMatchObject({
    dimensions: ['model'],
    filters: [{ field: 'provider', operator: 'eq', value: 'X' }],
    classifier_dimensions: { classifier_id: 'c', dimension_names: ['topic'], include_nulls: true },
    classifier_filters: {
      classifier_id: 'c',
      filters: [{ field: 'topic', operator: 'in', value: ['billing', 'other'] }],
    },
    order_by: { field: 'topic', direction: 'asc' },
  });
  expect(questionOf(query, META)).toMatchObject({
    dimensions: ['model'],
    filters: [{ field: 'provider' }],
    order: null,
  });
});
