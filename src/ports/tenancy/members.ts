import type { FileMember, MemberState, Page } from './tenancy.ts';

/** Roles in an account, from all rights to none of its own. */
export const ACCOUNT_ROLES = ['org:owner', 'org:admin', 'org:billing', 'org:auditor', 'org:member'] as const;

export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** Roles in a workspace, from all rights in it to reading alone. */
export const WORKSPACE_ROLES = ['admin', 'member', 'viewer'] as const;

export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number];

/** A person of an account. */
export interface Member {
  /** `user_` and 24 characters; never used again. Keys name it as their creator, which makes it their owner. */
  readonly id: string;
  readonly accountId: string;
  /** In lower case; unique among the members of the account that were not removed. */
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly role: AccountRole;
  readonly state: MemberState;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: FileMember;
}

export type MemberEdit = Partial<
  Pick<Member, 'email' | 'firstName' | 'lastName' | 'role' | 'state' | 'fileMember'>
>;

/** Which members are wanted; those that were removed never are. */
export interface MemberFilter {
  readonly accountId: string;
  /** Null = whatever their state. */
  readonly state: Exclude<MemberState, 'removed'> | null;
  /** In the address or a name, whatever the case of A to Z; null = anybody. */
  readonly search: string | null;
}

/** What an account has besides the member that changes. */
export interface OtherMembers {
  /** Active owners besides this one. */
  readonly owners: number;
}

export type MemberChange =
  | { readonly kind: 'changed'; readonly member: Member }
  | { readonly kind: 'missing' | 'email-taken' };

/** A member's role in a workspace. */
export interface WorkspaceMember {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: WorkspaceRole;
  readonly createdAtMs: number;
}

/** Stores the people of accounts. */
export interface MemberStore {
  /** False if the account has a member with that address. */
  insert(member: Member): Promise<boolean>;
  /** Undefined for one that was removed, too. */
  find(accountId: string, id: string): Promise<Member | undefined>;
  findByEmail(accountId: string, email: string): Promise<Member | undefined>;
  /** Oldest first; `total` counts all that match. */
  list(
    filter: MemberFilter,
    page: Page,
  ): Promise<{ readonly members: readonly Member[]; readonly total: number }>;
  /** If `decide` throws, nothing changes. One that is removed loses its workspaces. */
  update(
    accountId: string,
    id: string,
    decide: (current: Member, others: OtherMembers) => MemberEdit,
    atMs: number,
  ): Promise<MemberChange>;
  /** Which of these are members of the account. */
  known(accountId: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Whatever became of them; undefined = the account never had such a member. */
  stateOf(accountId: string, id: string): Promise<MemberState | undefined>;
  /** The roles that were given in a workspace, in the order in which they were; `total` counts all. */
  listWorkspaceMembers(
    workspaceId: string,
    page: Page,
  ): Promise<{ readonly members: readonly WorkspaceMember[]; readonly total: number }>;
  /** The roles that these were given in a workspace. */
  workspaceRolesOf(
    workspaceId: string,
    userIds: readonly string[],
  ): Promise<ReadonlyMap<string, WorkspaceRole>>;
  /** Gives a role to each; one who has another one gets this instead. Returns how many had none before. */
  setWorkspaceRoles(members: readonly WorkspaceMember[]): Promise<number>;
  /** Returns how many had a role. */
  removeWorkspaceRoles(workspaceId: string, userIds: readonly string[]): Promise<number>;
}
