import Type, { type Static } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_PROVIDER_MODELS, type StoredProvider } from '../../ports/tenancy/gateway-providers.ts';
import { nullable } from '../values/nullable.ts';
import { uuid } from '../values/uuid.ts';

const MAX_SECRET_CHARACTERS = 65_536;
const MAX_WORKSPACES = 1_000;

const slug = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  explain: 'must be 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
  description: 'Slug of a known provider, or a name of your own for a server of your own.',
});

const key = Type.String({
  minLength: 1,
  maxLength: MAX_SECRET_CHARACTERS,
  writeOnly: true,
  description:
    'The key, or a JSON document in a string for cloud providers. Stored encrypted, never returned.',
});

const name = nullish(Type.String({ minLength: 1, maxLength: 100, description: 'Name that is shown.' }));

const dialect = nullish(
  oneOf(['openai-chat', 'openai-responses', 'anthropic-messages', 'google-gemini', 'aws-bedrock'], {
    description: 'The interface that it speaks. Null = that of the known provider.',
  }),
);

const baseUrl = nullish(
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    description:
      'Address up to the path of the interface. It may be private. Null = that of the known provider. Another ' +
      'address needs the key again.',
  }),
);

const price = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^0{0,9}(\\d{1,2}(\\.\\d{1,18})?|100(\\.0{1,18})?)$',
      explain: 'must be an exact decimal in quotes, for example "0.000001", of at most 100 USD',
      description: `USD per token ${description}, as an exact decimal; "0", which is the default, = free.`,
    }),
  );

const model = closed({
  id: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9~][A-Za-z0-9._~:/+-]{0,255}$',
      explain: 'must be 1 to 256 letters, digits and ".", "_", "-", ":", "/", "+", for example acme/large',
      description: 'The id that callers use; by default made of the name, behind the slug of the provider.',
    }),
  ),
  model: Type.String({ minLength: 1, maxLength: 200, description: "The provider's own name for it." }),
  name: nullish(Type.String({ minLength: 1, maxLength: 200 })),
  context_length: nullish(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  pricing: Type.Optional(closed({ prompt: price('of the prompt'), completion: price('of the answer') })),
});

const models = Type.Optional(
  Type.Array(model, {
    maxItems: MAX_PROVIDER_MODELS,
    description:
      'Models that it serves besides those that the catalogue knows at its usual address. A server of your own serves ' +
      'these alone.',
  }),
);

const workspaceIds = Type.Optional(
  nullable(Type.Array(uuid, { minItems: 1, maxItems: MAX_WORKSPACES }), {
    description: 'The workspaces whose requests it serves; null = all. An empty list is refused.',
  }),
);

const disabled = Type.Optional(Type.Boolean({ description: 'It serves nothing, and keeps its key.' }));

const changeable = { name, dialect, base_url: baseUrl, models, workspace_ids: workspaceIds, disabled };

/** Body of `POST /gateway/providers`. */
export const createGatewayProviderSchema = closed({
  slug,
  key: Type.Optional(key),
  ...changeable,
});

export type CreateGatewayProvider = Static<typeof createGatewayProviderSchema>;

/** Body of `PATCH /gateway/providers/{slug}`: absent members stay unchanged. */
export const updateGatewayProviderSchema = closed({
  key: Type.Optional(
    nullable(key, { description: 'A new key replaces the one before in place; null removes it.' }),
  ),
  ...changeable,
});

export type UpdateGatewayProvider = Static<typeof updateGatewayProviderSchema>;

/** Body of `POST /gateway/providers/test`. */
export const testGatewayProviderSchema = closed({
  slug,
  key: Type.Optional(key),
  dialect,
  base_url: baseUrl,
});

export type TestGatewayProvider = Static<typeof testGatewayProviderSchema>;

const shownModel = Type.Object({
  id: Type.String({ description: 'The id that callers use.' }),
  model: Type.String({ description: "The provider's own name for it." }),
  name: nullable(Type.String()),
  context_length: nullable(Type.Integer()),
  pricing: Type.Object({ prompt: Type.String(), completion: Type.String() }),
});

/** A provider that the operator has added. */
export const gatewayProviderSchema = Type.Object(
  {
    slug: Type.String(),
    name: nullable(Type.String()),
    dialect: nullable(Type.String(), { description: 'Null = that of the known provider.' }),
    base_url: nullable(Type.String(), { description: 'Null = that of the known provider.' }),
    label: nullable(Type.String(), { description: 'Masked form of the key; null = it has none.' }),
    models: Type.Array(shownModel),
    workspace_ids: nullable(Type.Array(Type.String({ format: 'uuid' })), { description: 'Null = all.' }),
    disabled: Type.Boolean(),
    set_by: nullable(oneOf(['file', 'environment']), {
      description:
        'What sets a provider of this slug already, and wins: this one serves nothing while it does. Null = nothing.',
    }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: nullable(Type.String({ format: 'date-time' })),
  },
  { description: 'A provider that the operator has added to the gateway. Its key is never shown.' },
);

export type GatewayProviderObject = Static<typeof gatewayProviderSchema>;

/** Reply of `POST /gateway/providers` and of `GET` and `PATCH /gateway/providers/{slug}`. */
export const gatewayProviderReplySchema = Type.Object({ data: gatewayProviderSchema });

/** Reply of `POST /gateway/providers/test`. */
export const providerTestSchema = Type.Object({
  data: Type.Object({
    passed: Type.Boolean({ description: 'It listed its models.' }),
    is_testable: Type.Boolean({
      description:
        'False: it has no list of models, or its kind of key cannot ask for it. The first request will show.',
    }),
    status: nullable(Type.Integer(), { description: 'Status of its answer; null = there was none.' }),
    message: nullable(Type.String(), {
      description: "The provider's own words, or what was in the way; null = it listed its models.",
    }),
    is_key_proven: nullable(Type.Boolean(), {
      description:
        'False: it lists its models without a key too. Null: no key was sent, or there is no list.',
    }),
    milliseconds: Type.Integer(),
    listed_models: nullable(Type.Integer(), {
      description: 'How many models it lists; null = there is no list.',
    }),
    is_list_cut: Type.Boolean({
      description: 'The list was too long to be read to its end: it has more models than were counted.',
    }),
    models: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The id under which callers would ask for it.' }),
        model: Type.String({ description: "The provider's own name for it." }),
        name: nullable(Type.String()),
        context_length: nullable(Type.Integer(), { description: 'Null = it was not said.' }),
      }),
      { description: 'The first 2,000 of them.' },
    ),
  }),
});

export type ProviderTestObject = Static<typeof providerTestSchema>['data'];

/** What else sets a provider. */
export type ProviderSetter = NonNullable<GatewayProviderObject['set_by']>;

/** A provider as the routes show it. */
export function gatewayProviderObject(
  provider: StoredProvider,
  setBy: ProviderSetter | null,
): GatewayProviderObject {
  const { slug, name, dialect, baseUrl, label, models, workspaceIds, disabled } = provider;
  return {
    slug,
    name,
    dialect,
    base_url: baseUrl,
    label,
    models: models.map(({ id, model, name, contextLength, promptPrice, completionPrice }) => ({
      id,
      model,
      name,
      context_length: contextLength,
      pricing: { prompt: promptPrice, completion: completionPrice },
    })),
    workspace_ids: workspaceIds === null ? null : [...workspaceIds],
    disabled,
    set_by: setBy,
    created_at: new Date(provider.createdAtMs).toISOString(),
    updated_at: provider.updatedAtMs === null ? null : new Date(provider.updatedAtMs).toISOString(),
  };
}
