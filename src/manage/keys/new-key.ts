import { maskedLabel } from '../../kit/text/masked-label.ts';
import type { Key } from '../../ports/tenancy/tenancy.ts';
import { hashSecret } from './hash-secret.ts';

/** A new key with its secret, which is stored nowhere. */
export interface IssuedKey {
  readonly key: Key;
  readonly secret: string;
}

const DEFAULTS = {
  isManagement: false,
  disabled: false,
  updatedAtMs: null,
  expiresAtMs: null,
  creatorUserId: null,
  externalUser: null,
  limitNanos: null,
  limitReset: null,
  includeByokInLimit: false,
  allowedModels: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  fileMember: null,
} as const satisfies Partial<Key>;

type Given = Pick<Key, 'accountId' | 'workspaceId' | 'name' | 'createdAtMs'> & Partial<Key>;

/** A new key with this secret; members that are not given have their defaults. */
export function newKey(secret: string, given: Given): Key {
  return newHashedKey({ ...given, hash: hashSecret(secret), label: maskedLabel(secret) });
}

/** A new key of which only the hash is known. */
export function newHashedKey(given: Given & Pick<Key, 'hash' | 'label'>): Key {
  return { ...DEFAULTS, ...given };
}
