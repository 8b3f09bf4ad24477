import type { Kysely } from 'kysely';
import type { Account, Key, Tenancy, Workspace } from '../../ports/tenancy.ts';
import type { AccountRow, KeyRow, Tables, WorkspaceRow } from './tables.ts';
import { numberOrNull } from './whole-number.ts';

/** Accounts, workspaces and keys in the embedded database. The statements are those of PostgreSQL as well. */
export class SqlTenancy implements Tenancy {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  createAccount(account: Account, defaultWorkspace: Workspace): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('accounts')
        .values(accountRow(account))
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows !== 1n) return false;
      await transaction.insertInto('workspaces').values(workspaceRow(defaultWorkspace)).execute();
      return true;
    });
  }

  async listAccounts(): Promise<Account[]> {
    const rows = await this.#database
      .selectFrom('accounts')
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    return rows.map(accountOf);
  }

  async findAccount(name: string): Promise<Account | undefined> {
    const row = await this.#database
      .selectFrom('accounts')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst();
    return row && accountOf(row);
  }

  async defaultWorkspaceOf(accountId: string): Promise<Workspace | undefined> {
    const row = await this.#database
      .selectFrom('workspaces')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('is_default', '=', 1)
      .executeTakeFirst();
    return row && workspaceOf(row);
  }

  async findWorkspace(accountId: string, slug: string): Promise<Workspace | undefined> {
    const row = await this.#database
      .selectFrom('workspaces')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('slug', '=', slug)
      .executeTakeFirst();
    return row && workspaceOf(row);
  }

  async findWorkspaceById(accountId: string, id: string): Promise<Workspace | undefined> {
    const row = await this.#database
      .selectFrom('workspaces')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirst();
    return row && workspaceOf(row);
  }

  async insertKey(key: Key): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto('keys')
      .values(keyRow(key))
      .onConflict((conflict) => conflict.column('hash').doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  async findKey(hash: string): Promise<Key | undefined> {
    const row = await this.#database
      .selectFrom('keys')
      .selectAll()
      .where('hash', '=', hash)
      .executeTakeFirst();
    return row && keyOf(row);
  }

  async findKeysByHashPrefix(prefix: string, limit: number): Promise<Key[]> {
    const rows = await this.#database
      .selectFrom('keys')
      .selectAll()
      .where('hash', '>=', prefix)
      // `g` is the first letter that no hash has.
      .where('hash', '<', `${prefix}g`)
      .orderBy('hash')
      .limit(limit)
      .execute();
    return rows.map(keyOf);
  }

  async listKeys(accountId?: string): Promise<Key[]> {
    const rows = await this.#database
      .selectFrom('keys')
      .selectAll()
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId as string))
      .orderBy('created_at_ms', 'desc')
      .orderBy('hash')
      .execute();
    return rows.map(keyOf);
  }

  async deleteKey(hash: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('keys')
      .where('hash', '=', hash)
      .executeTakeFirstOrThrow();
    return numDeletedRows === 1n;
  }

  async recordFirstStart(atMs: number): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto('installation')
      .values({ name: 'first_start_at_ms', value: String(atMs) })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }
}

function accountRow({ id, name, createdAtMs }: Account): AccountRow {
  return { id, name, created_at_ms: createdAtMs };
}

function accountOf(row: AccountRow): Account {
  return { id: row.id, name: row.name, createdAtMs: Number(row.created_at_ms) };
}

function workspaceRow(workspace: Workspace): WorkspaceRow {
  return {
    id: workspace.id,
    account_id: workspace.accountId,
    slug: workspace.slug,
    name: workspace.name,
    is_default: workspace.isDefault ? 1 : 0,
    created_at_ms: workspace.createdAtMs,
  };
}

function workspaceOf(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    accountId: row.account_id,
    slug: row.slug,
    name: row.name,
    isDefault: Number(row.is_default) === 1,
    createdAtMs: Number(row.created_at_ms),
  };
}

function keyRow(key: Key): KeyRow {
  return {
    hash: key.hash,
    account_id: key.accountId,
    workspace_id: key.workspaceId,
    name: key.name,
    label: key.label,
    is_management: key.isManagement ? 1 : 0,
    disabled: key.disabled ? 1 : 0,
    created_at_ms: key.createdAtMs,
    updated_at_ms: key.updatedAtMs,
    expires_at_ms: key.expiresAtMs,
    creator_user_id: key.creatorUserId,
  };
}

function keyOf(row: KeyRow): Key {
  return {
    hash: row.hash,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    name: row.name,
    label: row.label,
    isManagement: Number(row.is_management) === 1,
    disabled: Number(row.disabled) === 1,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
    expiresAtMs: numberOrNull(row.expires_at_ms),
    creatorUserId: row.creator_user_id,
  };
}
