import Type, { type Static } from 'typebox';
import { closed, oneOf } from '../../kit/json/schema.ts';
import { storableText } from '../values/readable-text.ts';
import { uuid } from '../values/uuid.ts';

const MAX_TIMESTAMP_CHARACTERS = 64;

function timestamp(description: string) {
  return Type.String({
    maxLength: MAX_TIMESTAMP_CHARACTERS,
    description: `${description} ISO 8601, with an offset or in UTC; a date alone is its midnight.`,
  });
}

const MAX_DIMENSIONS = 2;
const MAX_FILTERS = 20;
const MAX_CLASSIFIER_FILTERS = 10;

export const MAX_FILTER_VALUES = 1_000;
const MAX_FILTER_VALUE_CHARACTERS = 1024;

/** Rows of an answer, by default and at most. */
export const DEFAULT_ROWS = 1_000;
export const MAX_ROWS = 10_000;

/** Names of metrics and dimensions in queries, for one vendor word. */
export interface AnalyticsNames {
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
  readonly granularities: readonly string[];
  readonly operators: readonly string[];
}

const rows = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ROWS, description }));

const oneValue = Type.Union([storableText(MAX_FILTER_VALUE_CHARACTERS), Type.Number()]);

const filterValue = Type.Union(
  [
    storableText(MAX_FILTER_VALUE_CHARACTERS),
    Type.Number(),
    Type.Array(oneValue, { maxItems: MAX_FILTER_VALUES }),
  ],
  { description: 'A list for `in` and `not_in`, one value for the others.' },
);

const classifierDimension = Type.String({
  pattern: '^\\w{1,64}$',
  explain: 'must have 1 to 64 letters, digits or underscores',
});

const classifierFilter = closed({
  field: classifierDimension,
  operator: oneOf(['eq', 'neq', 'in', 'not_in']),
  value: filterValue,
});

export function analyticsQuerySchema({ metrics, dimensions, granularities, operators }: AnalyticsNames) {
  return closed({
    metrics: Type.Array(oneOf(metrics), { minItems: 1, maxItems: metrics.length }),
    dimensions: Type.Optional(
      Type.Array(oneOf(dimensions), { maxItems: MAX_DIMENSIONS, description: 'What to group by.' }),
    ),
    granularity: Type.Optional(
      oneOf(granularities, { description: 'Width of time buckets, UTC; totals without it.' }),
    ),
    time_range: Type.Optional(
      closed(
        { start: timestamp('The first moment.'), end: timestamp('The moment after the last one.') },
        { description: 'The last 7 days without it.' },
      ),
    ),
    filters: Type.Optional(
      Type.Array(
        closed({
          field: oneOf(dimensions),
          operator: oneOf(operators),
          value: filterValue,
          include_unset: Type.Optional(
            Type.Boolean({ description: 'With `in` and `not_in`: also what has no value.' }),
          ),
        }),
        {
          maxItems: MAX_FILTERS,
          description: `All must hold. At most ${MAX_FILTER_VALUES} values altogether.`,
        },
      ),
    ),
    order_by: Type.Optional(
      closed({
        field: Type.String({
          maxLength: 64,
          description: 'A metric, dimension or column of tags of the question, `request_count`, or `date`.',
        }),
        direction: oneOf(['asc', 'desc']),
      }),
    ),
    limit: rows(`Most rows; ${DEFAULT_ROWS} without it, more where time buckets of groups need them.`),
    group_limit: rows('Most rows of each combination of dimensions.'),
    classifier_dimensions: Type.Optional(
      closed(
        {
          classifier_id: uuid,
          dimension_names: Type.Optional(
            Type.Array(classifierDimension, {
              maxItems: MAX_DIMENSIONS,
              description:
                'A column for each; without it, rows have `clf_dimension_name` and `clf_dimension_value`.',
            }),
          ),
          include_nulls: Type.Optional(
            Type.Boolean({ description: 'Also generations without such a tag; false without it.' }),
          ),
        },
        { description: 'Groups by the tags of a classifier that is active, over at most 31 days.' },
      ),
    ),
    classifier_filters: Type.Optional(
      closed(
        {
          classifier_id: uuid,
          filters: Type.Array(classifierFilter, { minItems: 1, maxItems: MAX_CLASSIFIER_FILTERS }),
        },
        { description: 'Only generations with such tags; the classifier of `classifier_dimensions`.' },
      ),
    ),
  });
}

export type AnalyticsQuery = Static<ReturnType<typeof analyticsQuerySchema>>;

export type AnalyticsFilter = NonNullable<AnalyticsQuery['filters']>[number];

const named = { name: Type.String(), display_label: Type.String() };

export const analyticsMetaSchema = Type.Object({
  data: Type.Object({
    metrics: Type.Array(
      Type.Object({
        ...named,
        is_rate: Type.Boolean(),
        display_format: oneOf(['number', 'currency', 'percent', 'latency', 'throughput']),
      }),
    ),
    dimensions: Type.Array(Type.Object(named)),
    operators: Type.Array(Type.Object({ name: Type.String(), value_type: oneOf(['scalar', 'array']) })),
    granularities: Type.Array(Type.Object(named)),
  }),
});

export type AnalyticsMeta = Static<typeof analyticsMetaSchema>['data'];

const cell = Type.Union([Type.String(), Type.Number(), Type.Null()]);

export const analyticsReplySchema = Type.Object({
  data: Type.Object({
    data: Type.Array(Type.Record(Type.String(), cell), {
      description:
        'A member for each metric and dimension, and `date__<granularity>`. Counts above 2^53 are strings.',
    }),
    metadata: Type.Object({
      query_time_ms: Type.Integer(),
      row_count: Type.Integer(),
      truncated: Type.Boolean({ description: 'Limits cut rows.' }),
    }),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
});

export type AnalyticsAnswer = Static<typeof analyticsReplySchema>['data'];

export type AnalyticsRow = AnalyticsAnswer['data'][number];
