import type { Migration } from './migration.ts';

/** BYOK credentials. */
export const byokMigration: Migration = {
  name: '0002-byok',
  async up(database) {
    await database.schema
      .createTable('byok_credentials')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('workspace_id', 'text', (column) => column.references('workspaces.id'))
      .addColumn('provider', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('label', 'text', (column) => column.notNull())
      // Null once deleted.
      .addColumn('encrypted_secret', 'text')
      .addColumn('encryption_key_id', 'text')
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('sort_order', 'integer', (column) => column.notNull())
      .addColumn('disabled', 'integer', (column) => column.notNull())
      .addColumn('is_fallback', 'integer', (column) => column.notNull())
      .addColumn('is_required', 'integer', (column) => column.notNull())
      .addColumn('is_byok_only', 'integer', (column) => column.notNull())
      .addColumn('declared_zdr', 'integer')
      // Lists as JSON.
      .addColumn('allowed_models', 'text')
      .addColumn('allowed_user_ids', 'text')
      .addColumn('allowed_api_key_hashes', 'text')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint')
      .addColumn('deleted_at_ms', 'bigint')
      .execute();
    await database.schema
      .createIndex('byok_credentials_places')
      .unique()
      .on('byok_credentials')
      .columns(['account_id', 'provider', 'sort_order'])
      .where('deleted_at_ms' as never, 'is', null)
      .execute();
    await database.schema
      .createIndex('byok_credentials_by_encryption_key')
      .on('byok_credentials')
      .column('encryption_key_id')
      .execute();
  },
};
