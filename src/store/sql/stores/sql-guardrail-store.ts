import type { Kysely, Transaction } from 'kysely';
import type {
  AssignedCounts,
  AssignmentFilter,
  AssignmentKind,
  Guardrail,
  GuardrailAssignment,
  GuardrailEdit,
  GuardrailSettings,
  GuardrailStore,
} from '../../../ports/tenancy/guardrails.ts';
import type { Page } from '../../../ports/tenancy/tenancy.ts';
import { type GuardrailAssignmentRow, type GuardrailRow, numberOrNull, type Tables } from '../tables.ts';
import { transact } from '../transact.ts';

export class SqlGuardrailStore implements GuardrailStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  insert(guardrail: Guardrail): Promise<Guardrail> {
    return transact(this.#database, async (transaction) => {
      await transaction
        .insertInto('guardrails')
        .values(rowOf(guardrail))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      return guardrailOf(await one(transaction, guardrail.accountId, guardrail.id).executeTakeFirstOrThrow());
    });
  }

  async find(accountId: string, id: string): Promise<Guardrail | undefined> {
    const row = await one(this.#database, accountId, id).executeTakeFirst();
    return row && guardrailOf(row);
  }

  async list(
    { accountId, workspaceId }: { readonly accountId: string; readonly workspaceId: string | null },
    { offset, limit }: Page,
  ) {
    const owned = this.#database.selectFrom('guardrails').where('account_id', '=', accountId);
    const placed = workspaceId === null ? owned : owned.where('workspace_id', '=', workspaceId);
    const { total } = await placed
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await placed
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { guardrails: rows.map(guardrailOf), total: Number(total) };
  }

  async listAll(accountId: string): Promise<Guardrail[]> {
    const rows = await this.#database
      .selectFrom('guardrails')
      .selectAll()
      .where('account_id', '=', accountId)
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    return rows.map(guardrailOf);
  }

  update(
    accountId: string,
    id: string,
    decide: (current: Guardrail) => GuardrailEdit,
    atMs: number,
  ): Promise<Guardrail | undefined> {
    return transact(this.#database, async (transaction) => {
      const row = await one(transaction, accountId, id).executeTakeFirst();
      if (row === undefined) return undefined;
      const current = guardrailOf(row);
      const changed: Guardrail = { ...current, ...decide(current), updatedAtMs: atMs };
      await transaction.updateTable('guardrails').set(rowOf(changed)).where('id', '=', id).execute();
      return changed;
    });
  }

  delete(accountId: string, id: string): Promise<boolean> {
    return transact(this.#database, async (transaction) => {
      await transaction
        .deleteFrom('guardrail_assignments')
        .where('account_id', '=', accountId)
        .where('guardrail_id', '=', id)
        .execute();
      const { numDeletedRows } = await transaction
        .deleteFrom('guardrails')
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    });
  }

  assign(assignments: readonly GuardrailAssignment[]): Promise<readonly GuardrailAssignment[]> {
    return transact(this.#database, async (transaction) => {
      const replaced: GuardrailAssignment[] = [];
      for (const assignment of assignments) {
        const row = assignmentRow(assignment);
        const before = await transaction
          .selectFrom('guardrail_assignments')
          .selectAll()
          .where('account_id', '=', row.account_id)
          .where('kind', '=', row.kind)
          .where('subject', '=', row.subject)
          .where('guardrail_id', '!=', row.guardrail_id)
          .executeTakeFirst();
        if (before !== undefined) replaced.push(assignmentOf(before));
        await transaction
          .insertInto('guardrail_assignments')
          .values(row)
          .onConflict((conflict) => conflict.columns(['account_id', 'kind', 'subject']).doUpdateSet(row))
          .execute();
      }
      return replaced;
    });
  }

  unassign(guardrailId: string, kind: AssignmentKind, subjects: readonly string[]): Promise<number> {
    return transact(this.#database, async (transaction) => {
      let removed = 0;
      for (const subject of subjects) {
        const { numDeletedRows } = await transaction
          .deleteFrom('guardrail_assignments')
          .where('guardrail_id', '=', guardrailId)
          .where('kind', '=', kind)
          .where('subject', '=', subject)
          .executeTakeFirstOrThrow();
        removed += Number(numDeletedRows);
      }
      return removed;
    });
  }

  async listAssignments(
    { accountId, kind, guardrailId, subject }: AssignmentFilter,
    { offset, limit }: Page,
  ) {
    const matching = this.#database
      .selectFrom('guardrail_assignments')
      .where('account_id', '=', accountId)
      .where('kind', '=', kind)
      .$if(guardrailId !== undefined, (query) => query.where('guardrail_id', '=', guardrailId as string))
      .$if(subject !== undefined, (query) => query.where('subject', '=', subject as string));
    const { total } = await matching
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await matching
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { assignments: rows.map(assignmentOf), total: Number(total) };
  }

  async countAssignments(accountId: string) {
    const rows = await this.#database
      .selectFrom('guardrail_assignments')
      .select(['guardrail_id', 'kind', (select) => select.fn.countAll().as('count')])
      .where('account_id', '=', accountId)
      .groupBy(['guardrail_id', 'kind'])
      .execute();
    const counts = new Map<string, AssignedCounts>();
    for (const { guardrail_id: id, kind, count } of rows) {
      counts.set(id, { ...(counts.get(id) ?? { key: 0, member: 0 }), [kind]: Number(count) });
    }
    return counts;
  }

  async assignmentsOf(
    accountId: string,
    { key, member }: { readonly key: string; readonly member: string | null },
  ): Promise<GuardrailAssignment[]> {
    const rows = await this.#database
      .selectFrom('guardrail_assignments')
      .selectAll()
      .where('account_id', '=', accountId)
      .where((where) =>
        where.or([
          where.and([where('kind', '=', 'key'), where('subject', '=', key)]),
          ...(member === null
            ? []
            : [where.and([where('kind', '=', 'member'), where('subject', '=', member)])]),
        ]),
      )
      .execute();
    return rows.map(assignmentOf);
  }
}

