import type { Issue } from '../../kit/json/validate.ts';
import type { Config } from '../schema/schema.ts';
import type { Environment } from './environment.ts';

/** A provider as the file lists it, defaults filled in. */
export type ProviderConfig = Config['providers'][number];

/** What a variable of the environment did: it is the credential of a provider. Never holds the value. */
export interface EnvironmentKey {
  readonly slug: string;
  readonly variables: readonly string[];
  /** The file does not list the provider: it is there because of the variable. */
  readonly switchesOn: boolean;
}

/** The providers of a file with what the environment adds to them. */
export interface CompletedProviders {
  readonly providers: readonly ProviderConfig[];
  readonly keys: readonly EnvironmentKey[];
  /** Variables that cannot be used and that a listed provider would take. */
  readonly problems: readonly Issue[];
  /** Variables that cannot be used and that the file does not ask for. */
  readonly warnings: readonly Issue[];
}

/** What the gateway knows about providers by itself: all that reading a configuration needs of its tables. */
export interface KnownProviders {
  /** Whether the name alone is enough: dialect and address are known. */
  has(slug: string): boolean;
  /** What a listed provider lacks or has wrong; paths are below the provider's own. */
  issuesOf(provider: ProviderConfig): Issue[];
  /** Puts in the credentials that the environment holds, and the providers that such a credential switches on. */
  complete(providers: readonly ProviderConfig[], environment: Environment): CompletedProviders;
}
