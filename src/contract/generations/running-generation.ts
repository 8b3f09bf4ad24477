import Type, { type Static } from 'typebox';
import { nullable } from '../values/nullable.ts';
import { DEFAULT_LOG_ROWS, MAX_LOG_ROWS, REQUEST_FILTERS } from './generation-log.ts';

export const runningGenerationsQuerySchema = Type.Object({
  ...REQUEST_FILTERS,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LOG_ROWS,
      description: `Rows; ${DEFAULT_LOG_ROWS} without it.`,
    }),
  ),
});

export type RunningGenerationsQuery = Static<typeof runningGenerationsQuerySchema>;

const text = nullable(Type.String());

/** A generation that has begun and not ended. */
export const runningGenerationSchema = Type.Object(
  {
    id: Type.String(),
    created_at: Type.String({ format: 'date-time', description: 'When the request came in.' }),
    model: Type.String({ description: 'The model that answers; the one asked for until one does.' }),
    provider_name: nullable(Type.String(), { description: 'Null until an endpoint has begun to answer.' }),
    workspace_id: Type.String(),
    workspace_name: nullable(Type.String(), { description: 'Null if it is gone.' }),
    key_hash: Type.String(),
    key_name: nullable(Type.String(), { description: 'Null if the key is gone.' }),
    app: nullable(Type.String(), { description: 'Host of the app.' }),
    request_format: text,
    streamed: Type.Boolean(),
    tokens_prompt: Type.Integer({ description: 'At the last checkpoint; 0 before the first.' }),
    tokens_completion: Type.Integer({ description: 'At the last checkpoint; 0 before the first.' }),
    cost: Type.Number({ description: 'The charge if it ended at the last checkpoint, USD.' }),
    reserved: Type.Number({ description: 'Held for it: the most that it may cost, USD.' }),
    tool_calls: Type.Integer({ description: 'Calls of tools that the gateway has run.' }),
    session_id: text,
    request_id: nullable(Type.String(), { description: 'Your `x-request-id`.' }),
    external_user: text,
    trace_id: Type.String({ description: 'The trace that its spans will be in.' }),
  },
  { description: 'One generation that is running.' },
);

export type RunningGenerationObject = Static<typeof runningGenerationSchema>;

export const runningGenerationsReplySchema = Type.Object({
  data: Type.Array(runningGenerationSchema, { description: 'Newest first.' }),
  total_count: Type.Integer({ description: 'All that match, whatever `limit` is.' }),
});

export type RunningGenerationsReply = Static<typeof runningGenerationsReplySchema>;
