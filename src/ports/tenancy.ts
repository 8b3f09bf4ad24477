/** Who owns things: an installation holds accounts, an account owns workspaces and keys. */

export interface Account {
  /** UUID. */
  readonly id: string;
  /** Unique in the installation. */
  readonly name: string;
  readonly createdAtMs: number;
}

export interface Workspace {
  /** UUID. */
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly createdAtMs: number;
}

/** An API key. The secret itself is never stored: only its SHA-256. */
export interface Key {
  /** SHA-256 of the secret, lower-case hex; also the key's public id. */
  readonly hash: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly name: string;
  /** Masked secret: first 3 characters, `...`, last 4. */
  readonly label: string;
  /** Management keys act on the account; plain keys generate. */
  readonly isManagement: boolean;
  readonly disabled: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly creatorUserId: string | null;
}

/** Storage of accounts, workspaces and keys. */
export interface Tenancy {
  /** Makes an account with its default workspace, both or neither. False when the name is taken. */
  createAccount(account: Account, defaultWorkspace: Workspace): Promise<boolean>;
  /** Oldest first. */
  listAccounts(): Promise<Account[]>;
  findAccount(name: string): Promise<Account | undefined>;
  defaultWorkspaceOf(accountId: string): Promise<Workspace | undefined>;
  findWorkspace(accountId: string, slug: string): Promise<Workspace | undefined>;
  findWorkspaceById(accountId: string, id: string): Promise<Workspace | undefined>;
  /** Stores a key; a key with that hash already there stays as it is. True when it was stored. */
  insertKey(key: Key): Promise<boolean>;
  findKey(hash: string): Promise<Key | undefined>;
  /** At most `limit` keys whose hash begins with `prefix`, which is lower-case hex. */
  findKeysByHashPrefix(prefix: string, limit: number): Promise<Key[]>;
  /** Newest first, management keys included. */
  listKeys(accountId?: string): Promise<Key[]>;
  /** Deletes a key for good. False when there is none. */
  deleteKey(hash: string): Promise<boolean>;
  /** Remembers that the installation has been started. True the first time only. */
  recordFirstStart(atMs: number): Promise<boolean>;
}
