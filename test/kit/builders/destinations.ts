import type { Destination } from '../../../src/ports/following/destinations.ts';

/** A destination that sends everything of a workspace, without secrets. */
export function destinationOf(more: Partial<Destination> = {}): Destination {
  return {
    id: 'destination',
    accountId: 'account',
    workspaceId: 'workspace',
    type: 'webhook',
    name: 'a destination',
    config: { url: 'https://hooks.example.com/traces' },
    encryptedSecrets: null,
    secretLabels: {},
    version: 1,
    isEnabled: true,
    privacyMode: false,
    samplingRate: 1,
    apiKeyHashes: null,
    filterRules: null,
    sendsCost: false,
    sendsIdentity: false,
    sendsRequestContext: false,
    createdAtMs: 1,
    updatedAtMs: null,
    fileMember: null,
    ...more,
  };
}
