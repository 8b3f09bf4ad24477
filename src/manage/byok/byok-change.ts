import type { UpdateByok } from '../../contract/workspaces/byok.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { ByokChange } from '../../ports/tenancy/byok.ts';
import { MCP_PROVIDER_PREFIX } from '../../ports/tenancy/byok-credentials.ts';

export const BYOK_DEFAULTS = {
  name: null,
  disabled: false,
  isFallback: false,
  isRequired: false,
  isByokOnly: false,
  declaredZdr: null,
  allowedModels: null,
  allowedUserIds: null,
  allowedApiKeyHashes: null,
} as const satisfies ByokChange;

/** Request member -> stored name. */
const STORED_NAMES = {
  name: 'name',
  disabled: 'disabled',
  is_fallback: 'isFallback',
  is_required: 'isRequired',
  is_byok_only: 'isByokOnly',
  declared_zdr: 'declaredZdr',
  allowed_models: 'allowedModels',
  allowed_user_ids: 'allowedUserIds',
  allowed_api_key_hashes: 'allowedApiKeyHashes',
} as const satisfies Partial<Record<keyof UpdateByok, keyof ByokChange>>;

export function byokChangeOf(wanted: Omit<UpdateByok, 'key'>): ByokChange {
  return Object.fromEntries(
    Object.entries(STORED_NAMES)
      .map(([member, stored]) => [stored, wanted[member as keyof typeof STORED_NAMES]])
      .filter(([, value]) => value !== undefined),
  );
}

/** Settings that mean something only for providers of models. */
const FOR_MODELS = [
  'is_fallback',
  'is_required',
  'is_byok_only',
  'declared_zdr',
  'allowed_models',
] as const satisfies (keyof UpdateByok)[];

/** Problems of settings that a token for an MCP server cannot have. */
export function mcpTokenIssues(provider: string, wanted: Omit<UpdateByok, 'key'>): Issue[] {
  if (!provider.startsWith(MCP_PROVIDER_PREFIX)) return [];
  return FOR_MODELS.filter((name) => wanted[name]).map((path) => ({
    path,
    message: 'means nothing for an MCP server',
  }));
}

/** Problems of settings that exclude each other. */
export function combinationIssues({ isFallback, isByokOnly }: ByokChange): Issue[] {
  if (!isFallback || !isByokOnly) return [];
  return [{ path: 'is_byok_only', message: 'cannot be combined with is_fallback' }];
}
