import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { GRANULARITIES } from '../../ports/events/event-names.ts';
import { queryMoment } from '../values/query-moment.ts';
import { readableText } from '../values/readable-text.ts';

/** What an overview can be broken down and filtered by. */
export const OVERVIEW_DIMENSIONS = ['model', 'provider', 'key', 'workspace', 'app'] as const;

export type OverviewDimension = (typeof OVERVIEW_DIMENSIONS)[number];

export const MAX_OVERVIEW_DAYS = 366;

/** Groups of a breakdown at most, and those of them that have their own stacks. */
export const MAX_GROUPS = 100;
export const STACKED_GROUPS = 6;

const MAX_TEXT_CHARACTERS = 256;

const anyOf = (description: string) =>
  Type.Optional(Type.Array(readableText(MAX_TEXT_CHARACTERS), { minItems: 1, maxItems: 100, description }));

export const overviewQuerySchema = Type.Object({
  from: queryMoment('First moment; 24 hours before `to` without it.'),
  to: queryMoment('The moment after the last one; now without it.'),
  by: Type.Optional(
    oneOf(OVERVIEW_DIMENSIONS, { description: 'Groups of the breakdown, `model` without it.' }),
  ),
  model: anyOf('Only these models, by id.'),
  provider: anyOf('Only what these providers served, by name.'),
  key: anyOf('Only these keys, by hash.'),
  workspace: anyOf('Only these workspaces, by id.'),
  app: anyOf('Only these apps, by host and port.'),
});

export type OverviewQuery = Static<typeof overviewQuerySchema>;

const count = Type.Integer({ minimum: 0 });
const usd = (description: string) => Type.Number({ description });
const milliseconds = Type.Union([Type.Number(), Type.Null()]);

const sums = {
  total_usage: usd('USD: charged credits and own credentials at list price.'),
  request_count: count,
  tokens_total: count,
  error_count: Type.Integer({ minimum: 0, description: 'Generations without an answer.' }),
};

const figures = {
  ...sums,
  cache_hit_rate: Type.Union([Type.Number(), Type.Null()], {
    description: 'Share of prompt tokens that a provider read from its cache, 0 to 1; null without prompts.',
  }),
  usage_cache: usd('USD that caching saved; negative if writing the cache cost more.'),
  p50_latency: milliseconds,
  p90_latency: milliseconds,
  p99_latency: Type.Union([Type.Number(), Type.Null()], {
    description: 'Milliseconds to the first content.',
  }),
  p50_duration: milliseconds,
  p90_duration: milliseconds,
  p99_duration: Type.Union([Type.Number(), Type.Null()], {
    description: 'Milliseconds from the arrival of the request to the end of its answer.',
  }),
};

const sumsSchema = Type.Object(sums);

const figuresSchema = Type.Object(figures);

/** Figures that can be added up. */
export type OverviewSums = Static<typeof sumsSchema>;

export type OverviewFigures = Static<typeof figuresSchema>;

const date = Type.String({ format: 'date-time', description: 'Begin of the time bucket.' });

const seriesSchema = Type.Array(Type.Object({ date, ...figures }), {
  description: 'Oldest bucket first; buckets without generations are left out.',
});

const id = Type.Union([Type.String(), Type.Null()], {
  description: 'Value for a filter; null: the generations have none.',
});

export const LEDGER_STATES = ['agrees', 'behind', 'differs'] as const;

const ledgerSchema = Type.Object(
  {
    state: oneOf(LEDGER_STATES, {
      description:
        '`agrees`: to the nano-dollar. `behind`: the newest generations are not counted yet. ' +
        '`differs`: the events have more than was booked.',
    }),
    booked: usd('USD that the ledger booked, of all time.'),
    counted: usd('USD of the events that this page counts, of all time, without imported usage.'),
    difference: usd('`counted` - `booked`.'),
    imported: usd('USD of imported usage, which the ledger has not booked.'),
    newest_generation_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the newest counted generation came in; null: none in the last 24 hours.',
    }),
  },
  { description: 'Of the account, or of the key; filters and range do not matter.' },
);

export type OverviewLedger = Static<typeof ledgerSchema>;

const writtenOffSchema = Type.Array(
  Type.Object({
    cause: Type.String({ description: 'As in `written_off_cause` of a generation.' }),
    cost: usd('USD.'),
  }),
  {
    description:
      'Charged to no account although upstreams bill it, or may, of generations settled in the range, by cause, ' +
      'most first. Only the range applies to it, not the filters.',
  },
);

export type OverviewWriteOffs = Static<typeof writtenOffSchema>;

export const overviewReplySchema = Type.Object({
  data: Type.Object({
    from: Type.String({ format: 'date-time' }),
    to: Type.String({ format: 'date-time' }),
    before_from: Type.String({
      format: 'date-time',
      description: 'Begin of the period before, which ends at `from` and is as long.',
    }),
    granularity: oneOf(GRANULARITIES, { description: 'Of the time buckets, UTC; chosen from the range.' }),
    by: oneOf(OVERVIEW_DIMENSIONS),
    now: figuresSchema,
    before: figuresSchema,
    series: seriesSchema,
    series_before: seriesSchema,
    groups: Type.Array(Type.Object({ id, name: Type.String(), now: figuresSchema, before: sumsSchema }), {
      description: `The groups with the most usage, at most ${MAX_GROUPS}.`,
    }),
    group_count: Type.Integer({ minimum: 0, description: 'All groups.' }),
    stacks: Type.Array(Type.Object({ date, id, ...sums }), {
      description: `The first ${STACKED_GROUPS} groups by time bucket; the rest of \`series\` is of the others.`,
    }),
    errors: Type.Array(
      Type.Object({
        status: Type.Union([Type.Integer(), Type.Null()], {
          description: 'That the caller got; null: unknown.',
        }),
        provider: Type.Union([Type.String(), Type.Null()]),
        type: Type.Union([Type.String(), Type.Null()], {
          description: 'As the caller saw it in `error_type`.',
        }),
        error_count: count,
      }),
      { description: 'Generations without an answer by cause, most first.' },
    ),
    ledger: ledgerSchema,
    written_off: writtenOffSchema,
    query_time_ms: Type.Integer(),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
});

export type Overview = Static<typeof overviewReplySchema>['data'];
