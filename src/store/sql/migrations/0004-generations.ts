import type { Migration } from './migration.ts';

/**
 * Rows of generations: what was charged, and the rest as one JSON text. They refer to no other table, because a
 * generation stays what it was when its key or its workspace is gone.
 */
export const generationsMigration: Migration = {
  name: '0004-generations',
  async up(database) {
    await database.schema
      .createTable('generations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('key_hash', 'text', (column) => column.notNull())
      .addColumn('settled_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('credit_nanos', 'bigint', (column) => column.notNull())
      .addColumn('byok_nanos', 'bigint', (column) => column.notNull())
      .addColumn('written_off_nanos', 'bigint', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex('generations_by_age')
      .on('generations')
      .column('settled_at_ms')
      .execute();
  },
};
