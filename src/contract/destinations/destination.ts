import Type, { type Static } from 'typebox';
import { DESTINATION_TYPES, UNSERVED_TYPES } from '../../broadcast/destination-types.ts';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import {
  DESTINATION_LIMITS,
  DESTINATION_TYPE_NAMES,
  FILTER_FIELD_NAMES,
  FILTER_OPERATOR_NAMES,
} from '../../ports/following/destinations.ts';
import { pageQuery } from '../guardrails/guardrail.ts';
import { allWorkspaces } from '../values/all-workspaces.ts';
import { managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';
import { readableText } from '../values/readable-text.ts';
import { uuid } from '../values/uuid.ts';

const unserved = Object.entries(UNSERVED_TYPES).map(([name, reason]) => `${name} ${reason}`);

const type = oneOf(DESTINATION_TYPE_NAMES, {
  explain: `must be one of ${DESTINATION_TYPE_NAMES.join(', ')} (${unserved.join('; ')})`,
  description: 'What receives the traces.',
});

const name = readableText(DESTINATION_LIMITS.nameCharacters);

/** The members of every type, for readers. */
const CONFIG_MEMBERS = Object.entries(DESTINATION_TYPES)
  .map(([name, { members }]) => {
    const listed = Object.entries(members).map(
      ([member, { isRequired }]) => member + (isRequired ? '*' : ''),
    );
    return `${name}: ${listed.join(', ')}`;
  })
  .join('; ');

const config = Type.Record(Type.String(), Type.Unknown(), {
  description: `What the type needs (* = required): ${CONFIG_MEMBERS}. Secrets are stored encrypted and shown masked.`,
});

const rule = closed({
  field: oneOf(FILTER_FIELD_NAMES),
  operator: oneOf(FILTER_OPERATOR_NAMES),
  value: nullish(
    Type.Union([Type.String({ maxLength: DESTINATION_LIMITS.ruleValueCharacters }), Type.Number()], {
      description: 'What the field is compared with; `exists` and `not_exists` take none.',
    }),
  ),
});

const filterRules = closed(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'False: the rules are kept and not applied.' })),
    groups: Type.Array(
      closed({
        logic: Type.Optional(
          oneOf(['and', 'or'], { description: 'How rules are joined; `and` without it.' }),
        ),
        rules: Type.Array(rule, { minItems: 1, maxItems: DESTINATION_LIMITS.rulesInGroup }),
      }),
      { maxItems: DESTINATION_LIMITS.filterGroups },
    ),
  },
  { description: 'Sends only generations that any of the groups accepts.' },
);

const hashes = nullable(
  Type.Array(
    Type.String({
      pattern: '^[a-f0-9]{64}$',
      explain: 'must be the hash of a key: 64 lower-case hex digits',
    }),
    { minItems: 1, maxItems: DESTINATION_LIMITS.keys },
  ),
  { description: 'Hashes of the keys whose generations are sent; null = all.' },
);

/** Settings that can be set at the creation and changed later, besides name and configuration. */
const changeable = {
  enabled: Type.Optional(Type.Boolean({ description: 'True without it.' })),
  privacy_mode: Type.Optional(
    Type.Boolean({ description: 'Prompts and answers are not sent. False without it.' }),
  ),
  sampling_rate: Type.Optional(
    Type.Number({
      minimum: 0.0001,
      maximum: 1,
      description: 'Share of the sessions that are sent; 1 without it.',
    }),
  ),
  api_key_hashes: Type.Optional(hashes),
  filter_rules: Type.Optional(nullable(filterRules)),
  broadcast_generation_cost: Type.Optional(
    Type.Boolean({ description: 'Adds what the generation, its upstream calls and its tools cost.' }),
  ),
  broadcast_generation_identity: Type.Optional(
    Type.Boolean({
      description: 'Adds the id of the workspace, the hash of the key and the creator of the key.',
    }),
  ),
  broadcast_generation_request_context: Type.Optional(
    Type.Boolean({ description: 'Adds the id of the request, user agent, app, origin and preset.' }),
  ),
  regions: Type.Optional(
    Type.Array(oneOf(['global']), { minItems: 1, maxItems: 1, description: 'This gateway has one region.' }),
  ),
};

