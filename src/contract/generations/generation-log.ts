import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { nullable } from '../values/nullable.ts';
import { queryMoment } from '../values/query-moment.ts';
import { uuid } from '../values/uuid.ts';

/** States of a row. */
const STATES = ['answered', 'fallback', 'failed', 'cancelled', 'refused'] as const;

const MAX_VALUES = 100;
/** Characters of a text in a filter. */
export const MAX_LOG_TEXT = 256;
const MAX_DURATION_MS = 86_400_000;

const texts = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: MAX_LOG_TEXT }), { maxItems: MAX_VALUES, description }),
  );
/** Texts that callers choose and that may hold commas. */
const callerTexts = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: MAX_LOG_TEXT }), {
      maxItems: MAX_VALUES,
      isRepeated: true,
      description: `${description} Repeat the name for several: a value may hold commas.`,
    }),
  );
const cost = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: MAX_USD, description }));
const duration = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_DURATION_MS, description }));

/** Filters by what is known of a generation from its beginning on. */
export const REQUEST_FILTERS = {
  model: texts('Ids of models, any of which may have served.'),
  provider: texts('Names of providers.'),
  key: Type.Optional(
    Type.Array(
      Type.String({
        pattern: '^[0-9a-fA-F]{64}$',
        explain: 'must be the hash of a key: 64 hexadecimal digits',
      }),
      {
        maxItems: MAX_VALUES,
        description: 'Hashes of keys. Keys other than management keys see only themselves.',
      },
    ),
  ),
  workspace: Type.Optional(Type.Array(uuid, { maxItems: MAX_VALUES, description: 'Ids of workspaces.' })),
  app: texts('Hosts of apps.'),
  session_id: callerTexts('Session ids, as `session_id` or `x-session-id` of requests.'),
  external_user: callerTexts('End users, as `user` of requests.'),
  request_format: Type.Optional(
    Type.Array(oneOf(['responses', 'messages', 'chat', 'embeddings', 'decisions', 'compaction']), {
      maxItems: 6,
      description: 'Formats of requests.',
    }),
  ),
  streamed: Type.Optional(Type.Boolean({ description: 'Streamed answers, or others.' })),
  search: Type.Optional(
    Type.String({
      maxLength: MAX_LOG_TEXT,
      description:
        'The beginning of a generation id, `gen-...`, part of a request id, session id or end user, or a trace id.',
    }),
  ),
  trace_id: texts('Ids of traces: `trace_id` of rows, of `trace` in requests, or of `traceparent` headers.'),
};

const FILTERS = {
  ...REQUEST_FILTERS,
  from: queryMoment('Requests that came in at this moment or later; 24 hours before `to` without it.'),
  to: queryMoment('Requests that came in before this moment; now without it.'),
  ended_from: queryMoment(
    'Generations that ended at this moment or later: what is new since you last looked. Allow a few seconds of ' +
      'overlap, and know rows by their `id`.',
  ),
  state: Type.Optional(
    Type.Array(oneOf(STATES), {
      maxItems: STATES.length,
      description:
        '`fallback`: answered after an attempt failed; `cancelled`: the caller left; `refused`: before any upstream ' +
        'was called.',
    }),
  ),
  finish_reason: texts('Finish reasons, such as `stop` or `length`.'),
  error_status: Type.Optional(
    Type.Array(Type.String({ pattern: '^[1-9][0-9]{2}$', explain: 'must be a status such as 429' }), {
      maxItems: MAX_VALUES,
      description: 'Statuses that callers got for failures.',
    }),
  ),
  min_duration_ms: duration('Took at least so long, milliseconds.'),
  max_duration_ms: duration('Took at most so long, milliseconds.'),
  min_cost: cost('Cost at least so much, USD.'),
  max_cost: cost('Cost at most so much, USD.'),
};

const cursor = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^\\d{1,18}\\..{0,256}$',
      explain: 'must be `next` or `previous` of an earlier page',
      description,
    }),
  );

const MAX_WITHIN_MS = 30_000;

const within = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_WITHIN_MS, description }));

/** Members of a row that the log can be in order of. */
const SORTS = ['created_at', 'duration_ms', 'latency', 'cost'] as const;

export const MAX_LOG_ROWS = 1_000;
export const DEFAULT_LOG_ROWS = 100;

export const generationsQuerySchema = Type.Object({
  ...FILTERS,
  sort: Type.Optional(
    oneOf(SORTS, {
      description:
        'What rows are in order of; `created_at` without it. Rows without the value count as 0. An export in another ' +
        'order than that of `created_at` needs a `limit`.',
    }),
  ),
  order: Type.Optional(
    oneOf(['desc', 'asc'], {
      description: 'Without it `desc`: newest first, or longest, or dearest.',
    }),
  ),
  after: cursor('The page after this place: `next` of the page before.'),
  before: cursor('The page before this place: `previous` of the page after.'),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LOG_ROWS,
      description: `Rows; ${DEFAULT_LOG_ROWS} without it. An export without it has all rows.`,
    }),
  ),
  within_ms: within(
    'Stops the search after about so many milliseconds: the page has the rows that were found, `searched_to` says how ' +
      'far the search came, and `next` goes on from there. In another order than that of `created_at` the newest part ' +
      'is searched first and there is no `next`: ask again without `within_ms` for the final page.',
  ),
  format: Type.Optional(
    oneOf(['json', 'ndjson', 'csv'], {
      description: 'An export as one JSON object per line, or as CSV, is written while it is read.',
    }),
  ),
});

