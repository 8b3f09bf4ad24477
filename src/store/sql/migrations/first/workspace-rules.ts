import { type SchemaModule, sql } from 'kysely';

/** Guardrails, and the keys and members that they are assigned to; destinations; classifiers and what they found. */
export async function createWorkspaceRules(schema: SchemaModule): Promise<void> {
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

  await schema
    .createTable('destinations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    // Everything else that can be set, as JSON.
    .addColumn('settings', 'text', (column) => column.notNull())
    // Null without secrets.
    .addColumn('encrypted_secret', 'text')
    .addColumn('encryption_key_id', 'text')
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('is_enabled', 'integer', (column) => column.notNull())
    .addColumn('reads_content', 'integer', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint')
    .addColumn('file_member', 'text')
    .execute();
  await schema
    .createIndex('destinations_by_workspace')
    .on('destinations')
    .columns(['workspace_id', 'type'])
    .execute();
  await schema
    .createIndex('destinations_by_encryption_key')
    .on('destinations')
    .column('encryption_key_id')
    .execute();

  await schema
    .createTable('classifiers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    // Without a reference: the classifiers of a deleted workspace stay, and are not active.
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('is_active', 'integer', (column) => column.notNull())
    // Everything else that can be set, as JSON.
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint')
    .addColumn('file_member', 'text')
    .execute();
  await schema
    .createIndex('classifiers_by_account')
    .on('classifiers')
    .columns(['account_id', 'workspace_id'])
    .execute();
  await schema
    .createIndex('active_classifiers')
    .unique()
    .on('classifiers')
    .column('workspace_id')
    .where(sql.ref('is_active'), '=', sql.lit(1))
    .execute();
  await schema
    .createTable('classifications')
    .addColumn('place', 'bigint', (column) => column.primaryKey())
    .addColumn('classifier_id', 'text', (column) => column.notNull())
    .addColumn('generation_id', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    // Values by dimension, as JSON.
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('problem', 'text')
    .addColumn('classified_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('classifications_by_generation')
    .unique()
    .on('classifications')
    .columns(['classifier_id', 'generation_id'])
    .execute();
  await schema.createIndex('classifications_by_time').on('classifications').column('created_at_ms').execute();
  await schema
    .createIndex('classification_problems')
    .on('classifications')
    .columns(['classifier_id', 'place'])
    .where(sql.ref('problem'), 'is not', null)
    .execute();
  // One row: places are given in the order of commits, because whoever takes some locks it.
  await schema
    .createTable('classification_places')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('classifier_runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('classifier_id', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('from_ms', 'bigint', (column) => column.notNull())
    .addColumn('to_ms', 'bigint', (column) => column.notNull())
    .addColumn('budget_nanos', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    // The rest of what is known of its progress, as JSON.
    .addColumn('progress', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('classifier_runs_by_classifier')
    .on('classifier_runs')
    .columns(['account_id', 'classifier_id', 'created_at_ms'])
    .execute();
}
