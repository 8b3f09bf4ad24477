import Type, { type Static } from 'typebox';
import { closed, oneOf } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';
import { gatewayProviderSchema } from './gateway-provider.ts';
import { uptimeSchema } from './uptime.ts';

const time = (description: string) => Type.String({ format: 'date-time', description });

const cause = Type.Object({
  kind: Type.String({ description: 'Kind of the error.' }),
  status: nullable(Type.Integer(), { description: 'Status of the upstream; null = it never answered.' }),
  code: nullable(Type.String(), { description: 'The code of the upstream.' }),
  errno: nullable(Type.String(), { description: 'Code of the system or of TLS.' }),
});

/** Calls in slots of time. */
const historySchema = Type.Object(
  {
    slot_seconds: Type.Integer(),
    calls: Type.Array(Type.Integer(), { description: 'For each slot, oldest first; the last one is now.' }),
    failures: Type.Array(Type.Integer(), { description: 'The calls of each slot that failed.' }),
  },
  { description: 'Calls of the last day, counted since the start of this process.' },
);

export type ServiceHistoryObject = Static<typeof historySchema>;

const cooldownSchema = Type.Object({
  until: time('When it is called again.'),
  accounts: Type.Integer({
    description: 'Accounts that it cools down for, whose requests alone failed; 0 = for all.',
  }),
  cause: nullable(cause, { description: 'The last failure that counted.' }),
});

const percentiles = Type.Object({
  p50: Type.Number(),
  p75: Type.Number(),
  p90: Type.Number(),
  p99: Type.Number(),
});

/** An endpoint, with the credential of the gateway. */
export const endpointStateSchema = Type.Object({
  model: Type.String(),
  endpoint: Type.String({ description: 'Its tag.' }),
  provider: Type.String({ description: 'Slug of its provider.' }),
  state: oneOf(['ok', 'unstable', 'paused', 'probing', 'cooling'], {
    description:
      '`unstable`: at least a fifth of the calls of the last 30 seconds failed. `paused`: by a rate limit of its ' +
      'provider. `probing`: after a cool-down, one call at a time.',
  }),
  paused_until: nullable(Type.String({ format: 'date-time' })),
  cooldown: nullable(cooldownSchema),
  uptime_last_30m: nullable(Type.Number(), { description: 'Per cent, since the start of this process.' }),
  uptime_last_1d: nullable(Type.Number(), { description: 'Per cent, since the start of this process.' }),
  uptime: nullable(uptimeSchema, { description: 'Null = the database does not answer.' }),
  latency_last_30m: nullable(percentiles, { description: 'Milliseconds to the first token.' }),
  throughput_last_30m: nullable(percentiles, { description: 'Tokens per second.' }),
  history: nullable(historySchema, { description: 'Null = not called since the start of this process.' }),
});

export type EndpointStateObject = Static<typeof endpointStateSchema>;

export const endpointStatesQuerySchema = closed({
  model: Type.Optional(Type.String({ maxLength: 512, description: 'Of this model alone.' })),
  provider: Type.Optional(
    Type.String({ maxLength: 128, description: 'Of this provider alone, by its slug.' }),
  ),
});

export type EndpointStatesQuery = Static<typeof endpointStatesQuerySchema>;

export const endpointStateListSchema = Type.Object({ data: Type.Array(endpointStateSchema) });

const serviceChange = Type.Object({
  at: time('When it happened.'),
  kind: oneOf(['cooling', 'paused', 'back'], {
    description: '`back`: it serves again after a cool-down.',
  }),
  model: Type.String(),
  endpoint: Type.String(),
  is_of_one_account: Type.Boolean({ description: 'It holds for one account alone, whose requests failed.' }),
  seconds: Type.Number({ description: 'Length of the cool-down or pause; for `back`, how long it was out.' }),
  failures: nullable(Type.Integer(), { description: 'Failures in a row that began a cool-down.' }),
  cause: nullable(cause),
});

/** A provider, in use or known. */
export const providerStateSchema = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  is_on: Type.Boolean({ description: 'The gateway calls it with its own credential.' }),
  dialect: nullable(Type.String()),
  hosts: Type.Array(Type.String(), { description: 'Hosts and ports of its addresses.' }),
  credential: Type.Object({
    source: oneOf(['environment', 'file', 'stored', 'none_needed', 'missing'], {
      description:
        '`file`: the configuration file has it, itself or by a variable. `stored`: the operator has added it here.',
    }),
    variables: Type.Array(Type.Object({ name: Type.String(), is_set: Type.Boolean() }), {
      description: 'Variables of the environment that hold its credential. Values are never shown.',
    }),
  }),
  set_by: nullable(oneOf(['file', 'environment', 'stored']), {
    description: 'What has the gateway serve it; the file and the environment win. Null = nothing does.',
  }),
  stored: nullable(gatewayProviderSchema, {
    description: 'As the operator has added it, serving or not; null = it was not added.',
  }),
  data_policy: nullable(
    Type.Object(
      { trains: Type.Boolean(), retains_prompts: Type.Boolean() },
      { description: 'As published.' },
    ),
  ),
  models: Type.Integer({ description: 'Models that it serves here.' }),
  endpoints: Type.Integer(),
  endpoints_out: Type.Integer({ description: 'Endpoints that cool down for all, or are paused.' }),
  endpoints_limited: Type.Integer({
    description: 'Endpoints that cool down for some accounts, whose requests alone failed.',
  }),
  endpoints_unstable: Type.Integer(),
  history: nullable(historySchema, { description: 'Of all its endpoints together; null = not called.' }),
  uptime: nullable(uptimeSchema, {
    description: 'Of all its endpoints together; null = the database does not answer.',
  }),
  latency_p50: nullable(Type.Number(), {
    description: 'Milliseconds to the first token: the middle of the medians of its endpoints, 30 minutes.',
  }),
  last_failure: nullable(
    Type.Object({
      at: time('When it failed.'),
      model: Type.String(),
      status: Type.Integer(),
      errno: nullable(Type.String()),
      is_over: Type.Boolean({ description: 'A later call succeeded.' }),
    }),
  ),
  changes: Type.Array(serviceChange, {
    description: 'Cool-downs, pauses and returns since the start of this process, newest first; the last 20.',
  }),
});

export type ProviderStateObject = Static<typeof providerStateSchema>;
export type ServiceChangeObject = ProviderStateObject['changes'][number];

export const providerStateListSchema = Type.Object({ data: Type.Array(providerStateSchema) });
