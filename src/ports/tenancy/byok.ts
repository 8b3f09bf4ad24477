import type { FileMember } from './tenancy.ts';

/** A BYOK credential as it is stored: its secret only encrypted. */
export interface StoredByokCredential {
  readonly id: string;
  readonly accountId: string;
  /** Null = usable in every workspace of the account. */
  readonly workspaceId: string | null;
  readonly provider: string;
  readonly name: string | null;
  /** Masked secret. */
  readonly label: string;
  readonly encryptedSecret: string;
  /** Counts the secrets that it has had. */
  readonly version: number;
  /** Place among the credentials of its provider and account, ascending. */
  readonly sortOrder: number;
  readonly disabled: boolean;
  /** Tried only after the shared endpoints. */
  readonly isFallback: boolean;
  /** The provider's shared endpoints are not used for the models that it covers. */
  readonly isRequired: boolean;
  /** The provider's shared endpoints are not used at all. */
  readonly isByokOnly: boolean;
  /** Whether nothing is retained behind it, as its owner says; null = as the provider says. */
  readonly declaredZdr: boolean | null;
  /** Null = no restriction, as in the lists below. */
  readonly allowedModels: readonly string[] | null;
  readonly allowedUserIds: readonly string[] | null;
  readonly allowedApiKeyHashes: readonly string[] | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: FileMember;
}

/** Which credentials of an account are wanted. */
export interface ByokFilter {
  readonly accountId: string;
  /** Those of this workspace, and those for every workspace; null = all of the account. */
  readonly workspaceId: string | null;
  readonly provider?: string;
}

export type ByokChange = Partial<
  Pick<
    StoredByokCredential,
    | 'name'
    | 'label'
    | 'encryptedSecret'
    | 'version'
    | 'disabled'
    | 'isFallback'
    | 'isRequired'
    | 'isByokOnly'
    | 'declaredZdr'
    | 'allowedModels'
    | 'allowedUserIds'
    | 'allowedApiKeyHashes'
    | 'fileMember'
  >
>;

/** Storage of credentials. No method sees deleted ones. */
export interface ByokStore extends SecretStore {
  /**
   * Stores a credential after all others of its provider and account, also under the id of a deleted one; does nothing
   * if the id exists. Resolves with what is stored.
   */
  insert(credential: Omit<StoredByokCredential, 'sortOrder'>): Promise<StoredByokCredential>;
  /** Credentials by provider, then place; `total` counts all that match. */
  list(
    filter: ByokFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly credentials: StoredByokCredential[]; readonly total: number }>;
  /** All of an account, by provider, then place. */
  listAll(accountId: string): Promise<StoredByokCredential[]>;
  find(accountId: string, id: string): Promise<StoredByokCredential | undefined>;
  /**
   * Applies the change that `decide` returns for the current credential, in one transaction. Undefined when there is
   * none. If `decide` throws, nothing changes.
   */
  update(
    accountId: string,
    id: string,
    decide: (current: StoredByokCredential) => ByokChange,
    atMs: number,
  ): Promise<StoredByokCredential | undefined>;
  /** Deletes a credential and wipes its secret from the database. False when there is none. */
  delete(accountId: string, id: string, atMs: number): Promise<boolean>;
}

/** A table with encrypted secrets. */
export interface SecretStore {
  /** Ids of the keys under which secrets are encrypted, each once. */
  encryptionKeyIds(): Promise<string[]>;
  /** At most `limit` secrets that are not under this key. */
  listEncryptedOtherwise(encryptionKeyId: string, limit: number): Promise<EncryptedSecret[]>;
  /** Replaces secrets that are still what they were; all or none of them. */
  reencrypt(replacements: readonly SecretReplacement[]): Promise<void>;
  /** Removes wiped and replaced secrets from every file of the database, its write-ahead log included. */
  purgeWipedSecrets(): Promise<void>;
}

/** A stored secret, with what it is bound to. */
export type EncryptedSecret = Pick<StoredByokCredential, 'id' | 'accountId' | 'provider' | 'encryptedSecret'>;

export interface SecretReplacement {
  readonly id: string;
  readonly was: string;
  readonly becomes: string;
}
