import type { Migration } from './migration.ts';

/** The key that stored a file, and an index from which the stored bytes of an account are summed. */
export const fileKeysMigration: Migration = {
  name: '0029-file-keys',
  async up(database) {
    await database.schema.alterTable('files').addColumn('key_hash', 'text').execute();
    await database.schema
      .createIndex('files_by_account')
      .on('files')
      .columns(['account_id', 'workspace_id', 'key_hash', 'size_bytes'])
      .execute();
  },
};
