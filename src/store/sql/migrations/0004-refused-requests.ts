import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Requests that were refused before any upstream was called, with their details as one JSON text, and the owners of
 * keys that were deleted: a request with such a key is refused, and its row needs an account. Both are removed with the
 * rows of generations.
 */
export const refusedRequestsMigration: Migration = {
  name: '0004-refused-requests',
  async up(database, engine) {
    const { schema } = database;
    const isPostgres = engine === 'postgres';
    await schema
      .createTable('refused_requests')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('key_hash', 'text', (column) => column.notNull())
      .addColumn('refused_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      // As in `generations`: the order in which gateways read the rows of all.
      .$call((table) =>
        isPostgres
          ? table.addColumn('booked_in', sql`xid8`, (column) =>
              column.notNull().defaultTo(sql`pg_current_xact_id()`),
            )
          : table,
      )
      .execute();
    await schema
      .createIndex('refused_requests_by_age')
      .on('refused_requests')
      .columns(['refused_at_ms', 'id'])
      .execute();
    if (isPostgres) {
      await schema
        .createIndex('refused_requests_as_booked')
        .on('refused_requests')
        .columns(['booked_in', 'refused_at_ms', 'id'])
        .execute();
    }
    await schema
      .createTable('deleted_keys')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('deleted_at_ms', 'bigint', (column) => column.notNull())
      .execute();
    await schema.createIndex('deleted_keys_by_age').on('deleted_keys').column('deleted_at_ms').execute();
    for (const statement of isPostgres ? KEPT_IN_POSTGRES : KEPT_IN_SQLITE) {
      await sql.raw(statement).execute(database);
    }
  },
};

/** Triggers, because keys are deleted with their workspace too, and by gateways of earlier releases. */
const KEPT_IN_SQLITE = [
  `create trigger keep_deleted_key after delete on keys
    begin
      insert or replace into deleted_keys (hash, account_id, workspace_id, deleted_at_ms)
      values (old.hash, old.account_id, old.workspace_id,
        cast((julianday('now') - 2440587.5) * 86400000 as integer));
    end`,
];

const KEPT_IN_POSTGRES = [
  `create function keep_deleted_key() returns trigger language plpgsql as $$
    begin
      insert into deleted_keys (hash, account_id, workspace_id, deleted_at_ms)
      values (old.hash, old.account_id, old.workspace_id,
        (extract(epoch from clock_timestamp()) * 1000)::bigint)
      on conflict (hash) do update set deleted_at_ms = excluded.deleted_at_ms;
      return null;
    end $$`,
  `create trigger keep_deleted_key after delete on keys for each row execute function keep_deleted_key()`,
];
