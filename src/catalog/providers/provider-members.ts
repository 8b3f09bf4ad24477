/**
 * Authorization scheme, which decides the form of the credential. `google`: a key or a service account; `azure`: keys
 * of resources and deployments; `aws`: a Bedrock key, or an access key that signs requests.
 */
export type Auth = 'none' | 'bearer' | 'x-api-key' | 'google' | 'azure' | 'aws';

/** Public facts of a provider; absent = unknown. */
export interface ProviderFacts {
  readonly privacyPolicyUrl?: string;
  readonly termsOfServiceUrl?: string;
  readonly statusPageUrl?: string;
  /** Country, two letters. */
  readonly headquarters?: string;
}

export interface DataPolicy {
  /** It may train models on them. */
  readonly training: boolean;
  /** It keeps them for a time. */
  readonly retainsPrompts: boolean;
}
