import Type, { type Static } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { RESET_WINDOWS } from '../../kit/time/windows.ts';
import { MEMBER_STATES, type MemberState } from '../../ports/tenancy/tenancy.ts';
import { allWorkspaces } from '../values/all-workspaces.ts';
import { isoTime, isoTimeOrNull } from '../values/iso-time.ts';
import { managedBy, managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';
import { readableText } from '../values/readable-text.ts';
import { uuid } from '../values/uuid.ts';
import { KEY_LIMITS, keyLimits, type LimitedKey } from './key-limits.ts';
import { KEY_MONEY, keyMoney, type SpendingKey } from './key-money.ts';

const MAX_NAME_CHARACTERS = 255;
const MAX_USER_CHARACTERS = 256;
const MAX_MODEL_CHARACTERS = 256;
const MAX_MODELS = 1000;
const MAX_A_MINUTE = 1_000_000_000_000;

const name = readableText(MAX_NAME_CHARACTERS);

const user = readableText(MAX_USER_CHARACTERS);

/** `Z` and `+00:00` are the offsets of UTC. */
const UTC_MOMENT = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?(?:Z|\\+00:00)$';

/** A time in a request: with seconds, in UTC. The calendar is not checked here. */
function utcMoment(description: string) {
  return Type.String({
    pattern: UTC_MOMENT,
    explain: 'must be a moment in UTC such as 2030-01-31T12:00:00Z',
    description,
  });
}

/** Settings of a key that can be set at its creation and changed later. */
const changeable = {
  limit: nullish(
    Type.Number({
      minimum: 0,
      maximum: MAX_USD,
      description: 'The most that the key may spend, USD; finer than a nano-dollar is rounded half up.',
    }),
  ),
  limit_reset: nullish(oneOf(RESET_WINDOWS)),
  include_byok_in_limit: Type.Optional(Type.Boolean()),
  allowed_models: nullish(
    Type.Array(Type.String({ minLength: 1, maxLength: MAX_MODEL_CHARACTERS }), {
      minItems: 1,
      maxItems: MAX_MODELS,
      description: 'The only models that the key may use, by id or alias; null = all.',
    }),
  ),
  requests_per_minute: nullish(aMinute('requests')),
  tokens_per_minute: nullish(aMinute('tokens')),
  expires_at: nullish(utcMoment('ISO 8601, UTC only, in the future. The key opens nothing from then on.')),
};

function aMinute(what: string) {
  return Type.Integer({
    minimum: 0,
    maximum: MAX_A_MINUTE,
    description: `In place of \`limits.per_key.${what}_per_minute\` of the configuration; null or 0 = as it says there.`,
  });
}

/** What can be said of a key when it is made, by the API and by commands. */
export const NEW_KEY = { name, ...changeable };

export const createKeySchema = closed({
  ...NEW_KEY,
  creator_user_id: nullish(user),
  workspace_id: Type.Optional(uuid),
  external: nullish(closed({ user })),
});

export type CreateKey = Static<typeof createKeySchema>;

/** Body of `PATCH /keys/{hash}`: absent members stay unchanged, null removes a limit. */
export const updateKeySchema = closed({
  name: Type.Optional(name),
  disabled: Type.Optional(Type.Boolean()),
  ...changeable,
});

export type UpdateKey = Static<typeof updateKeySchema>;

export const keysQuerySchema = Type.Object({
  offset: nullish(Type.Integer({ minimum: 0, description: 'Keys to skip; a page has 100.' })),
  include_disabled: nullish(Type.Boolean({ description: 'Lists disabled keys too.' })),
  workspace_id: Type.Optional(uuid),
  all_workspaces: nullish(allWorkspaces),
  include_last_used: nullish(Type.Boolean({ description: 'Adds `last_used_at` to every key.' })),
  search: Type.Optional(
    readableText(MAX_NAME_CHARACTERS, {
      description:
        'Only keys with this text in their name or label, whatever the case of A to Z, or at the start of their hash.',
    }),
  ),
});

export type KeysQuery = Static<typeof keysQuerySchema>;

/** A plain key, with the fields of every client generation. */
export const keySchema = Type.Object(
  {
    hash: Type.String({ description: 'SHA-256 of the key, hex: its id.' }),
    label: Type.String({ description: 'Masked form of the key.' }),
    name: Type.String(),
    disabled: Type.Boolean(),
    ...KEY_MONEY,
    ...KEY_LIMITS,
    created_at: Type.String({ format: 'date-time' }),
    updated_at: nullable(Type.String({ format: 'date-time' })),
    expires_at: nullable(Type.String({ format: 'date-time' })),
    last_used_at: Type.Optional(
      Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description:
          'When its newest generation came in, of those that are kept; null: none is. Only in lists with ' +
          '`include_last_used`, and not while analytics do not answer.',
      }),
    ),
    creator_user_id: nullable(Type.String()),
    owner_state: Type.Optional(
      oneOf(MEMBER_STATES, {
        description:
          'Of the member that created it: only keys of active members work. Absent = it is no member’s.',
      }),
    ),
    external_user: nullable(Type.String()),
    workspace_id: Type.String({ format: 'uuid' }),
    managed_by: managedBySchema,
    guardrails: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ format: 'uuid' }),
          name: Type.String(),
          scope: oneOf(['account', 'workspace', 'member', 'api-key'], {
            description: 'What it is the guardrail of.',
          }),
        }),
        { description: 'The guardrails that apply to it, the widest scope first. Not in lists.' },
      ),
    ),
  },
  { description: 'An API key. The key itself is shown once, when it is made.' },
);

