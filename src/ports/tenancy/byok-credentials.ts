import type { Caller } from './caller.ts';

/** A BYOK credential: one that an account brought for a provider, as routing sees it. */
export interface ByokCredential {
  readonly id: string;
  readonly provider: string;
  /** Place among the credentials of its provider, ascending. */
  readonly sortOrder: number;
  /** Tried only after everything else. */
  readonly isFallback: boolean;
  /** The provider's shared endpoints are not used for the models that it covers. */
  readonly isRequired: boolean;
  /** The provider's shared endpoints are not used at all. */
  readonly isByokOnly: boolean;
  /** Whether nothing is retained behind it, as its owner says; null = as the provider says. */
  readonly declaredZeroRetention: boolean | null;
  /** Ids of models that it is for; null = all. */
  readonly allowedModels: ReadonlySet<string> | null;
  /** Changes whenever the secret does. */
  readonly version: number;
  /** The secret in clear: a plain key or a JSON document, as its owner wrote it. */
  reveal(): string;
}

/** Prefix of the provider under which a token for an MCP server of the configuration is stored: `mcp:<label>`. */
export const MCP_PROVIDER_PREFIX = 'mcp:';

/** A token that an account brought for an MCP server: a plain one, or a JSON document with one to refresh it. */
export type McpToken = Pick<ByokCredential, 'id' | 'version' | 'reveal'> & { readonly accountId: string };

export interface McpTokens {
  /** The first for the server that the caller may use; undefined = there is none. `isReadAgain`: past the cache. */
  tokenFor(
    caller: Caller,
    label: string,
    options?: { readonly isReadAgain?: boolean },
  ): Promise<McpToken | undefined>;
  /** Stores a refreshed token in the place of one, unless that was changed meanwhile. */
  replace(token: McpToken, secret: string): Promise<void>;
}

export interface ByokCredentials {
  /**
   * Enabled credentials for model providers whose account, workspace, user and key filters match, in order. At once if
   * the account is known to have none.
   */
  of(caller: Caller): readonly ByokCredential[] | Promise<readonly ByokCredential[]>;
}
