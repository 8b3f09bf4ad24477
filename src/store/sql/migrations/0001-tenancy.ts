import type { Migration } from './migration.ts';

/** Accounts, their workspaces and keys. */
export const tenancyMigration: Migration = {
  name: '0001-tenancy',
  async up(database) {
    await database.schema
      .createTable('accounts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute();

    await database.schema
      .createTable('workspaces')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('is_default', 'integer', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('workspaces_slug', ['account_id', 'slug'])
      .execute();
    await database.schema
      .createIndex('workspaces_one_default')
      .unique()
      .on('workspaces')
      .column('account_id')
      .where('is_default' as never, '=', 1 as never)
      .execute();

    await database.schema
      .createTable('keys')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('is_management', 'integer', (column) => column.notNull())
      .addColumn('disabled', 'integer', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint')
      .addColumn('expires_at_ms', 'bigint')
      .addColumn('creator_user_id', 'text')
      .execute();
    await database.schema
      .createIndex('keys_by_account')
      .on('keys')
      .columns(['account_id', 'created_at_ms'])
      .execute();

    await database.schema
      .createTable('installation')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
