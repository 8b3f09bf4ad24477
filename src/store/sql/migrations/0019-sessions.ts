import type { Migration } from './migration.ts';

/** Sign-ins to the console. */
export const sessionsMigration: Migration = {
  name: '0019-sessions',
  async up({ schema }) {
    await schema
      .createTable('sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('key_hash', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('user_agent', 'text')
      .addColumn('address', 'text', (column) => column.notNull())
      .execute();
    await schema.createIndex('sessions_by_account').on('sessions').column('account_id').execute();
  },
};
