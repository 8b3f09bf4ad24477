import { describe, expect, it } from 'vitest';
import { classifierOf } from '../../../test/kit/builders/classifiers.ts';
import { type AnalyticsQuery, analyticsQuerySchema } from '../../contract/analytics/analytics.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { compileValidator, type Issue } from '../../kit/json/validate.ts';
import { analyticsNames } from './analytics-names.ts';
import { parseAnalyticsQuery } from './parse-analytics-query.ts';

const NOW = Date.parse('2026-06-10T12:34:56.789Z');
const DAY_MS = 86_400_000;
const HASH = 'ab'.repeat(32);
const UUID = '00000000-0000-4000-8000-000000000000';
const CLASSIFIER = classifierOf();
const INACTIVE = classifierOf({ id: '00000000-0000-4000-8000-00000000000d', isActive: false });

const validator = compileValidator(analyticsQuerySchema(analyticsNames('acme')));

/** A body as a request brings it: first its schema, then its meaning. */
function read(body: object) {
  const issues = validator.issuesOf(body);
  if (issues.length > 0) throw invalidRequest(issues);
  return parseAnalyticsQuery(body as AnalyticsQuery, {
    vendor: 'acme',
    nowMs: NOW,
    classifier: (id) => [CLASSIFIER, INACTIVE].find((known) => known.id === id),
  });
}

const asked = (more: object = {}) => ({ metrics: ['request_count'], ...more });

/** All that is wrong with a body, as `path: message`. */
function refusals(more: object): string[] {
  try {
    read(asked(more));
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    const { status, metadata = {}, message } = error as GatewayError;
    expect(status).toBe(400);
    const lines = (metadata.issues as unknown as Issue[]).map((issue) => `${issue.path}: ${issue.message}`);
    expect(message).toBe(lines[0]);
    return lines;
  }
  return [];
}

const range = (start: string, end: string) => ({ time_range: { start, end } });
const days = (count: number, more: object = {}) => ({
  ...range('2026-01-01T00:00:00Z', new Date(Date.UTC(2026, 0, 1 + count)).toISOString()),
  ...more,
});
const filter = (field: string, operator: string, value: unknown, more: object = {}) => ({
  filters: [{ field, operator, value, ...more }],
});