export type KeyObject = Static<typeof keySchema>;

export const issuedKeySchema = Type.Object({
  data: keySchema,
  key: Type.String({ description: 'The key itself. Shown this once.' }),
});

export const keyReplySchema = Type.Object({ data: keySchema });

export const keyListSchema = Type.Object({ data: Type.Array(keySchema) });

/** The part of a guardrail that its keys show. */
interface ShownGuardrail {
  readonly guardrail: { readonly id: string; readonly name: string };
  readonly scope: 'account' | 'workspace' | 'member' | 'api-key';
}

export interface ShownKey extends SpendingKey {
  /** The guardrails that apply to it; absent = not asked for. */
  readonly guardrails?: readonly ShownGuardrail[];
  /** Epoch milliseconds; null = no kept generation has it; absent = not asked for, or not known. */
  readonly lastUsedAtMs?: number | null;
  readonly key: SpendingKey['key'] &
    LimitedKey & {
      readonly hash: string;
      readonly label: string;
      readonly name: string;
      readonly disabled: boolean;
      readonly createdAtMs: number;
      readonly updatedAtMs: number | null;
      readonly expiresAtMs: number | null;
      readonly creatorUserId: string | null;
      readonly ownerState?: MemberState;
      readonly externalUser: string | null;
      readonly workspaceId: string;
      readonly fileMember: string | null;
    };
}

export function keyObject(shown: ShownKey): KeyObject {
  const { key, lastUsedAtMs, guardrails } = shown;
  return {
    hash: key.hash,
    label: key.label,
    name: key.name,
    disabled: key.disabled,
    ...keyMoney(shown),
    ...keyLimits(key),
    created_at: isoTime(key.createdAtMs),
    updated_at: isoTimeOrNull(key.updatedAtMs),
    expires_at: isoTimeOrNull(key.expiresAtMs),
    ...(lastUsedAtMs !== undefined && { last_used_at: isoTimeOrNull(lastUsedAtMs) }),
    creator_user_id: key.creatorUserId,
    ...(key.ownerState !== undefined && { owner_state: key.ownerState }),
    external_user: key.externalUser,
    workspace_id: key.workspaceId,
    managed_by: managedBy(key.fileMember),
    ...(guardrails !== undefined && {
      guardrails: guardrails.map(({ guardrail: { id, name }, scope }) => ({ id, name, scope })),
    }),
  };
}
