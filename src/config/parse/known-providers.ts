import type { Issue } from '../../kit/json/validate.ts';
import type { Config } from '../schema/schema.ts';
import type { Environment } from './environment.ts';

/** A provider of the file, with defaults. */
export type ProviderConfig = Config['providers'][number];

/** The members that the built-in table is compared with. */
export type ProviderMembers = Pick<ProviderConfig, 'slug' | 'dialect' | 'base_url' | 'api_key' | 'takes'>;

/** Environment variables that are the credential of a provider. Never holds a value. */
export interface EnvironmentKey {
  readonly slug: string;
  readonly variables: readonly string[];
  /** True if the file does not list the provider: the variable adds it. */
  readonly switchesOn: boolean;
}

/** The providers of the file with the credentials and providers of the environment. */
export interface CompletedProviders {
  readonly providers: readonly ProviderConfig[];
  readonly keys: readonly EnvironmentKey[];
  /** Invalid variables of a provider that the file lists. */
  readonly problems: readonly Issue[];
  /** Invalid variables of a provider that the file does not list. */
  readonly warnings: readonly Issue[];
}

/** The built-in table of providers as the parser sees it. */
export interface KnownProviders {
  /** True if dialect and address are known, so that the slug is enough. */
  has(slug: string): boolean;
  /** All slugs of the table. */
  readonly slugs: readonly string[];
  /** Problems of a listed provider; paths are relative to it. */
  issuesOf(provider: ProviderMembers): Issue[];
  /** Adds the credentials of the environment, and the providers that such a credential switches on. */
  complete(providers: readonly ProviderConfig[], environment: Environment): CompletedProviders;
}
