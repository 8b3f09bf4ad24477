import { type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type {
  AccountRole,
  Member,
  MemberChange,
  MemberEdit,
  MemberFilter,
  MemberStore,
  OtherMembers,
  WorkspaceMember,
  WorkspaceRole,
} from '../../../ports/tenancy/members.ts';
import type { MemberState, Page } from '../../../ports/tenancy/tenancy.ts';
import { type MemberRow, numberOrNull, type Tables, type WorkspaceMemberRow } from '../tables.ts';
import { transact } from '../transact.ts';

/** People of accounts in a database of either engine. */
export class SqlMemberStore implements MemberStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  insert(member: Member): Promise<boolean> {
    return transact(this.#database, async (transaction) => {
      if (await isEmailTaken(transaction, member)) return false;
      await transaction.insertInto('members').values(rowOf(member)).execute();
      return true;
    });
  }

  async find(accountId: string, id: string): Promise<Member | undefined> {
    const row = await present(this.#database, accountId).where('id', '=', id).executeTakeFirst();
    return row && memberOf(row);
  }

  async findByEmail(accountId: string, email: string): Promise<Member | undefined> {
    const row = await present(this.#database, accountId).where('email', '=', email).executeTakeFirst();
    return row && memberOf(row);
  }

  async list(filter: MemberFilter, { offset, limit }: Page) {
    const { total } = await matching(this.#database, filter)
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await matching(this.#database, filter)
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { members: rows.map(memberOf), total: Number(total) };
  }

  update(
    accountId: string,
    id: string,
    decide: (current: Member, others: OtherMembers) => MemberEdit,
    atMs: number,
  ): Promise<MemberChange> {
    return transact(this.#database, async (transaction): Promise<MemberChange> => {
      const row = await present(transaction, accountId).where('id', '=', id).executeTakeFirst();
      if (row === undefined) return { kind: 'missing' };
      const current = memberOf(row);
      const edit = decide(current, { owners: await ownersBeside(transaction, current) });
      const member: Member = { ...current, ...edit, updatedAtMs: atMs };
      if (await isEmailTaken(transaction, member)) return { kind: 'email-taken' };
      await transaction.updateTable('members').set(rowOf(member)).where('id', '=', id).execute();
      if (member.state === 'removed') {
        await transaction.deleteFrom('workspace_members').where('user_id', '=', id).execute();
      }
      return { kind: 'changed', member };
    });
  }

  async known(accountId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await present(this.#database, accountId).where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }

  async stateOf(accountId: string, id: string): Promise<MemberState | undefined> {
    const row = await this.#database
      .selectFrom('members')
      .select('state')
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.state as MemberState | undefined;
  }

  async listWorkspaceMembers(workspaceId: string, { offset, limit }: Page) {
    const { total } = await this.#database
      .selectFrom('workspace_members')
      .where('workspace_id', '=', workspaceId)
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await this.#database
      .selectFrom('workspace_members')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .orderBy('created_at_ms')
      .orderBy('user_id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { members: rows.map(workspaceMemberOf), total: Number(total) };
  }

  async workspaceRolesOf(
    workspaceId: string,
    userIds: readonly string[],
  ): Promise<ReadonlyMap<string, WorkspaceRole>> {
    if (userIds.length === 0) return new Map();
    const rows = await this.#database
      .selectFrom('workspace_members')
      .select(['user_id', 'role'])
      .where('workspace_id', '=', workspaceId)
      .where('user_id', 'in', userIds)
      .execute();
    return new Map(rows.map(({ user_id, role }) => [user_id, role as WorkspaceRole]));
  }

  setWorkspaceRoles(members: readonly WorkspaceMember[]): Promise<number> {
    return transact(this.#database, async (transaction) => {
      let added = 0;
      for (const member of members) {
        const { numUpdatedRows } = await transaction
          .updateTable('workspace_members')
          .set({ role: member.role })
          .where('workspace_id', '=', member.workspaceId)
          .where('user_id', '=', member.userId)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 1n) continue;
        await transaction.insertInto('workspace_members').values(workspaceMemberRow(member)).execute();
        added++;
      }
      return added;
    });
  }

  async removeWorkspaceRoles(workspaceId: string, userIds: readonly string[]): Promise<number> {
    if (userIds.length === 0) return 0;
    const { numDeletedRows } = await this.#database
      .deleteFrom('workspace_members')
      .where('workspace_id', '=', workspaceId)
      .where('user_id', 'in', userIds)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}

type Runner = Kysely<Tables> | Transaction<Tables>;

/** Members of an account that were not removed. */
function present(runner: Runner, accountId: string) {
  return runner
    .selectFrom('members')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('state', '<>', 'removed');
}

function matching(runner: Runner, { accountId, state, search }: MemberFilter) {
  return runner
    .selectFrom('members')
    .where('account_id', '=', accountId)
    .where('state', '<>', 'removed')
    .$if(state !== null, (query) => query.where('state', '=', state))
    .$if(search !== null, (query) => query.where(isFound(search ?? '')));
}

/** Both engines lower A to Z. */
function isFound(text: string) {
  const anywhere = sql`lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`})`;
  return sql<SqlBool>`(
    email like ${anywhere} escape '\\'
    or lower(coalesce(first_name, '') || ' ' || coalesce(last_name, '')) like ${anywhere} escape '\\'
  )`;
}

async function isEmailTaken(runner: Runner, { id, accountId, email, state }: Member): Promise<boolean> {
  if (state === 'removed') return false;
  const namesake = await present(runner, accountId)
    .where('email', '=', email)
    .where('id', '<>', id)
    .executeTakeFirst();
  return namesake !== undefined;
}

async function ownersBeside(runner: Runner, { id, accountId }: Member): Promise<number> {
  const { owners } = await runner
    .selectFrom('members')
    .where('account_id', '=', accountId)
    .where('state', '=', 'active')
    .where('role', '=', 'org:owner')
    .where('id', '<>', id)
    .select((select) => select.fn.countAll().as('owners'))
    .executeTakeFirstOrThrow();
  return Number(owners);
}

function rowOf(member: Member): MemberRow {
  return {
    id: member.id,
    account_id: member.accountId,
    email: member.email,
    first_name: member.firstName,
    last_name: member.lastName,
    role: member.role,
    state: member.state,
    created_at_ms: member.createdAtMs,
    updated_at_ms: member.updatedAtMs,
    file_member: member.fileMember,
  };
}

function memberOf(row: MemberRow): Member {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role as AccountRole,
    state: row.state as MemberState,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
    fileMember: row.file_member,
  };
}

function workspaceMemberRow(member: WorkspaceMember): WorkspaceMemberRow {
  return {
    workspace_id: member.workspaceId,
    user_id: member.userId,
    role: member.role,
    created_at_ms: member.createdAtMs,
  };
}

function workspaceMemberOf(row: WorkspaceMemberRow): WorkspaceMember {
  return {
    workspaceId: row.workspace_id,
    userId: row.user_id,
    role: row.role as WorkspaceRole,
    createdAtMs: Number(row.created_at_ms),
  };
}