function one(runner: Kysely<Tables> | Transaction<Tables>, accountId: string, id: string) {
  return runner.selectFrom('guardrails').selectAll().where('account_id', '=', accountId).where('id', '=', id);
}

/** The part of a guardrail that is stored as JSON. */
type StoredSettings = Omit<GuardrailSettings, 'name' | 'workspaceId' | 'limitNanos'> & {
  /** Text, because JSON numbers are not exact. */
  readonly limitNanos: string | null;
};

function rowOf(guardrail: Guardrail): GuardrailRow {
  const { id, accountId, workspaceId, name, createdAtMs, updatedAtMs, fileMember, limitNanos, ...rest } =
    guardrail;
  const settings: StoredSettings = { ...rest, limitNanos: limitNanos === null ? null : String(limitNanos) };
  return {
    id,
    account_id: accountId,
    workspace_id: workspaceId,
    name,
    settings: JSON.stringify(settings),
    created_at_ms: createdAtMs,
    updated_at_ms: updatedAtMs,
    file_member: fileMember,
  };
}

function guardrailOf(row: GuardrailRow): Guardrail {
  const settings = JSON.parse(row.settings) as StoredSettings;
  return {
    ...settings,
    limitNanos: settings.limitNanos === null ? null : BigInt(settings.limitNanos),
    id: row.id,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    name: row.name,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
    fileMember: row.file_member,
  };
}

function assignmentRow(assignment: GuardrailAssignment): GuardrailAssignmentRow {
  return {
    id: assignment.id,
    guardrail_id: assignment.guardrailId,
    account_id: assignment.accountId,
    kind: assignment.kind,
    subject: assignment.subject,
    assigned_by: assignment.assignedBy,
    created_at_ms: assignment.createdAtMs,
    file_member: assignment.fileMember,
  };
}

function assignmentOf(row: GuardrailAssignmentRow): GuardrailAssignment {
  return {
    id: row.id,
    guardrailId: row.guardrail_id,
    accountId: row.account_id,
    kind: row.kind as AssignmentKind,
    subject: row.subject,
    assignedBy: row.assigned_by,
    createdAtMs: Number(row.created_at_ms),
    fileMember: row.file_member,
  };
}
