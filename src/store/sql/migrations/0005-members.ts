import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Keys of a member are kept in memory, and refused with their owner: every change is noted for other gateways. */
const NOTED = `
  create trigger note_change after update or delete on members
  for each row execute function note_change('member', 'id')`;

/** People of accounts, and their roles in workspaces. */
export const membersMigration: Migration = {
  name: '0005-members',
  async up(database, engine) {
    await database.schema
      .createTable('members')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('first_name', 'text')
      .addColumn('last_name', 'text')
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint')
      .addColumn('file_member', 'text')
      .execute();
    // An address is free again once its member was removed.
    await sql
      .raw("create unique index members_email on members (account_id, email) where state <> 'removed'")
      .execute(database);
    await database.schema
      .createIndex('members_in_order')
      .on('members')
      .columns(['account_id', 'created_at_ms', 'id'])
      .execute();
    await database.schema
      .createTable('workspace_members')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('workspace_members_pk', ['workspace_id', 'user_id'])
      .execute();
    await database.schema
      .createIndex('workspace_members_of_user')
      .on('workspace_members')
      .column('user_id')
      .execute();
    if (engine === 'postgres') await sql.raw(NOTED).execute(database);
  },
};