describe('a question', () => {
  it('asks for the last 7 days, totals, the most first and 1000 rows unless it says otherwise', () => {
    expect(read(asked({ dimensions: ['model'] }))).toEqual({
      metrics: ['request_count'],
      dimensions: ['model'],
      granularity: null,
      startMs: NOW - 7 * DAY_MS,
      endMs: NOW,
      filters: [],
      order: { field: 'request_count', direction: 'desc' },
      limit: 1000,
      groupLimit: null,
      tagColumns: [],
    });
  });

  it('groups by tags of a classifier, with a column for each name or for name and value', () => {
    const classifier_id = CLASSIFIER.id.toUpperCase();
    const named = asked({
      classifier_dimensions: { classifier_id, dimension_names: ['mood', 'topic'], include_nulls: true },
      order_by: { field: 'topic', direction: 'asc' },
    });
    expect(read(named)).toMatchObject({
      tags: {
        classifierId: CLASSIFIER.id,
        grouping: { names: ['mood', 'topic'], includesUntagged: true },
        filters: [],
      },
      tagColumns: ['mood', 'topic'],
      order: { field: 'tag1', direction: 'asc' },
    });
    for (const dimension_names of [undefined, []]) {
      expect(read(asked({ classifier_dimensions: { classifier_id, dimension_names } }))).toMatchObject({
        tags: { grouping: { names: null, includesUntagged: false } },
        tagColumns: ['clf_dimension_name', 'clf_dimension_value'],
      });
    }
    const long = { classifier_dimensions: { classifier_id }, granularity: 'hour', ...days(31) };
    expect(read(asked(long)).limit).toBe(10_000);
  });

  it('filters by tags, as texts', () => {
    const filters = [
      { field: 'topic', operator: 'eq', value: 'billing' },
      { field: 'mood', operator: 'not_in', value: [1, 'calm'] },
    ];
    expect(read(asked({ classifier_filters: { classifier_id: CLASSIFIER.id, filters } })).tags).toEqual({
      classifierId: CLASSIFIER.id,
      grouping: null,
      filters: [
        { dimension: 'topic', operator: 'in', values: ['billing'] },
        { dimension: 'mood', operator: 'not_in', values: ['1', 'calm'] },
      ],
    });
  });

  it('puts time buckets in their own order', () => {
    expect(read(asked({ granularity: 'day' })).order).toBeNull();
  });

  it('knows the usage that is called after the vendor', () => {
    const question = read({ metrics: ['acme_usage'], order_by: { field: 'acme_usage', direction: 'asc' } });
    expect(question).toMatchObject({
      metrics: ['own_usage'],
      order: { field: 'own_usage', direction: 'asc' },
    });
  });

  it.each([
    [{ granularity: 'hour', dimensions: ['model'] }, 10_000],
    [{ granularity: 'day', dimensions: ['model'] }, 1_000],
    [{ granularity: 'day', dimensions: ['model'], ...days(20) }, 2_000],
    [{ granularity: 'day', dimensions: ['model'], ...days(20), group_limit: 5 }, 1_000],
    [{ granularity: 'day', dimensions: ['model'], ...days(20), limit: 7 }, 7],
    [{ granularity: 'day', ...days(20) }, 1_000],
    [{ dimensions: ['model'], ...days(20) }, 1_000],
  ])('has room for the time buckets of its groups: %j gives %i rows', (more, limit) => {
    expect(read(asked(more)).limit).toBe(limit);
  });

  it('takes ranges up to their limits, fractions of seconds and the offset of UTC', () => {
    expect(refusals(days(365))).toEqual([]);
    expect(refusals(days(31, { dimensions: ['provider'] }))).toEqual([]);
    const minutes = range('2026-01-01T00:00:00.5Z', '2026-01-01T03:00:00.500+00:00');
    expect(refusals({ granularity: 'minute', ...minutes })).toEqual([]);
  });

  it('takes every order by a column of the query', () => {
    const order = (field: string, more: object = {}) =>
      read(asked({ ...more, order_by: { field, direction: 'asc' } })).order?.field;
    expect(order('date', { granularity: 'day' })).toBe('date');
    expect(order('user', { dimensions: ['user'] })).toBe('user');
    expect(order('request_count', { metrics: ['p50_latency'] })).toBe('request_count');
  });

  it('compares lengths of prompts by size', () => {
    const values = (operator: string) =>
      read(asked(filter('context_length_bucket', operator, '10K'))).filters;
    expect(values('gt')).toMatchObject([{ operator: 'in', values: ['100K', '1M', '10M'] }]);
    expect(values('lte')).toMatchObject([{ operator: 'in', values: ['1K', '10K'] }]);
    expect(values('eq')).toMatchObject([{ operator: 'eq', values: ['10K'] }]);
  });

  it('includes unset values for dimensions that may have them', () => {
    const [given] = read(
      asked(filter('app', 'in', [1, '2', 'app.example'], { include_unset: true })),
    ).filters;
    expect(given).toEqual({
      path: 'filters[0].value',
      field: 'app',
      operator: 'in',
      values: [1, '2', 'app.example'],
      includesUnset: true,
    });
    expect(refusals(filter('model', 'eq', 'a/b', { include_unset: false }))).toEqual([]);
  });
});

