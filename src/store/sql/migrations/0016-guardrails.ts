import type { Migration } from './migration.ts';

/** Guardrails, and the keys and members that they are assigned to. */
export const guardrailsMigration: Migration = {
  name: '0016-guardrails',
  async up({ schema }) {
    await schema
      .createTable('guardrails')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      // Everything else that can be set, as JSON.
      .addColumn('settings', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint')
      .addColumn('file_member', 'text')
      .execute();
    await schema
      .createIndex('guardrails_by_workspace')
      .on('guardrails')
      .columns(['account_id', 'workspace_id'])
      .execute();
    await schema
      .createTable('guardrail_assignments')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('guardrail_id', 'text', (column) => column.notNull().references('guardrails.id'))
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      // The hash of a key, or the id of a member.
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('assigned_by', 'text')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('file_member', 'text')
      .execute();
    await schema
      .createIndex('guardrail_assignments_by_subject')
      .unique()
      .on('guardrail_assignments')
      .columns(['account_id', 'kind', 'subject'])
      .execute();
    await schema
      .createIndex('guardrail_assignments_by_guardrail')
      .on('guardrail_assignments')
      .column('guardrail_id')
      .execute();
  },
};
