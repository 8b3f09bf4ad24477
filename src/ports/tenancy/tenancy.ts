/** Ownership: an installation has accounts, an account owns workspaces and keys. */

import type { Nanos } from '../../kit/money.ts';
import type { LimitWindow, ResetWindow } from '../../kit/time/windows.ts';

export interface Account {
  readonly id: string;
  /** Unique in the installation. */
  readonly name: string;
  readonly createdAtMs: number;
}

export interface WorkspaceSettings {
  /** Unique in the account. */
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly defaultTextModel: string | null;
  readonly defaultImageModel: string | null;
  readonly defaultProviderSort: string | null;
  /** Prompts and outputs are stored. */
  readonly isObservabilityIoLoggingEnabled: boolean;
  /** Destinations of the workspace are sent its generations. */
  readonly isObservabilityBroadcastEnabled: boolean;
  readonly isDataDiscountLoggingEnabled: boolean;
  /** Share of the requests whose prompts and outputs are stored, above 0, at most 1. */
  readonly ioLoggingSamplingRate: number;
  /** Numbers of the keys whose prompts and outputs are stored; null = all. */
  readonly ioLoggingApiKeyIds: readonly number[] | null;
  /** Usage on BYOK credentials counts towards the budgets too. */
  readonly includeByokInBudgets: boolean;
}

/**
 * Place in the configuration file of what is declared there, such as `workspaces[0].keys[1]`; null = not declared, so
 * that the API and commands may change it.
 */
export type FileMember = string | null;

export interface Workspace extends WorkspaceSettings {
  readonly id: string;
  readonly accountId: string;
  readonly isDefault: boolean;
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: FileMember;
  /** Place of its budgets, and of whether BYOK usage counts towards them. */
  readonly budgetsFileMember: FileMember;
  /** Derived: something is told of its prompts and answers after they were given. Never stored with it. */
  readonly hasContentReaders: boolean;
}

export type WorkspaceEdit = Partial<WorkspaceSettings & Pick<Workspace, 'fileMember' | 'budgetsFileMember'>>;

