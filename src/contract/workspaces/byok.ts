import Type, { type Static } from 'typebox';
import { closed, nullish } from '../../kit/json/schema.ts';
import { allWorkspaces } from '../values/all-workspaces.ts';
import { managedBy, managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';
import { uuid } from '../values/uuid.ts';

const MAX_SECRET_CHARACTERS = 65_536;
const MAX_LIST_ENTRIES = 100;

const key = Type.String({
  minLength: 1,
  maxLength: MAX_SECRET_CHARACTERS,
  writeOnly: true,
  description:
    'The key, or a JSON document in a string for cloud providers. Stored encrypted, never returned.',
});

const provider = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Slug of the provider; `mcp:<label>` for an MCP server of the configuration.',
});

function list(description: string) {
  return nullable(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: MAX_LIST_ENTRIES }), {
    description: `${description}; null = no restriction.`,
  });
}

const hashes = nullable(
  Type.Array(
    Type.String({
      pattern: '^[a-f0-9]{64}$',
      explain: 'must be the hash of a key: 64 lower-case hex digits',
    }),
    { minItems: 1, maxItems: MAX_LIST_ENTRIES },
  ),
  { description: 'Hashes of the keys that may use it; null = no restriction. An empty list is refused.' },
);

/** Settings of a credential that can be set at its creation and changed later. */
const changeable = {
  name: nullish(Type.String({ maxLength: 255 })),
  allowed_models: Type.Optional(list('Ids of the models that it is for')),
  allowed_user_ids: Type.Optional(list('Users (`creator_user_id` of the key) who may use it')),
  allowed_api_key_hashes: Type.Optional(hashes),
  disabled: Type.Optional(Type.Boolean()),
  is_fallback: Type.Optional(
    Type.Boolean({ description: 'Tried only after the shared endpoints. Not together with `is_byok_only`.' }),
  ),
  is_required: Type.Optional(
    Type.Boolean({
      description: 'No shared endpoint of the provider is used for the models that it covers.',
    }),
  ),
  is_byok_only: Type.Optional(Type.Boolean({ description: 'No shared endpoint of the provider is used.' })),
  declared_zdr: Type.Optional(
    nullable(Type.Boolean(), {
      description: 'Whether nothing is retained behind it, as you say; null = as the provider says.',
    }),
  ),
};

export const createByokSchema = closed({
  key,
  provider,
  workspace_id: Type.Optional(
    nullable(uuid, { description: 'Without it: the default workspace. Null: every workspace.' }),
  ),
  ...changeable,
});

export type CreateByok = Static<typeof createByokSchema>;

/** Body of `PATCH /byok/{id}`: absent members stay unchanged. */
export const updateByokSchema = closed({ key: Type.Optional(key), ...changeable });

export type UpdateByok = Static<typeof updateByokSchema>;

export const byokQuerySchema = Type.Object({
  offset: nullish(Type.Integer({ minimum: 0, description: 'Credentials to skip.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; 50 without it.' })),
  workspace_id: Type.Optional(uuid),
  all_workspaces: nullish(allWorkspaces),
  provider: Type.Optional(provider),
});

export type ByokQuery = Static<typeof byokQuerySchema>;

/** A stored credential, with the fields of every client generation. */
export const byokCredentialSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: nullable(Type.String()),
    provider: Type.String(),
    label: Type.String({ description: 'Masked form of the key.' }),
    created_at: Type.String({ format: 'date-time' }),
    disabled: Type.Boolean(),
    is_fallback: Type.Boolean(),
    is_required: Type.Boolean(),
    is_byok_only: Type.Boolean(),
    declared_zdr: nullable(Type.Boolean()),
    sort_order: Type.Integer({ description: 'Place among the credentials of the provider.' }),
    workspace_id: nullable(Type.String({ format: 'uuid' }), { description: 'Null = every workspace.' }),
    allowed_models: nullable(Type.Array(Type.String())),
    allowed_user_ids: nullable(Type.Array(Type.String())),
    allowed_api_key_hashes: nullable(Type.Array(Type.String())),
    managed_by: managedBySchema,
  },
  { description: 'A credential of your own for a provider. Its key is never shown.' },
);

export type ByokObject = Static<typeof byokCredentialSchema>;

export const byokReplySchema = Type.Object({ data: byokCredentialSchema });

export const byokListSchema = Type.Object({
  data: Type.Array(byokCredentialSchema),
  total_count: Type.Integer({ description: 'All that match, on every page.' }),
});

export interface ShownCredential {
  readonly id: string;
  readonly name: string | null;
  readonly provider: string;
  readonly label: string;
  readonly createdAtMs: number;
  readonly disabled: boolean;
  readonly isFallback: boolean;
  readonly isRequired: boolean;
  readonly isByokOnly: boolean;
  readonly declaredZdr: boolean | null;
  readonly sortOrder: number;
  readonly workspaceId: string | null;
  readonly allowedModels: readonly string[] | null;
  readonly allowedUserIds: readonly string[] | null;
  readonly allowedApiKeyHashes: readonly string[] | null;
  readonly fileMember: string | null;
}

export function byokObject(credential: ShownCredential): ByokObject {
  return {
    id: credential.id,
    name: credential.name,
    provider: credential.provider,
    label: credential.label,
    created_at: new Date(credential.createdAtMs).toISOString(),
    disabled: credential.disabled,
    is_fallback: credential.isFallback,
    is_required: credential.isRequired,
    is_byok_only: credential.isByokOnly,
    declared_zdr: credential.declaredZdr,
    sort_order: credential.sortOrder,
    workspace_id: credential.workspaceId,
    allowed_models: copyOf(credential.allowedModels),
    allowed_user_ids: copyOf(credential.allowedUserIds),
    allowed_api_key_hashes: copyOf(credential.allowedApiKeyHashes),
    managed_by: managedBy(credential.fileMember),
  };
}

function copyOf(list: readonly string[] | null): string[] | null {
  return list === null ? null : [...list];
}
