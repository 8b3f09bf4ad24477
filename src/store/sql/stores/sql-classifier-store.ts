import type { Kysely, Transaction } from 'kysely';
import type {
  Classifier,
  ClassifierEdit,
  ClassifierSettings,
  ClassifierStore,
} from '../../../ports/following/classifiers.ts';
import type { Page } from '../../../ports/tenancy/tenancy.ts';
import { type ClassifierRow, numberOrNull, type Tables } from '../tables.ts';
import { transact } from '../transact.ts';

export class SqlClassifierStore implements ClassifierStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  insert(classifier: Classifier): Promise<Classifier | 'has-active'> {
    return transact(this.#database, async (transaction) => {
      const known = await one(transaction, classifier.accountId, classifier.id).executeTakeFirst();
      if (known !== undefined) return classifierOf(known);
      if (await isSecondActive(transaction, classifier)) return 'has-active';
      await transaction.insertInto('classifiers').values(rowOf(classifier)).execute();
      return classifier;
    });
  }

  async find(accountId: string, id: string): Promise<Classifier | undefined> {
    const row = await one(this.#database, accountId, id).executeTakeFirst();
    return row && classifierOf(row);
  }

  async list(accountId: string, workspaceId: string | null, { offset, limit }: Page) {
    const owned = this.#database.selectFrom('classifiers').where('account_id', '=', accountId);
    const listed = workspaceId === null ? owned : owned.where('workspace_id', '=', workspaceId);
    const { total } = await listed
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await listed
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { classifiers: rows.map(classifierOf), total: Number(total) };
  }

  async listActive(): Promise<Classifier[]> {
    const rows = await this.#database
      .selectFrom('classifiers')
      .selectAll()
      .where('is_active', '=', 1)
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    return rows.map(classifierOf);
  }

  async listDeclared(): Promise<Classifier[]> {
    const rows = await this.#database
      .selectFrom('classifiers')
      .selectAll()
      .where('file_member', 'is not', null)
      .orderBy('id')
      .execute();
    return rows.map(classifierOf);
  }

  async listIds(): Promise<string[]> {
    const rows = await this.#database.selectFrom('classifiers').select('id').execute();
    return rows.map(({ id }) => id);
  }

  update(
    accountId: string,
    id: string,
    decide: (current: Classifier) => ClassifierEdit,
    atMs: number,
  ): Promise<Classifier | 'has-active' | undefined> {
    return transact(this.#database, async (transaction) => {
      const row = await one(transaction, accountId, id).executeTakeFirst();
      if (row === undefined) return undefined;
      const current = classifierOf(row);
      const changed: Classifier = { ...current, ...decide(current), updatedAtMs: atMs };
      if (await isSecondActive(transaction, changed)) return 'has-active';
      await transaction.updateTable('classifiers').set(rowOf(changed)).where('id', '=', id).execute();
      return changed;
    });
  }

  async delete(accountId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('classifiers')
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return numDeletedRows === 1n;
  }
}

/** Whether a classifier is active in a workspace that has another one. */
async function isSecondActive(
  transaction: Transaction<Tables>,
  { id, workspaceId, isActive }: Classifier,
): Promise<boolean> {
  if (!isActive) return false;
  const other = await transaction
    .selectFrom('classifiers')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('is_active', '=', 1)
    .where('id', '<>', id)
    .executeTakeFirst();
  return other !== undefined;
}

function one(database: Kysely<Tables> | Transaction<Tables>, accountId: string, id: string) {
  return database
    .selectFrom('classifiers')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id);
}

/** What the column `settings` has. */
type StoredSettings = Omit<ClassifierSettings, 'name' | 'isActive' | 'monthlyBudgetNanos'> & {
  readonly monthlyBudgetNanos: string | null;
};

function rowOf(classifier: Classifier): ClassifierRow {
  const { description, dimensions, model, samplingRate, monthlyBudgetNanos } = classifier;
  const settings: StoredSettings = {
    description,
    dimensions,
    model,
    samplingRate,
    monthlyBudgetNanos: monthlyBudgetNanos === null ? null : String(monthlyBudgetNanos),
  };
  return {
    id: classifier.id,
    account_id: classifier.accountId,
    workspace_id: classifier.workspaceId,
    name: classifier.name,
    is_active: classifier.isActive ? 1 : 0,
    settings: JSON.stringify(settings),
    created_at_ms: classifier.createdAtMs,
    updated_at_ms: classifier.updatedAtMs,
    file_member: classifier.fileMember,
  };
}

function classifierOf(row: ClassifierRow): Classifier {
  const { monthlyBudgetNanos, ...settings } = JSON.parse(row.settings) as StoredSettings;
  return {
    ...settings,
    monthlyBudgetNanos: monthlyBudgetNanos === null ? null : BigInt(monthlyBudgetNanos),
    id: row.id,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    name: row.name,
    isActive: Number(row.is_active) === 1,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
    fileMember: row.file_member,
  };
}
