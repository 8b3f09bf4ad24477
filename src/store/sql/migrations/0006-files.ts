import type { Migration } from './migration.ts';

/** Stored files without their content, which is on the disk. */
export const filesMigration: Migration = {
  name: '0006-files',
  async up(database) {
    await database.schema
      .createTable('files')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
      .addColumn('filename', 'text', (column) => column.notNull())
      .addColumn('mime_type', 'text', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .addColumn('is_downloadable', 'integer', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex('files_in_order')
      .on('files')
      .columns(['workspace_id', 'created_at_ms', 'id'])
      .execute();
  },
};
