import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { isoTimeOrNull } from '../values/iso-time.ts';
import { nullable } from '../values/nullable.ts';
import { KEY_LIMITS, keyLimits, type LimitedKey } from './key-limits.ts';
import { KEY_MONEY, keyMoney, type SpendingKey } from './key-money.ts';

/** Reply of `GET /key`: the key as it sees itself, with the fields of every client generation. */
export const currentKeySchema = Type.Object({
  label: Type.String({ description: 'Masked form of the key.' }),
  hash: Type.String({ description: 'Names the key in other requests.' }),
  ...KEY_MONEY,
  ...KEY_LIMITS,
  is_free_tier: Type.Boolean(),
  is_management_key: Type.Boolean(),
  is_provisioning_key: Type.Boolean({ description: 'The older name of is_management_key.' }),
  creator_user_id: nullable(Type.String()),
  expires_at: nullable(Type.String({ format: 'date-time' })),
  rate_limit: Type.Object(
    { requests: Type.Integer(), interval: Type.String(), note: Type.String() },
    { deprecated: true },
  ),
  allowed_data_regions: Type.Array(oneOf(['global', 'europe', 'us'])),
  free_model_daily_requests: Type.Object({
    limit: Type.Integer(),
    used: Type.Integer(),
    remaining: Type.Integer(),
  }),
  organization_id: nullable(Type.String()),
  workspace_id: nullable(Type.String({ format: 'uuid' })),
});

export type CurrentKey = Static<typeof currentKeySchema>;

/** No limit is written as the largest exact number, because clients stop at 0 remaining. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export interface SelfSeenKey extends SpendingKey {
  readonly key: SpendingKey['key'] &
    LimitedKey & {
      readonly hash: string;
      /** Masked secret. */
      readonly label: string;
      readonly isManagement: boolean;
      readonly creatorUserId: string | null;
      readonly expiresAtMs: number | null;
      readonly workspaceId: string;
    };
}

export function currentKeyObject(shown: SelfSeenKey): CurrentKey {
  const { key } = shown;
  return {
    label: key.label,
    hash: key.hash,
    ...keyMoney(shown),
    ...keyLimits(key),
    is_free_tier: false,
    is_management_key: key.isManagement,
    is_provisioning_key: key.isManagement,
    creator_user_id: key.creatorUserId,
    expires_at: isoTimeOrNull(key.expiresAtMs),
    rate_limit: { requests: -1, interval: '10s', note: 'This field is deprecated and safe to ignore.' },
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: NO_LIMIT, used: 0, remaining: NO_LIMIT },
    organization_id: null,
    workspace_id: key.workspaceId,
  };
}
