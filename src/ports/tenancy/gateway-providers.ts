import type { EncryptedSecret, SecretStore } from './byok.ts';

/** Models that a stored provider can serve, in addition to those that the catalogue knows of it. */
export const MAX_PROVIDER_MODELS = 500;

/** A model that a stored provider serves, in addition to those that the catalogue knows of it. */
export interface StoredModel {
  /** The id that callers use. */
  readonly id: string;
  /** The provider's own name for it. */
  readonly model: string;
  readonly name: string | null;
  readonly contextLength: number | null;
  /** USD per token, exact decimals; "0" = free. */
  readonly promptPrice: string;
  readonly completionPrice: string;
}

/** A provider that the operator has added to the gateway: its key only encrypted. */
export interface StoredProvider {
  /** UUID: what the key is bound to. */
  readonly id: string;
  readonly slug: string;
  readonly name: string | null;
  /** Null = that of the built-in table. */
  readonly dialect: string | null;
  /** Null = that of the built-in table. */
  readonly baseUrl: string | null;
  readonly models: readonly StoredModel[];
  /** The workspaces whose requests it serves; null = all. */
  readonly workspaceIds: readonly string[] | null;
  /** Masked key; null = it has none. */
  readonly label: string | null;
  readonly encryptedKey: string | null;
  /** Counts the keys that it has had. */
  readonly version: number;
  /** It serves nothing. */
  readonly disabled: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
}

export type StoredProviderChange = Partial<
  Omit<StoredProvider, 'id' | 'slug' | 'createdAtMs' | 'updatedAtMs'>
>;

/** Storage of the providers that the operator has added. */
export interface GatewayProviderStore extends SecretStore {
  /** Stores a provider. False if its slug is taken: nothing is stored then. */
  insert(provider: StoredProvider): Promise<boolean>;
  /** By slug. A provider that is unchanged since the last time is the same object. */
  listAll(): Promise<StoredProvider[]>;
  find(slug: string): Promise<StoredProvider | undefined>;
  /** Undefined if there is none. If `decide` throws, nothing changes. */
  update(
    slug: string,
    decide: (current: StoredProvider) => StoredProviderChange,
    atMs: number,
  ): Promise<StoredProvider | undefined>;
  /** Deletes a provider with its key. False if there is none. */
  delete(slug: string): Promise<boolean>;
}

/** What stands in the place of an account where the keys of the gateway's own providers are encrypted. */
const OWNER = 'gateway';

/** What the key of a provider is bound to, as credentials are to their account and provider. */
export function keyOwnerOf({
  id,
  slug,
}: Pick<StoredProvider, 'id' | 'slug'>): Pick<EncryptedSecret, 'id' | 'accountId' | 'provider'> {
  return { id, accountId: OWNER, provider: slug };
}
