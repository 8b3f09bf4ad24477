import type { StoredByokCredential } from '../../../src/ports/tenancy/byok.ts';

/** A credential without restrictions that has no place among its siblings yet. */
export function newCredentialOf(
  more: Partial<Omit<StoredByokCredential, 'sortOrder'>> = {},
): Omit<StoredByokCredential, 'sortOrder'> {
  return {
    id: 'credential',
    accountId: 'account',
    workspaceId: null,
    provider: 'acme',
    name: null,
    label: 'sk-...abcd',
    encryptedSecret: 'encrypted',
    version: 1,
    disabled: false,
    isFallback: false,
    isRequired: false,
    isByokOnly: false,
    declaredZdr: null,
    allowedModels: null,
    allowedUserIds: null,
    allowedApiKeyHashes: null,
    createdAtMs: 1,
    updatedAtMs: null,
    fileMember: null,
    ...more,
  };
}
