import type { Kysely } from 'kysely';
import type {
  ClassifierRun,
  ClassifierRunStore,
  RunProgress,
  RunState,
} from '../../../ports/following/classifiers.ts';
import type { Page } from '../../../ports/tenancy/tenancy.ts';
import type { ClassifierRunRow, Tables } from '../tables.ts';
import { transact } from '../transact.ts';

export class SqlClassifierRunStore implements ClassifierRunStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  insert(run: ClassifierRun): Promise<boolean> {
    return transact(this.#database, async (transaction) => {
      const other = await transaction
        .selectFrom('classifier_runs')
        .select('id')
        .where('classifier_id', '=', run.classifierId)
        .where('state', '=', 'running')
        .limit(1)
        .executeTakeFirst();
      if (other !== undefined) return false;
      await transaction.insertInto('classifier_runs').values(rowOf(run)).execute();
      return true;
    });
  }

  async find(accountId: string, classifierId: string, id: string): Promise<ClassifierRun | undefined> {
    const row = await this.#of(accountId, classifierId).selectAll().where('id', '=', id).executeTakeFirst();
    return row && runOf(row);
  }

  async list(accountId: string, classifierId: string, { offset, limit }: Page) {
    const listed = this.#of(accountId, classifierId);
    const { total } = await listed
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await listed
      .selectAll()
      .orderBy('created_at_ms', 'desc')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { runs: rows.map(runOf), total: Number(total) };
  }

  async listRunning(): Promise<ClassifierRun[]> {
    const rows = await this.#database
      .selectFrom('classifier_runs')
      .selectAll()
      .where('state', '=', 'running')
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    return rows.map(runOf);
  }

  async note(id: string, progress: RunProgress): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable('classifier_runs')
      .set(progressRow(progress))
      .where('id', '=', id)
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  #of(accountId: string, classifierId: string) {
    return this.#database
      .selectFrom('classifier_runs')
      .where('account_id', '=', accountId)
      .where('classifier_id', '=', classifierId);
  }
}

/** What the column `progress` has. */
type StoredProgress = Omit<RunProgress, 'state' | 'spentNanos'> & { readonly spentNanos: string };

function progressRow({ state, spentNanos, ...rest }: RunProgress) {
  const progress: StoredProgress = { ...rest, spentNanos: String(spentNanos) };
  return { state, progress: JSON.stringify(progress) };
}

function rowOf(run: ClassifierRun): ClassifierRunRow {
  return {
    id: run.id,
    classifier_id: run.classifierId,
    account_id: run.accountId,
    from_ms: run.fromMs,
    to_ms: run.toMs,
    budget_nanos: run.budgetNanos === null ? null : String(run.budgetNanos),
    ...progressRow(run.progress),
    created_at_ms: run.createdAtMs,
  };
}

function runOf(row: ClassifierRunRow): ClassifierRun {
  const { spentNanos, ...progress } = JSON.parse(row.progress) as StoredProgress;
  return {
    id: row.id,
    classifierId: row.classifier_id,
    accountId: row.account_id,
    fromMs: Number(row.from_ms),
    toMs: Number(row.to_ms),
    budgetNanos: row.budget_nanos === null ? null : BigInt(row.budget_nanos),
    progress: { ...progress, state: row.state as RunState, spentNanos: BigInt(spentNanos) },
    createdAtMs: Number(row.created_at_ms),
  };
}
