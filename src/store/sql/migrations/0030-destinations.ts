import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Where generations of a workspace are sent. */
export const destinationsMigration: Migration = {
  name: '0030-destinations',
  async up({ schema }) {
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
  },
};

/** A destination decides whether prompts and answers of its workspace are kept, which gateways cache with callers. */
export const destinationChangesMigration: Migration = {
  name: '0030-destination-changes',
  engine: 'postgres',
  async up(database) {
    await sql`
      create trigger note_change after insert or update or delete on destinations
      for each row execute function note_change('workspace', 'workspace_id')`.execute(database);
  },
};