export type GenerationsQuery = Static<typeof generationsQuerySchema>;

export const MAX_LOG_BUCKETS = 500;

export const generationCountsQuerySchema = Type.Object({
  ...FILTERS,
  buckets: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LOG_BUCKETS,
      description: 'About so many buckets of time, of a round width; 96 without it.',
    }),
  ),
  within_ms: within(
    'Stops counting after about so many milliseconds, the newest generations being counted first; `counted_from` ' +
      'says how far it came.',
  ),
  counted_from: queryMoment(
    '`counted_from` of the answer before, to go on from there: only generations before it are counted.',
  ),
});

export type GenerationCountsQuery = Static<typeof generationCountsQuerySchema>;

const text = nullable(Type.String());

export const loggedGenerationSchema = Type.Object(
  {
    id: Type.String(),
    state: oneOf(STATES),
    created_at: Type.String({ format: 'date-time', description: 'When the request came in.' }),
    model: Type.String(),
    provider_name: text,
    endpoint: text,
    workspace_id: Type.String(),
    workspace_name: nullable(Type.String(), { description: 'Null if it is gone.' }),
    key_hash: text,
    key_name: nullable(Type.String(), { description: 'Null if the key is gone.' }),
    app: nullable(Type.String(), { description: 'Host of the app.' }),
    request_format: nullable(Type.String(), { description: 'Null in records of earlier releases.' }),
    streamed: nullable(Type.Boolean()),
    finish_reason: text,
    error_status: nullable(Type.Integer(), { description: 'What the caller got for a failure.' }),
    error_type: text,
    refused_requests: nullable(Type.Integer(), {
      description:
        'Refused requests of the key, for the same reason, that the row stands for: in a flood of them only samples ' +
        'are kept. Null = it is a generation.',
    }),
    tokens_prompt: Type.Integer(),
    tokens_completion: Type.Integer(),
    tokens_reasoning: Type.Integer(),
    tokens_cached: Type.Integer(),
    latency: nullable(Type.Integer(), { description: 'To the first content, milliseconds.' }),
    duration_ms: nullable(Type.Integer(), { description: 'To the end, milliseconds.' }),
    cost: Type.Number({ description: 'Charged, USD.' }),
    byok_cost: Type.Number({ description: 'List price in USD of what your BYOK credential served.' }),
    is_byok: Type.Boolean(),
    is_guarded: Type.Boolean({ description: 'A guardrail found something.' }),
    is_from_cache: Type.Boolean({ description: 'The response cache answered.' }),
    attempts: nullable(Type.Integer(), { description: 'Upstream calls.' }),
    tool_calls: nullable(Type.Integer(), { description: 'Calls of tools that the gateway ran.' }),
    session_id: text,
    request_id: nullable(Type.String(), { description: 'Your `x-request-id`.' }),
    external_user: text,
    trace_id: nullable(Type.String(), {
      description:
        'The trace that the spans of the generation are in, 32 hexadecimal digits: the one that the request named, ' +
        'else its own. Null for imported usage.',
    }),
  },
  { description: 'One generation in the log.' },
);

export type LoggedGenerationObject = Static<typeof loggedGenerationSchema>;

export const generationsReplySchema = Type.Object({
  data: Type.Array(loggedGenerationSchema),
  next: nullable(Type.String(), { description: 'For `after`; null on the last page.' }),
  previous: nullable(Type.String(), {
    description: 'For `before`; null without rows, unless a search with `before` stopped.',
  }),
  searched_to: nullable(Type.String({ format: 'date-time' }), {
    description:
      'With `within_ms`: the moment that the search had come to when it stopped. Null = the page is final.',
  }),
});

export type GenerationsReply = Static<typeof generationsReplySchema>;

export const generationCountsReplySchema = Type.Object({
  data: Type.Object({
    total: Type.Integer({ description: 'Rows that the filter matches, as far as they were counted.' }),
    failed: Type.Integer(),
    refused: Type.Integer({ description: 'Rows of refused requests, which are part of `total`.' }),
    refused_requests: Type.Integer({ description: 'Refused requests that these rows stand for.' }),
    from: Type.String({ format: 'date-time' }),
    to: Type.String({ format: 'date-time' }),
    bucket_ms: Type.Integer({ description: 'Width of a bucket, milliseconds.' }),
    buckets: Type.Array(
      Type.Object({
        start: Type.String({ format: 'date-time' }),
        count: Type.Integer(),
        failed: Type.Integer(),
        refused: Type.Integer(),
      }),
      { description: 'Buckets with rows, in order.' },
    ),
    counted_from: nullable(Type.String({ format: 'date-time' }), {
      description:
        'With `within_ms`: the moment that counting had come to when it stopped. Null = the whole range was counted.',
    }),
    missing_before: nullable(Type.String({ format: 'date-time' }), {
      description: 'Generations before this moment are no longer kept one by one, and the range includes it.',
    }),
  }),
});

export type GenerationCounts = Static<typeof generationCountsReplySchema>['data'];

/** The columns of an export as CSV: all members of a row. */
export const LOG_COLUMN_NAMES = Object.keys(
  loggedGenerationSchema.properties,
) as readonly (keyof LoggedGenerationObject)[];
