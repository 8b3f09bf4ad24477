import type { CreateMember, MembersQuery, UpdateMember } from '../../contract/members/member.ts';
import type { AddWorkspaceMembers, WorkspaceMembersQuery } from '../../contract/members/workspace-member.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { IdSource } from '../../kit/ids.ts';
import type {
  Member,
  MemberEdit,
  MemberStore,
  OtherMembers,
  WorkspaceMember,
  WorkspaceRole,
} from '../../ports/tenancy/members.ts';
import { notFound, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

export interface MembersDependencies {
  readonly store: MemberStore;
  readonly workspaces: Pick<Workspaces, 'get'>;
  readonly ids: IdSource;
  readonly sources: Pick<Sources, 'clock'>;
  /** Called with the id of every member that was changed or removed. */
  readonly changed: (id: string) => void;
}

const DEFAULT_PAGE = 50;

const ID_CHARACTERS = 24;

/** The people of accounts. Each operation sees one account; a member of another is a 404. */
export class Members {
  readonly #dependencies: MembersDependencies;

  constructor(dependencies: MembersDependencies) {
    this.#dependencies = dependencies;
  }

  async create(accountId: string, wanted: CreateMember): Promise<Member> {
    const { store, ids, sources } = this.#dependencies;
    const member: Member = {
      id: `user_${ids.token(ID_CHARACTERS)}`,
      accountId,
      email: wanted.email.toLowerCase(),
      firstName: wanted.first_name ?? null,
      lastName: wanted.last_name ?? null,
      role: wanted.role ?? 'org:member',
      state: 'active',
      createdAtMs: sources.clock.now(),
      updatedAtMs: null,
      fileMember: null,
    };
    if (!(await store.insert(member))) throw emailTaken(member.email);
    return member;
  }

  /** Oldest first. */
  list(accountId: string, { offset, limit, search, state }: MembersQuery) {
    return this.#dependencies.store.list(
      { accountId, search: search ?? null, state: state ?? null },
      { offset: offset ?? 0, limit: limit ?? DEFAULT_PAGE },
    );
  }

  async get(accountId: string, id: string): Promise<Member> {
    return requireFound(await this.#dependencies.store.find(accountId, id));
  }

  /** The member with this id or address. */
  async getNamed(accountId: string, idOrEmail: string): Promise<Member> {
    const { store } = this.#dependencies;
    const found =
      (await store.find(accountId, idOrEmail)) ??
      (await store.findByEmail(accountId, idOrEmail.toLowerCase()));
    if (found !== undefined) return found;
    throw new GatewayError('not-found', `there is no member ${idOrEmail}; signalbox members list shows all`);
  }

  update(accountId: string, id: string, wanted: UpdateMember): Promise<Member> {
    return this.#change(accountId, id, editOf(wanted));
  }

  /** Keys and sessions of a member who was removed open nothing any more; what they did stays in their name. */
  remove(accountId: string, id: string): Promise<Member> {
    return this.#change(accountId, id, { state: 'removed' });
  }

  /** The members of a workspace, with their roles in it. All of the account are members of the default workspace. */
  async listOfWorkspace(accountId: string, idOrSlug: string, query: WorkspaceMembersQuery) {
    const { store, workspaces } = this.#dependencies;
    const { id: workspaceId, isDefault } = await workspaces.get(accountId, idOrSlug);
    const page = { offset: query.offset ?? 0, limit: query.limit ?? DEFAULT_PAGE };
    if (!isDefault) return store.listWorkspaceMembers(workspaceId, page);
    const { members, total } = await store.list({ accountId, search: null, state: null }, page);
    return { members: await this.#inDefaultWorkspace(workspaceId, members), total };
  }

  async addToWorkspace(accountId: string, idOrSlug: string, wanted: AddWorkspaceMembers) {
    const { store, workspaces, sources } = this.#dependencies;
    const { id: workspaceId } = await workspaces.get(accountId, idOrSlug);
    const userIds = [...new Set(wanted.user_ids)];
    const known = await store.known(accountId, userIds);
    const issues = wanted.user_ids.flatMap((id, index) =>
      known.has(id)
        ? []
        : [{ path: `user_ids[${index}]`, message: 'is not the id of a member of the account' }],
    );
    if (issues.length > 0) throw invalidRequest(issues);
    const role = wanted.role ?? 'member';
    const createdAtMs = sources.clock.now();
    const members = userIds.map((userId): WorkspaceMember => ({ workspaceId, userId, role, createdAtMs }));
    const added = await store.setWorkspaceRoles(members);
    for (const id of userIds) this.#dependencies.changed(id);
    return { added, members };
  }

  /** Returns how many were removed. */
  async removeFromWorkspace(
    accountId: string,
    idOrSlug: string,
    userIds: readonly string[],
  ): Promise<number> {
    const { store, workspaces } = this.#dependencies;
    const { id: workspaceId, isDefault } = await workspaces.get(accountId, idOrSlug);
    if (isDefault) {
      throw new GatewayError(
        'invalid-request',
        'All members of the account are members of its default workspace: remove or disable the member itself',
      );
    }
    const removed = await store.removeWorkspaceRoles(workspaceId, userIds);
    for (const id of userIds) this.#dependencies.changed(id);
    return removed;
  }

  async #inDefaultWorkspace(workspaceId: string, members: readonly Member[]): Promise<WorkspaceMember[]> {
    const ids = members.map(({ id }) => id);
    const given = await this.#dependencies.store.workspaceRolesOf(workspaceId, ids);
    return members.map(({ id: userId, role, createdAtMs }) => ({
      workspaceId,
      userId,
      role: given.get(userId) ?? DEFAULT_WORKSPACE_ROLES[role],
      createdAtMs,
    }));
  }

  async #change(accountId: string, id: string, edit: MemberEdit): Promise<Member> {
    const { store, sources, changed } = this.#dependencies;
    const change = await store.update(
      accountId,
      id,
      (current, others) => {
        refuseDeclared('member', current.fileMember);
        requireOwner(current, edit, others);
        return edit;
      },
      sources.clock.now(),
    );
    if (change.kind !== 'changed') {
      throw change.kind === 'missing' ? notFound() : emailTaken(edit.email ?? '');
    }
    changed(id);
    return change.member;
  }
}

/** The role in the default workspace of who was given none there. */
const DEFAULT_WORKSPACE_ROLES: Readonly<Record<Member['role'], WorkspaceRole>> = {
  'org:owner': 'admin',
  'org:admin': 'admin',
  'org:billing': 'viewer',
  'org:auditor': 'viewer',
  'org:member': 'member',
};

/** An account that has an owner keeps one. */
function requireOwner(current: Member, edit: MemberEdit, { owners }: OtherMembers): void {
  const isOwner = ({ role, state }: Pick<Member, 'role' | 'state'>) =>
    role === 'org:owner' && state === 'active';
  if (owners > 0 || !isOwner(current) || isOwner({ ...current, ...edit })) return;
  throw new GatewayError(
    'conflict',
    `${current.email} is the last active owner of the account: make another member its owner first`,
  );
}

function editOf({
  email,
  first_name: firstName,
  last_name: lastName,
  role,
  disabled,
}: UpdateMember): MemberEdit {
  return {
    ...(email !== undefined && { email: email.toLowerCase() }),
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(role !== undefined && { role }),
    ...(disabled !== undefined && { state: disabled ? ('disabled' as const) : ('active' as const) }),
  };
}

function emailTaken(email: string): GatewayError {
  return new GatewayError('conflict', `email: the account has a member with the address ${email} already`);
}
