import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { storableText } from '../values/readable-text.ts';
import { uuid } from '../values/uuid.ts';

const MAX_USER_CHARACTERS = 256;

export const activityQuerySchema = Type.Object({
  date: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\d$',
      explain: 'must be a day such as 2030-01-31',
      description: 'One UTC day of the last 30 that are over; all of them without it.',
    }),
  ),
  api_key_hash: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      explain: 'must be the hash of a key: 64 hexadecimal digits',
      description: 'Usage of one key.',
    }),
  ),
  user_id: Type.Optional(
    storableText(MAX_USER_CHARACTERS, { description: 'Usage of keys that this user made.' }),
  ),
  workspace_id: Type.Optional(uuid),
  group_by: Type.Optional(oneOf(['workspace'], { description: 'Rows for each workspace.' })),
});

export type ActivityQuery = Static<typeof activityQuerySchema>;

const count = Type.Integer({ minimum: 0 });

/** Usage of one model through one endpoint on one day. */
export const activityRowSchema = Type.Object(
  {
    date: Type.String({ description: 'UTC day, YYYY-MM-DD.' }),
    model: Type.String(),
    model_permaslug: Type.String(),
    endpoint_id: Type.String({ description: 'Empty where none served.' }),
    provider_name: Type.String({ description: 'Empty where none served.' }),
    usage: Type.Number({ description: 'Charged to credits, USD.' }),
    byok_usage_inference: Type.Number({ description: 'List price of what BYOK credentials served, USD.' }),
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    reasoning_tokens: count,
    workspace_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'With `group_by=workspace` only.' }),
    ),
  },
  { description: 'Usage of one model through one endpoint on one day.' },
);

export type ActivityRow = Static<typeof activityRowSchema>;

export const activityReplySchema = Type.Object({ data: Type.Array(activityRowSchema) });
