import { maskedLabel } from '../../kit/text/masked-label.ts';
import type { Key } from '../../ports/tenancy.ts';
import { hashSecret } from './hash-secret.ts';

/** A key that was just made, with the only copy of its secret that there will ever be. */
export interface IssuedKey {
  readonly key: Key;
  readonly secret: string;
}

/** What a key begins with where nothing else is said. */
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
} as const satisfies Partial<Key>;

/** What a new key must be given. */
type Given = Pick<Key, 'accountId' | 'workspaceId' | 'name' | 'createdAtMs'> & Partial<Key>;

/** A key with this secret that was never changed. */
export function newKey(secret: string, given: Given): Key {
  return { ...DEFAULTS, ...given, hash: hashSecret(secret), label: maskedLabel(secret) };
}
