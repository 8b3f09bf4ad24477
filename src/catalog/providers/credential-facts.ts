import type { Credential } from './credential.ts';

export interface NamedAddress {
  readonly member: string;
  readonly url: string;
}

/** The addresses that the author of a credential chose freely, which must be checked before use. */
export function addressesNamedBy(credential: Credential): NamedAddress[] {
  switch (credential.kind) {
    case 'azure':
      return credential.deployments.map(({ baseUrl }) => ({ member: 'endpoint_url', url: baseUrl }));
    case 'google-service-account':
      return [{ member: 'token_uri', url: credential.tokenUri }];
    case 'key':
    case 'aws-key':
    case 'aws-access-key':
      return [];
  }
}

/** The secret whose first and last characters are a credential's label; undefined if there is none. */
export function labelledSecretOf(credential: Credential): string | undefined {
  switch (credential.kind) {
    case 'key':
    case 'aws-key':
      return credential.key;
    case 'azure':
      return (credential.resources[0] ?? credential.deployments[0])?.key;
    case 'aws-access-key':
      return credential.secretAccessKey;
    case 'google-service-account':
      return credential.privateKeyId;
  }
}
