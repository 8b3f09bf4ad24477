import type { Caller } from './caller.ts';

/** A credential that an account brought for a provider, as routing sees it. */
export interface OwnCredential {
  /** UUID. */
  readonly id: string;
  /** Slug of the provider. */
  readonly provider: string;
  /** Place among the credentials of its provider, ascending. */
  readonly sortOrder: number;
  /** Tried only after everything else. */
  readonly isFallback: boolean;
  /** Of the models that it covers, the provider's shared endpoints are not used. */
  readonly isRequired: boolean;
  /** The provider's shared endpoints are not used at all. */
  readonly isOwnOnly: boolean;
  /** Whether nothing is retained behind it, as its owner says; null = as the provider says. */
  readonly declaredZeroRetention: boolean | null;
  /** Ids of models that it is for; null = all. */
  readonly allowedModels: ReadonlySet<string> | null;
  /** Changes whenever the secret does. */
  readonly version: number;
  /** The secret in clear: a plain key or a JSON document, as its owner wrote it. */
  reveal(): string;
}

/** Finds what a caller may use besides the gateway's own credentials. */
export interface OwnCredentials {
  /** Those of the caller's account that are switched on and whose workspace, user and key filters fit, in order. */
  of(caller: Caller): readonly OwnCredential[] | Promise<readonly OwnCredential[]>;
}
