import type { ByokObject, CreateByok, UpdateByok } from '../../../contract/workspaces/byok.ts';
import type { RouteExample } from '../../route.ts';
import { WORKSPACE_ID } from './ids.ts';

const CREDENTIAL = {
  id: '29270f21-faef-40a1-a5d3-41d96dfde030',
  name: 'Team key',
  provider: 'openai',
  label: 'sk-...cdef',
  created_at: '2026-11-17T05:17:05.423Z',
  disabled: false,
  is_fallback: false,
  is_required: false,
  is_byok_only: false,
  declared_zdr: null,
  sort_order: 0,
  workspace_id: WORKSPACE_ID,
  allowed_models: null,
  allowed_user_ids: null,
  allowed_api_key_hashes: null,
  managed_by: null,
} satisfies ByokObject;

const BY_ID = { id: CREDENTIAL.id };

/** Credentials that an account brings for providers. */
export const BYOK_EXAMPLES = {
  createByok: {
    body: { provider: 'openai', key: 'sk-proj-0123456789abcdef', name: 'Team key' } satisfies CreateByok,
    answer: { data: CREDENTIAL },
  },
  listByok: { answer: { data: [CREDENTIAL], total_count: 1 } },
  getByok: { params: BY_ID, answer: { data: CREDENTIAL } },
  updateByok: {
    params: BY_ID,
    body: { disabled: true } satisfies UpdateByok,
    answer: { data: { ...CREDENTIAL, disabled: true } },
  },
  deleteByok: { params: BY_ID, answer: { deleted: true } },
} as const satisfies Record<string, RouteExample>;
