import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';
import { queryMoment } from '../values/query-moment.ts';
import { MAX_LOG_TEXT, REQUEST_FILTERS } from './generation-log.ts';

/** Members of a conversation that a list can be in order of, and their tokens. */
export const CONVERSATION_SORT_NAMES = [
  'last_at',
  'duration_ms',
  'generations',
  'tokens',
  'cost',
  'failed',
] as const;

export const MAX_CONVERSATIONS = 200;
export const DEFAULT_CONVERSATIONS = 50;

const { model, provider, key, workspace, app, session_id, external_user } = REQUEST_FILTERS;

export const conversationsQuerySchema = Type.Object({
  from: queryMoment('Requests that came in at this moment or later; 24 hours before `to` without it.'),
  to: queryMoment('Requests that came in before this moment; now without it.'),
  model,
  provider,
  key,
  workspace,
  app,
  session_id,
  external_user,
  search: Type.Optional(Type.String({ maxLength: MAX_LOG_TEXT, description: 'Part of the session id.' })),
  sort: Type.Optional(
    oneOf(CONVERSATION_SORT_NAMES, {
      description:
        'What conversations are in order of; `last_at` without it. `tokens`: those of prompts and completions.',
    }),
  ),
  order: Type.Optional(
    oneOf(['desc', 'asc'], { description: 'Without it `desc`: the latest, longest or largest first.' }),
  ),
  after: Type.Optional(
    Type.String({
      pattern: `^\\d{1,18}\\.[\\w-]{1,64}\\.[\\s\\S]{1,${MAX_LOG_TEXT}}$`,
      explain: 'must be `next` of an earlier page',
      description: 'The page after this place: `next` of the page before.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_CONVERSATIONS,
      description: `Conversations; ${DEFAULT_CONVERSATIONS} without it.`,
    }),
  ),
});

export type ConversationsQuery = Static<typeof conversationsQuerySchema>;

export const conversationSchema = Type.Object(
  {
    session_id: Type.String(),
    workspace_id: Type.String(),
    workspace_name: nullable(Type.String(), { description: 'Null if it is gone.' }),
    key_hash: nullable(Type.String(), { description: 'Key of the last request.' }),
    key_name: nullable(Type.String(), { description: 'Null if the key is gone.' }),
    app: nullable(Type.String(), { description: 'Host of the app of the last request that has one.' }),
    external_user: nullable(Type.String(), { description: 'End user of the last request that names one.' }),
    models: Type.Array(Type.String(), { description: 'The most used first; at most 20.' }),
    generations: Type.Integer({ description: 'Without refused requests.' }),
    failed: Type.Integer({ description: 'Generations without an answer.' }),
    refused: Type.Integer({ description: 'Rows of refused requests in the log.' }),
    tokens_prompt: Type.Integer(),
    tokens_completion: Type.Integer(),
    tokens_reasoning: Type.Integer(),
    tokens_cached: Type.Integer(),
    cost: Type.Number({ description: 'Charged, USD.' }),
    byok_cost: Type.Number({ description: 'List price in USD of what your BYOK credential served.' }),
    first_at: Type.String({ format: 'date-time', description: 'When its first request came in.' }),
    last_at: Type.String({ format: 'date-time', description: 'When its last request came in.' }),
    duration_ms: Type.Integer({
      description: 'From its first request to the end of its last answer, milliseconds.',
    }),
  },
  {
    description:
      'A conversation: the generations of a workspace that name the same `session_id`, as far as they match the ' +
      'filters and the range.',
  },
);

export type ConversationObject = Static<typeof conversationSchema>;

export const conversationsReplySchema = Type.Object({
  data: Type.Array(conversationSchema),
  next: nullable(Type.String(), { description: 'For `after`; null on the last page.' }),
  missing_before: nullable(Type.String({ format: 'date-time' }), {
    description: 'Generations before this moment are no longer kept one by one, and the range includes it.',
  }),
});

export type ConversationsReply = Static<typeof conversationsReplySchema>;