describe('a question with something wrong in it', () => {
  it.each<[object, string | RegExp]>([
    [{ metrics: [] }, 'metrics: must have at least 1 item'],
    [{ metrics: undefined }, 'metrics: must be an array'],
    [{ metrics: 'request_count' }, 'metrics: must be an array'],
    [
      { metrics: ['requests'] },
      /^metrics\[0\]: must be one of "request_count", "tokens_total", .*"acme_usage"/,
    ],
    [{ metrics: ['own_usage'] }, /^metrics\[0\]: must be one of/],
    [{ metrics: ['signalbox_usage'] }, /^metrics\[0\]: must be one of/],
    [{ metrics: ['request_count', 'request_count'] }, 'metrics[1]: request_count is there already'],
    [{ dimensions: ['model', 'user', 'app'] }, 'dimensions: must have at most 2 items'],
    [{ dimensions: ['model', 'model'] }, 'dimensions[1]: model is there already'],
    [{ dimensions: ['model_id'] }, /^dimensions\[0\]: must be one of "model", "variant"/],
    [{ dimensions: ['endpoint'] }, /^dimensions\[0\]: must be one of/],
    [{ dimensions: ['zdr'] }, /^dimensions\[0\]: must be one of/],
    [{ dimensions: ['modalities'] }, /^dimensions\[0\]: must be one of/],
    [{ dimensions: ['constructor'] }, /^dimensions\[0\]: must be one of/],
    [{ granularity: 'year' }, /^granularity: must be one of "minute", "hour", "day", "week", "month"/],
    [{ time_range: { start: '2026-01-01T00:00:00Z' } }, 'time_range.end: is required'],
    [{ time_range: { end: '2026-01-01T00:00:00Z' } }, 'time_range.start: is required'],
    [range('2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'), 'time_range: start must be before end'],
    [range('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'), 'time_range: start must be before end'],
    [range('2026-02-30T00:00:00Z', '2026-03-03T00:00:00Z'), 'time_range.start: is no moment of the calendar'],
    [range('2026-02-01T00:00:00Z', '2026-02-01T24:00:01Z'), 'time_range.end: is no moment of the calendar'],
    [range('yesterday', '2026-01-02T00:00:00Z'), /^time_range.start: must be an ISO 8601 timestamp such as/],
    [range('2026-01-01T00:00:00Z', '1767312000'), /^time_range.end: must be an ISO 8601 timestamp such as/],
    [range('x'.repeat(65), '2026-01-02'), 'time_range.start: must have at most 64 characters'],
    [days(366), 'time_range: must not be longer than 365 days'],
    [days(32, { metrics: ['p50_latency'] }), 'time_range: must not be longer than 31 days with p50_latency'],
    [
      days(32, { metrics: ['byok_fees', 'acme_usage'], dimensions: ['provider'], filters: [] }),
      'time_range: must not be longer than 31 days with byok_fees, acme_usage, provider',
    ],
    [days(400, filter('country', 'eq', 'DE')), 'time_range: must not be longer than 31 days with country'],
    [
      { granularity: 'minute', ...range('2026-01-01T00:00:00Z', '2026-01-01T03:00:00.001Z') },
      'time_range: must not be longer than 3 hours with granularity minute',
    ],
    [
      { granularity: 'minute' },
      'time_range: must not be longer than 3 hours with granularity minute; without one it is the last 7 days',
    ],
    [
      { filters: Array.from({ length: 21 }, () => ({ field: 'model', operator: 'eq', value: 'a' })) },
      'filters: must have at most 20 items',
    ],
    [filter('speed', 'eq', 'a'), /^filters\[0\].field: must be one of "model"/],
    [filter('model', 'like', 'a'), /^filters\[0\].operator: must be one of "eq"/],
    [filter('model', 'eq', ['a']), 'filters[0].value: must be one value for eq'],
    [filter('model', 'in', 'a'), 'filters[0].value: must be a list for in'],
    [filter('model', 'not_in', 1), 'filters[0].value: must be a list for not_in'],
    [filter('model', 'eq', true), /^filters\[0\].value: must be a string or a number or an array/],
    [filter('model', 'eq', 'a\u0000'), 'filters[0].value: must hold neither U+0000 nor halves of characters'],
    [filter('model', 'eq', 'a'.repeat(1025)), 'filters[0].value: must have at most 1024 characters'],
    [
      filter(
        'model',
        'in',
        Array.from({ length: 1001 }, () => 'a'),
      ),
      'filters[0].value: must have at most 1000 items',
    ],
    [
      {
        filters: [
          { field: 'model', operator: 'in', value: Array.from({ length: 1000 }, () => 'a') },
          { field: 'model', operator: 'eq', value: 'a' },
        ],
      },
      'filters: must have at most 1000 values altogether',
    ],
    [filter('api_key_id', 'eq', 'abc'), /^filters\[0\].value: must be the hash of a key \(64 hex/],
    [filter('api_key_id', 'gt', HASH), 'filters[0].operator: gt does not fit api_key_id, which has no order'],
    [filter('workspace', 'eq', 'default'), 'filters[0].value: must be the UUID of a workspace'],
    [filter('app', 'eq', 1.5), /^filters\[0\].value: must be the id of an app \(a whole number\)/],
    [filter('context_length_bucket', 'gt', '2K'), 'filters[0].value: must be one of 1K, 10K, 100K, 1M, 10M'],
    [
      filter('user', 'eq', 'a', { include_unset: true }),
      'filters[0].include_unset: goes with the operators in and not_in only',
    ],
    [
      filter('model', 'in', ['a'], { include_unset: true }),
      'filters[0].include_unset: does not fit model, which always has a value',
    ],
    [filter('user', 'in', ['a'], { include_unset: 'yes' }), 'filters[0].include_unset: must be a boolean'],
    [{ filters: [{ field: 'model', operator: 'eq' }] }, 'filters[0].value: is required'],
    [{ order_by: { field: 'date' } }, 'order_by.direction: is required'],
    [{ order_by: { field: 'date', direction: 'up' } }, 'order_by.direction: must be one of "asc", "desc"'],
    [{ order_by: { field: 'date', direction: 'asc' } }, 'order_by.field: date needs a granularity'],
    [
      { order_by: { field: 'total_usage', direction: 'asc' } },
      'order_by.field: must be request_count, date, or a metric or dimension of this question',
    ],
    [{ order_by: { field: 'user', direction: 'asc' } }, /^order_by.field: must be request_count/],
    [{ limit: 0 }, 'limit: must be >= 1'],
    [{ limit: 10_001 }, 'limit: must be <= 10000'],
    [{ limit: 1.5 }, 'limit: must be an integer'],
    [{ limit: '5' }, 'limit: must be an integer'],
    [{ group_limit: 0 }, 'group_limit: must be >= 1'],
    [{ group_limit: 10_001 }, 'group_limit: must be <= 10000'],
    [{ groupLimit: 1 }, 'groupLimit: is not a known field'],
    [
      { classifier_dimensions: { classifier_id: UUID } },
      'classifier_dimensions.classifier_id: Classifier not found',
    ],
    [
      { classifier_dimensions: { classifier_id: INACTIVE.id } },
      'classifier_dimensions.classifier_id: Classifier is not active',
    ],
    [
      { classifier_dimensions: { classifier_id: CLASSIFIER.id, dimension_names: ['topic', 'other'] } },
      'classifier_dimensions.dimension_names[1]: must be a dimension of the classifier: topic, mood',
    ],
    [
      { classifier_dimensions: { classifier_id: CLASSIFIER.id, dimension_names: ['topic', 'topic'] } },
      'classifier_dimensions.dimension_names[1]: topic is there already',
    ],
    [
      {
        classifier_filters: {
          classifier_id: CLASSIFIER.id,
          filters: [{ field: 'other', operator: 'eq', value: 'x' }],
        },
      },
      'classifier_filters.filters[0].field: must be a dimension of the classifier: topic, mood',
    ],
    [
      {
        classifier_dimensions: { classifier_id: CLASSIFIER.id, dimension_names: ['topic'] },
        order_by: { field: 'mood', direction: 'asc' },
      },
      /^order_by.field: must be request_count/,
    ],
    [
      { classifier_dimensions: { classifier_id: 'x' } },
      'classifier_dimensions.classifier_id: must be a UUID',
    ],
    [
      { classifier_dimensions: { classifier_id: UUID, dimension_names: ['a b'] } },
      'classifier_dimensions.dimension_names[0]: must have 1 to 64 letters, digits or underscores',
    ],
    [
      { classifier_dimensions: { classifier_id: UUID, dimension_names: ['a', 'b', 'c'] } },
      'classifier_dimensions.dimension_names: must have at most 2 items',
    ],
    [
      { classifier_filters: { classifier_id: UUID, filters: [] } },
      'classifier_filters.filters: must have at least 1 item',
    ],
    [
      { classifier_filters: { classifier_id: UUID, filters: [{ field: 'a', operator: 'gt', value: 'b' }] } },
      /^classifier_filters.filters\[0\].operator: must be one of "eq", "neq", "in", "not_in"/,
    ],
    [
      { classifier_filters: { classifier_id: UUID, filters: [{ field: 'a', operator: 'in', value: 'b' }] } },
      'classifier_filters.filters[0].value: must be a list for in',
    ],
  ])('gets the problem, its path and the limit: %j', (more, expected) => {
    const [first] = refusals(more);
    if (typeof expected === 'string') expect(first).toBe(expected);
    else expect(first).toMatch(expected);
  });

  it('needs metrics', () => {
    expect(() => read({})).toThrow('metrics: is required');
  });

  it('must name one classifier only, and not for longer than 31 days', () => {
    const filters = [{ field: 'a', operator: 'eq', value: 'b' }];
    const other = '11111111-1111-4111-8111-111111111111';
    const both = {
      classifier_dimensions: { classifier_id: UUID },
      classifier_filters: { classifier_id: other, filters },
    };
    expect(refusals(days(32, both))).toEqual([
      'time_range: must not be longer than 31 days with classifier_dimensions, classifier_filters',
      'classifier_filters.classifier_id: must be the same as classifier_dimensions.classifier_id',
      'classifier_dimensions.classifier_id: Classifier not found',
      'classifier_filters.classifier_id: Classifier not found',
    ]);
  });

  it('gets all of its problems at once, up to a limit', () => {
    const all = { ...filter('api_key_id', 'gt', 'abc'), order_by: { field: 'x', direction: 'asc' } };
    expect(refusals({ ...days(366), ...all })).toHaveLength(4);
    expect(
      refusals(
        filter(
          'workspace',
          'in',
          Array.from({ length: 900 }, () => 5),
        ),
      ),
    ).toHaveLength(20);
  });
});
