import type { Credential } from './credential.ts';

/** An address that a credential names, and the member of its text that does. */
export interface NamedAddress {
  readonly member: string;
  readonly url: string;
}

/** The addresses that whoever wrote a credential chose freely. */
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

/** The one secret of a credential by whose ends people know it again; undefined when its text has none such. */
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
