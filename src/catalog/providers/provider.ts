/** Time-outs of calls to a provider, milliseconds. */
export interface Timeouts {
  readonly connect: number;
  readonly firstByte: number;
  readonly idle: number;
  readonly total: number;
}

/**
 * How calls to a provider are authorized, and so what its credential may look like. `google`: a key, or a service
 * account; `azure`: keys of resources and deployments; `aws`: a Bedrock key, or an access key that signs.
 */
export type Auth = 'none' | 'bearer' | 'x-api-key' | 'google' | 'azure' | 'aws';

/** What a provider says in public about itself; absent = not known here. */
export interface ProviderFacts {
  readonly privacyPolicyUrl?: string;
  readonly termsOfServiceUrl?: string;
  readonly statusPageUrl?: string;
  /** Country, two letters. */
  readonly headquarters?: string;
}

/** What becomes of prompts at a provider. */
export interface DataPolicy {
  /** It may train models on them. */
  readonly training: boolean;
  /** It keeps them for a time. */
  readonly retainsPrompts: boolean;
}