export const createDestinationSchema = closed({
  type,
  name,
  config,
  workspace_id: Type.Optional({
    ...uuid,
    description: 'Whose generations are sent; those of the default workspace without it.',
  }),
  ...changeable,
});

export type CreateDestination = Static<typeof createDestinationSchema>;

/** Body of `PATCH /observability/destinations/{id}`: absent members stay unchanged. */
export const updateDestinationSchema = closed({
  name: Type.Optional(name),
  config: Type.Optional({
    ...config,
    description:
      'Members to change: null removes one, and a secret as it is shown stays what it is. Another server needs ' +
      'all secrets again.',
  }),
  ...changeable,
});

export type UpdateDestination = Static<typeof updateDestinationSchema>;

export const destinationsQuerySchema = Type.Object({
  ...pageQuery,
  workspace_id: Type.Optional(uuid),
  all_workspaces: nullish(allWorkspaces),
});

export type DestinationsQuery = Static<typeof destinationsQuerySchema>;

export const destinationSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    type: oneOf<readonly string[]>(DESTINATION_TYPE_NAMES),
    name: Type.String(),
    workspace_id: Type.String({ format: 'uuid' }),
    config: Type.Record(Type.String(), Type.Unknown(), { description: 'Secrets are masked.' }),
    enabled: Type.Boolean(),
    privacy_mode: Type.Boolean(),
    sampling_rate: Type.Number(),
    api_key_hashes: nullable(Type.Array(Type.String())),
    filter_rules: nullable(
      Type.Object({
        enabled: Type.Boolean(),
        groups: Type.Array(
          Type.Object({
            logic: oneOf(['and', 'or']),
            rules: Type.Array(
              Type.Object({
                field: Type.String(),
                operator: Type.String(),
                value: Type.Optional(Type.Union([Type.String(), Type.Number()])),
              }),
            ),
          }),
        ),
      }),
    ),
    broadcast_generation_cost: Type.Boolean(),
    broadcast_generation_identity: Type.Boolean(),
    broadcast_generation_request_context: Type.Boolean(),
    regions: Type.Array(oneOf(['global'])),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time', description: 'Its creation until it is changed.' }),
    managed_by: managedBySchema,
    state: nullable(
      Type.Object({
        taken: Type.Integer({ description: 'Generations that it has got, or that its settings leave out.' }),
        dropped: Type.Integer({
          description: 'Generations that it never gets: they waited for too long, or it refused them.',
        }),
        waiting: Type.Integer({ description: 'Generations that wait for it, by a count a few seconds old.' }),
        problem: nullable(Type.String(), {
          description: 'Why it gets nothing for now, or refuses generations; null = it works.',
        }),
        since: nullable(Type.String({ format: 'date-time' }), { description: 'Since when; null = unknown.' }),
      }),
      { description: 'How sending goes; null for a destination that is disabled, or was made a moment ago.' },
    ),
  },
  { description: 'Where the generations of a workspace are sent as traces.' },
);

export type DestinationObject = Static<typeof destinationSchema>;

export const destinationReplySchema = Type.Object({ data: destinationSchema });

export const destinationListSchema = Type.Object({
  data: Type.Array(destinationSchema),
  total_count: Type.Integer({ description: 'All that match, on every page.' }),
});

export const connectionTestSchema = Type.Object({
  data: Type.Object({
    success: Type.Boolean(),
    status: nullable(Type.Integer(), { description: 'Status of the answer; null without one.' }),
    message: nullable(Type.String(), { description: 'Why it failed; null = it did not.' }),
  }),
});

export type ConnectionTestObject = Static<typeof connectionTestSchema>['data'];
