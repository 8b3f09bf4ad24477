import type { Static } from 'typebox';
import type { deletedSchema } from '../../../contract/envelopes/deleted.ts';
import type { currentKeySchema } from '../../../contract/keys/current-key.ts';
import type { CreateKey, issuedKeySchema, KeyObject, UpdateKey } from '../../../contract/keys/key.ts';
import type { RouteExample } from '../../route.ts';
import { KEY_HASH, WORKSPACE_ID } from './ids.ts';

const NOTHING_USED = {
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
};

const KEY = {
  hash: KEY_HASH,
  label: 'sk-...6ef0',
  name: 'Chat app',
  disabled: false,
  limit: 25,
  limit_remaining: 25,
  limit_reset: 'monthly',
  include_byok_in_limit: false,
  ...NOTHING_USED,
  created_at: '2026-11-17T05:17:05.304Z',
  updated_at: null,
  expires_at: null,
  creator_user_id: null,
  external_user: null,
  workspace_id: WORKSPACE_ID,
  managed_by: null,
} satisfies KeyObject;

/** Keys of an account, and the key of a request. */
export const KEY_EXAMPLES = {
  getCurrentKey: {
    answer: {
      data: {
        label: KEY.label,
        hash: KEY.hash,
        limit: KEY.limit,
        limit_remaining: 24.999664,
        limit_reset: 'monthly',
        include_byok_in_limit: false,
        ...NOTHING_USED,
        usage: 0.000336,
        usage_daily: 0.000336,
        usage_weekly: 0.000336,
        usage_monthly: 0.000336,
        is_free_tier: false,
        is_management_key: false,
        is_provisioning_key: false,
        creator_user_id: null,
        expires_at: null,
        rate_limit: {
          requests: -1,
          interval: '10s',
          note: 'This field is deprecated and safe to ignore.',
        },
        allowed_data_regions: ['global'],
        free_model_daily_requests: {
          limit: Number.MAX_SAFE_INTEGER,
          used: 0,
          remaining: Number.MAX_SAFE_INTEGER,
        },
        organization_id: null,
        workspace_id: WORKSPACE_ID,
      } satisfies Static<typeof currentKeySchema>,
    },
  },
  createKey: {
    body: { name: 'Chat app', limit: 25, limit_reset: 'monthly' } satisfies CreateKey,
    answer: { data: KEY, key: 'sk-sb-v1-f8c0...6ef0' } satisfies Static<typeof issuedKeySchema>,
  },
  listKeys: {
    query: { include_last_used: 'true' },
    answer: { data: [{ ...KEY, last_used_at: '2026-11-17T14:59:12.000Z' } satisfies KeyObject] },
  },
  getKey: { params: { hash: KEY_HASH }, answer: { data: KEY } },
  updateKey: {
    params: { hash: KEY_HASH },
    body: { limit: 50 } satisfies UpdateKey,
    answer: {
      data: { ...KEY, limit: 50, limit_remaining: 50, updated_at: '2026-11-17T05:20:00.000Z' },
    },
  },
  deleteKey: { params: { hash: KEY_HASH }, answer: { deleted: true } satisfies Static<typeof deletedSchema> },
} as const satisfies Record<string, RouteExample>;
