import type { Migration } from './migration.ts';

/** Limits of keys and workspaces, and the settings of workspaces. */
export const limitsMigration: Migration = {
  name: '0003-limits',
  async up(database) {
    const { schema } = database;
    await schema.alterTable('keys').addColumn('limit_nanos', 'bigint').execute();
    await schema.alterTable('keys').addColumn('limit_reset', 'text').execute();
    await schema
      .alterTable('keys')
      .addColumn('include_byok_in_limit', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await schema.alterTable('keys').addColumn('external_user', 'text').execute();
    await schema
      .createIndex('keys_by_workspace')
      .on('keys')
      .columns(['workspace_id', 'created_at_ms'])
      .execute();

    for (const name of [
      'description',
      'default_text_model',
      'default_image_model',
      'default_provider_sort',
      // A list as JSON.
      'io_logging_api_key_ids',
      'created_by',
    ]) {
      await schema.alterTable('workspaces').addColumn(name, 'text').execute();
    }
    for (const name of [
      'is_observability_io_logging_enabled',
      'is_observability_broadcast_enabled',
      'is_data_discount_logging_enabled',
      'include_byok_in_budgets',
    ]) {
      await schema
        .alterTable('workspaces')
        .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    }
    await schema
      .alterTable('workspaces')
      .addColumn('io_logging_sampling_rate', 'double precision', (column) => column.notNull().defaultTo(1))
      .execute();
    await schema.alterTable('workspaces').addColumn('updated_at_ms', 'bigint').execute();

    await schema
      .createTable('budgets')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
      // `window` is a word of SQL.
      .addColumn('limit_window', 'text', (column) => column.notNull())
      .addColumn('limit_nanos', 'bigint', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('budgets_one_a_window', ['workspace_id', 'limit_window'])
      .execute();
  },
};