/** The most that a workspace may spend in a window. It has at most one of each. */
export interface Budget {
  readonly id: string;
  readonly workspaceId: string;
  readonly window: LimitWindow;
  readonly limitNanos: Nanos;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A budget with what names it and what it counts. */
export interface NamedBudget extends Pick<Budget, 'workspaceId' | 'window' | 'limitNanos'> {
  readonly accountId: string;
  /** Slug of the workspace. */
  readonly slug: string;
  readonly includeByok: boolean;
}

export interface KeySettings {
  readonly name: string;
  readonly disabled: boolean;
  /** The most that it may spend; null = no limit of its own. */
  readonly limitNanos: Nanos | null;
  /** When the limit resets; null = never. */
  readonly limitReset: ResetWindow | null;
  /** Usage on BYOK credentials counts towards the limit too. */
  readonly includeByokInLimit: boolean;
  /** Ids, aliases or canonical slugs of the only models that it may use, at least one; null = all. */
  readonly allowedModels: readonly string[] | null;
  /** In place of `limits.per_key` of the configuration; null = as it says there. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Epoch milliseconds; null = never. */
  readonly expiresAtMs: number | null;
}

/** `disabled`: may come back. `removed`: kept only because keys and records still name it. */
export const MEMBER_STATES = ['active', 'disabled', 'removed'] as const;

export type MemberState = (typeof MEMBER_STATES)[number];

/** An API key. The secret itself is never stored: only its SHA-256. */
export interface Key extends KeySettings {
  /** SHA-256 of the secret, lower-case hex; also the key's public id. */
  readonly hash: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** Masked secret: first 3 characters, `...`, last 4. */
  readonly label: string;
  /** Management keys act on the account; plain keys generate. */
  readonly isManagement: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly creatorUserId: string | null;
  /** The user that the key was made for, as an external system names them. */
  readonly externalUser: string | null;
  readonly fileMember: FileMember;
  /** Derived: the state of the member that created it; absent = it is no member's. Never stored with it. */
  readonly ownerState?: MemberState;
}

/** Members of a key that may change; only the configuration file changes more than its settings. */
export type KeyEdit = Partial<
  KeySettings & Pick<Key, 'workspaceId' | 'label' | 'creatorUserId' | 'fileMember'>
>;

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Which plain keys are wanted. */
export interface KeyFilter {
  readonly accountId: string;
  /** Null = every workspace of the account. */
  readonly workspaceId: string | null;
  readonly includeDisabled: boolean;
  /**
   * In the name or the label, whatever the case of A to Z, or at the start of the hash; null = any key.
   */
  readonly search: string | null;
}

export type WorkspaceChange =
  | { readonly kind: 'changed'; readonly workspace: Workspace }
  | { readonly kind: 'missing' | 'slug-taken' };

/** Outcome of a deletion; `keyHashes` are the inactive keys that were deleted with the workspace. */
export type WorkspaceDeletion =
  | { readonly kind: 'deleted'; readonly keyHashes: readonly string[] }
  | { readonly kind: 'missing' | 'is-default' | 'has-active-keys' };

/** Storage of accounts, workspaces, budgets and keys. */
export interface Tenancy extends AccountStore, WorkspaceStore, BudgetStore, KeyStore {
  /** Records the first start of the installation. True the first time only. */
  recordFirstStart(atMs: number): Promise<boolean>;
  /** The workspaces and keys of an account that have a `fileMember` or, of a workspace, a `budgetsFileMember`. */
  listDeclared(
    accountId: string,
  ): Promise<{ readonly workspaces: readonly Workspace[]; readonly keys: readonly Key[] }>;
}

export interface AccountStore {
  /** Creates an account and its default workspace in one transaction. False when the name is taken. */
  createAccount(account: Account, defaultWorkspace: Workspace): Promise<boolean>;
  /** Oldest first. */
  listAccounts(): Promise<Account[]>;
  findAccount(name: string): Promise<Account | undefined>;
}

export interface WorkspaceStore {
  /** False when the account has a workspace with that slug. */
  createWorkspace(workspace: Workspace): Promise<boolean>;
  defaultWorkspaceOf(accountId: string): Promise<Workspace | undefined>;
  findWorkspace(accountId: string, slug: string): Promise<Workspace | undefined>;
  findWorkspaceById(accountId: string, id: string): Promise<Workspace | undefined>;
  /** Oldest first, and the default one before others of its millisecond; `total` counts all. */
  listWorkspaces(
    accountId: string,
    page: Page,
  ): Promise<{ readonly workspaces: Workspace[]; readonly total: number }>;
  updateWorkspace(
    accountId: string,
    id: string,
    change: WorkspaceEdit,
    atMs: number,
  ): Promise<WorkspaceChange>;
  /**
   * Deletes a workspace that is not the default one and has no plain key that is enabled and not expired. Its budgets,
   * credentials, guardrails, destinations and other plain keys go with it; management keys act on the account and move
   * to the default workspace.
   */
  deleteWorkspace(accountId: string, id: string, atMs: number): Promise<WorkspaceDeletion>;
}

export interface BudgetStore {
  /** Budgets of all accounts, oldest first; at most `limit`. */
  listAllBudgets(limit: number): Promise<NamedBudget[]>;
  /** The shortest window first. */
  listBudgets(workspaceId: string): Promise<Budget[]>;
  /** Budgets of several workspaces: the workspaces in any order, of each the shortest window first. */
  listBudgetsOf(workspaceIds: readonly string[]): Promise<Budget[]>;
  /**
   * Stores the budget that `decide` returns for the current ones, and whether BYOK usage counts, in one transaction.
   * Undefined when there is no such workspace. If `decide` throws, nothing changes.
   */
  setBudget(
    workspaceId: string,
    decide: (current: readonly Budget[]) => Budget,
    includeByok: boolean | undefined,
  ): Promise<Budget | undefined>;
  /** Replaces all budgets of a workspace, and whether BYOK usage counts, in one transaction. */
  replaceBudgets(workspaceId: string, budgets: readonly Budget[], includeByok: boolean): Promise<void>;
  /** Deletes a budget if there is one. */
  deleteBudget(workspaceId: string, window: LimitWindow): Promise<void>;
}

export interface KeyStore {
  /** Stores a key unless its hash is known. True when it was stored. */
  insertKey(key: Key): Promise<boolean>;
  findKey(hash: string): Promise<Key | undefined>;
  /** At most `limit` keys whose hash begins with `prefix`, which is lower-case hex. */
  findKeysByHashPrefix(prefix: string, limit: number): Promise<Key[]>;
  /** Newest first, management keys included. */
  listKeys(accountId?: string): Promise<Key[]>;
  /** Enabled API keys of all accounts that have a limit, oldest first; at most `limit`. */
  listLimitedKeys(limit: number): Promise<Key[]>;
  /** Newest first, without management keys. */
  listPlainKeys(filter: KeyFilter, page: Page): Promise<Key[]>;
  updateKey(hash: string, change: KeyEdit, atMs: number): Promise<Key | undefined>;
  /** Deletes a key for good, with its guardrail assignment. False when there is none. */
  deleteKey(hash: string): Promise<boolean>;
}
