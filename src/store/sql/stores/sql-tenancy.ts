import { type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import { LIMIT_WINDOWS, type LimitWindow } from '../../../kit/time/windows.ts';
import type {
  Account,
  Budget,
  Key,
  KeyEdit,
  KeyFilter,
  NamedBudget,
  Page,
  Tenancy,
  Workspace,
  WorkspaceChange,
  WorkspaceDeletion,
  WorkspaceEdit,
} from '../../../ports/tenancy/tenancy.ts';
import type { Tables, WholeNumber } from '../tables.ts';
import { transact } from '../transact.ts';
import {
  accountOf,
  accountRow,
  budgetOf,
  budgetRow,
  keyOf,
  keyRow,
  workspaceOf,
  workspaceRow,
} from './tenancy-rows.ts';

export class SqlTenancy implements Tenancy {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  createAccount(account: Account, defaultWorkspace: Workspace): Promise<boolean> {
    return transact(this.#database, async (transaction) => {
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

  async createWorkspace(workspace: Workspace): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto('workspaces')
      .values(workspaceRow(workspace))
      .onConflict((conflict) => conflict.columns(['account_id', 'slug']).doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  async defaultWorkspaceOf(accountId: string): Promise<Workspace | undefined> {
    const row = await workspaces(this.#database)
      .where('account_id', '=', accountId)
      .where('is_default', '=', 1)
      .executeTakeFirst();
    return row && workspaceOf(row);
  }

  async findWorkspace(accountId: string, slug: string): Promise<Workspace | undefined> {
    const row = await workspaces(this.#database)
      .where('account_id', '=', accountId)
      .where('slug', '=', slug)
      .executeTakeFirst();
    return row && workspaceOf(row);
  }

  async findWorkspaceById(accountId: string, id: string): Promise<Workspace | undefined> {
    const row = await oneWorkspace(this.#database, accountId, id).executeTakeFirst();
    return row && workspaceOf(row);
  }

  async listWorkspaces(accountId: string, { offset, limit }: Page) {
    const { total } = await this.#database
      .selectFrom('workspaces')
      .where('account_id', '=', accountId)
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await workspaces(this.#database)
      .where('account_id', '=', accountId)
      .orderBy('created_at_ms')
      .orderBy('is_default', 'desc')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { workspaces: rows.map(workspaceOf), total: Number(total) };
  }

  updateWorkspace(
    accountId: string,
    id: string,
    change: WorkspaceEdit,
    atMs: number,
  ): Promise<WorkspaceChange> {
    return transact(this.#database, async (transaction): Promise<WorkspaceChange> => {
      const row = await oneWorkspace(transaction, accountId, id).executeTakeFirst();
      if (row === undefined) return { kind: 'missing' };
      const workspace: Workspace = { ...workspaceOf(row), ...change, updatedAtMs: atMs };
      const namesake = await transaction
        .selectFrom('workspaces')
        .select('id')
        .where('account_id', '=', accountId)
        .where('slug', '=', workspace.slug)
        .where('id', '!=', id)
        .executeTakeFirst();
      if (namesake !== undefined) return { kind: 'slug-taken' };
      await transaction.updateTable('workspaces').set(workspaceRow(workspace)).where('id', '=', id).execute();
      return { kind: 'changed', workspace };
    });
  }

  deleteWorkspace(accountId: string, id: string, atMs: number): Promise<WorkspaceDeletion> {
    return transact(this.#database, async (transaction): Promise<WorkspaceDeletion> => {
      const row = await oneWorkspace(transaction, accountId, id).executeTakeFirst();
      if (row === undefined) return { kind: 'missing' };
      if (workspaceOf(row).isDefault) return { kind: 'is-default' };
      const rows = await ownedKeys(transaction)
        .where('workspace_id', '=', id)
        .where('is_management', '=', 0)
        .execute();
      const keys = rows.map(keyOf);
      if (keys.some((key) => isActive(key, atMs))) return { kind: 'has-active-keys' };
      const keyHashes = keys.map(({ hash }) => hash);
      await unassignKeys(transaction, keyHashes);
      await deleteGuardrails(transaction, id);
      await emptyWorkspace(transaction, accountId, id);
      await transaction.deleteFrom('workspaces').where('id', '=', id).execute();
      return { kind: 'deleted', keyHashes };
    });
  }

  async listAllBudgets(limit: number): Promise<NamedBudget[]> {
    const rows = await this.#database
      .selectFrom('budgets')
      .innerJoin('workspaces', 'workspaces.id', 'budgets.workspace_id')
      .select([
        'budgets.workspace_id',
        'budgets.limit_window',
        'budgets.limit_nanos',
        'workspaces.account_id',
        'workspaces.slug',
        'workspaces.include_byok_in_budgets',
      ])
      .orderBy('budgets.created_at_ms')
      .orderBy('budgets.id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      workspaceId: row.workspace_id,
      accountId: row.account_id,
      slug: row.slug,
      window: row.limit_window as NamedBudget['window'],
      limitNanos: BigInt(row.limit_nanos),
      includeByok: Number(row.include_byok_in_budgets) === 1,
    }));
  }

  async listBudgets(workspaceId: string): Promise<Budget[]> {
    return budgetsOf(this.#database, [workspaceId]);
  }

  async listBudgetsOf(workspaceIds: readonly string[]): Promise<Budget[]> {
    return workspaceIds.length === 0 ? [] : budgetsOf(this.#database, workspaceIds);
  }

  setBudget(
    workspaceId: string,
    decide: (current: readonly Budget[]) => Budget,
    includeByok: boolean | undefined,
  ): Promise<Budget | undefined> {
    return transact(this.#database, async (transaction) => {
      // Writes the workspace first, even without a change: this locks out other changes of its budgets.
      const { numUpdatedRows } = await transaction
        .updateTable('workspaces')
        .set(({ ref }) => ({
          include_byok_in_budgets:
            includeByok === undefined ? ref('include_byok_in_budgets') : includeByok ? 1 : 0,
        }))
        .where('id', '=', workspaceId)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows !== 1n) return undefined;
      const row = budgetRow(decide(await budgetsOf(transaction, [workspaceId])));
      const stored = await transaction
        .insertInto('budgets')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .columns(['workspace_id', 'limit_window'])
            .doUpdateSet({ limit_nanos: row.limit_nanos, updated_at_ms: row.updated_at_ms }),
        )
        .returningAll()
        .executeTakeFirstOrThrow();
      return budgetOf(stored);
    });
  }

  replaceBudgets(workspaceId: string, budgets: readonly Budget[], includeByok: boolean): Promise<void> {
    return transact(this.#database, async (transaction) => {
      await transaction
        .updateTable('workspaces')
        .set({ include_byok_in_budgets: includeByok ? 1 : 0 })
        .where('id', '=', workspaceId)
        .execute();
      await transaction.deleteFrom('budgets').where('workspace_id', '=', workspaceId).execute();
      if (budgets.length === 0) return;
      await transaction.insertInto('budgets').values(budgets.map(budgetRow)).execute();
    });
  }

  async deleteBudget(workspaceId: string, window: LimitWindow): Promise<void> {
    await this.#database
      .deleteFrom('budgets')
      .where('workspace_id', '=', workspaceId)
      .where('limit_window', '=', window)
      .execute();
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
    const row = await ownedKeys(this.#database).where('hash', '=', hash).executeTakeFirst();
    return row && keyOf(row);
  }

  async findKeysByHashPrefix(prefix: string, limit: number): Promise<Key[]> {
    const rows = await ownedKeys(this.#database)
      .where('hash', '>=', prefix)
      // `g` is the first letter after the hex digits.
      .where('hash', '<', `${prefix}g`)
      .orderBy('hash')
      .limit(limit)
      .execute();
    return rows.map(keyOf);
  }

  async listKeys(accountId?: string): Promise<Key[]> {
    const rows = await ownedKeys(this.#database)
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId as string))
      .orderBy('created_at_ms', 'desc')
      .orderBy('hash')
      .execute();
    return rows.map(keyOf);
  }

  async listLimitedKeys(limit: number): Promise<Key[]> {
    const rows = await ownedKeys(this.#database)
      .where('limit_nanos', 'is not', null)
      .where('is_management', '=', 0)
      .where('disabled', '=', 0)
      .orderBy('created_at_ms')
      .orderBy('hash')
      .limit(limit)
      .execute();
    return rows.map(keyOf);
  }

  async listPlainKeys(
    { accountId, workspaceId, includeDisabled, search }: KeyFilter,
    { offset, limit }: Page,
  ): Promise<Key[]> {
    const rows = await ownedKeys(this.#database)
      .where('account_id', '=', accountId)
      .where('is_management', '=', 0)
      .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId))
      .$if(!includeDisabled, (query) => query.where('disabled', '=', 0))
      .$if(search !== null, (query) => query.where(isFound(search ?? '')))
      .orderBy('created_at_ms', 'desc')
      .orderBy('hash')
      .limit(limit)
      .offset(offset)
      .execute();
    return rows.map(keyOf);
  }

  updateKey(hash: string, change: KeyEdit, atMs: number): Promise<Key | undefined> {
    return transact(this.#database, async (transaction) => {
      const row = await ownedKeys(transaction).where('hash', '=', hash).executeTakeFirst();
      if (row === undefined) return undefined;
      const key: Key = { ...keyOf(row), ...change, updatedAtMs: atMs };
      await transaction.updateTable('keys').set(keyRow(key)).where('hash', '=', hash).execute();
      return key;
    });
  }

  deleteKey(hash: string): Promise<boolean> {
    return transact(this.#database, async (transaction) => {
      await unassignKeys(transaction, [hash]);
      const { numDeletedRows } = await transaction
        .deleteFrom('keys')
        .where('hash', '=', hash)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    });
  }

  async listDeclared(accountId: string) {
    const declared = await workspaces(this.#database)
      .where('account_id', '=', accountId)
      .where((where) =>
        where.or([where('file_member', 'is not', null), where('budgets_file_member', 'is not', null)]),
      )
      .execute();
    const keys = await ownedKeys(this.#database)
      .where('account_id', '=', accountId)
      .where('file_member', 'is not', null)
      .execute();
    return { workspaces: declared.map(workspaceOf), keys: keys.map(keyOf) };
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

type Runner = Kysely<Tables> | Transaction<Tables>;

function oneWorkspace(runner: Runner, accountId: string, id: string) {
  return workspaces(runner).where('account_id', '=', accountId).where('id', '=', id);
}

/** Keys, with the state of the member that owns them. */
function ownedKeys(runner: Runner) {
  return runner
    .selectFrom('keys')
    .selectAll()
    .select((select) =>
      select
        .selectFrom('members')
        .select('state')
        .whereRef('members.id', '=', 'keys.creator_user_id')
        .whereRef('members.account_id', '=', 'keys.account_id')
        .as('owner_state'),
    );
}

/** Workspaces, with whether anything reads their prompts and answers. */
function workspaces(runner: Runner) {
  return runner
    .selectFrom('workspaces')
    .selectAll()
    .select(
      sql<WholeNumber>`case when is_observability_broadcast_enabled = 1 and exists (
        select 1 from destinations
        where destinations.workspace_id = workspaces.id and is_enabled = 1 and reads_content = 1
      ) or exists (
        select 1 from classifiers where classifiers.workspace_id = workspaces.id and is_active = 1
      ) then 1 else 0 end`.as('has_content_readers'),
    );
}

async function budgetsOf(runner: Runner, workspaceIds: readonly string[]): Promise<Budget[]> {
  const rows = await runner
    .selectFrom('budgets')
    .selectAll()
    .where('workspace_id', 'in', workspaceIds)
    .execute();
  const placeOf = ({ window }: Budget) => LIMIT_WINDOWS.indexOf(window);
  return rows.map(budgetOf).sort((one, other) => placeOf(one) - placeOf(other));
}

/** Whether a text is part of a key's name or label, or the start of its hash. Both engines lower A to Z. */
function isFound(text: string) {
  const literal = text.replace(/[\\%_]/g, '\\$&');
  const anywhere = sql`lower(${`%${literal}%`})`;
  return sql<SqlBool>`(
    lower(name) like ${anywhere} escape '\\'
    or lower(label) like ${anywhere} escape '\\'
    or hash like lower(${`${literal}%`}) escape '\\'
  )`;
}

function isActive({ disabled, expiresAtMs }: Key, atMs: number): boolean {
  return !disabled && (expiresAtMs === null || expiresAtMs > atMs);
}

async function unassignKeys(transaction: Transaction<Tables>, hashes: readonly string[]): Promise<void> {
  for (const hash of hashes) {
    await transaction
      .deleteFrom('guardrail_assignments')
      .where('kind', '=', 'key')
      .where('subject', '=', hash)
      .execute();
  }
}

async function deleteGuardrails(transaction: Transaction<Tables>, workspaceId: string): Promise<void> {
  await transaction
    .deleteFrom('guardrail_assignments')
    .where('guardrail_id', 'in', (select) =>
      select.selectFrom('guardrails').select('id').where('workspace_id', '=', workspaceId),
    )
    .execute();
  await transaction.deleteFrom('guardrails').where('workspace_id', '=', workspaceId).execute();
}

/** Deletes or moves everything else that refers to a workspace. */
async function emptyWorkspace(
  transaction: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<void> {
  for (const table of [
    'budgets',
    'byok_credentials',
    'destinations',
    'files',
    'workspace_members',
  ] as const) {
    await transaction.deleteFrom(table).where('workspace_id', '=', id).execute();
  }
  await transaction
    .updateTable('classifiers')
    .set({ is_active: 0, file_member: null })
    .where('workspace_id', '=', id)
    .execute();
  await transaction
    .deleteFrom('keys')
    .where('workspace_id', '=', id)
    .where('is_management', '=', 0)
    .execute();
  const { id: defaultId } = await transaction
    .selectFrom('workspaces')
    .select('id')
    .where('account_id', '=', accountId)
    .where('is_default', '=', 1)
    .executeTakeFirstOrThrow();
  await transaction
    .updateTable('keys')
    .set({ workspace_id: defaultId })
    .where('workspace_id', '=', id)
    .execute();
}
