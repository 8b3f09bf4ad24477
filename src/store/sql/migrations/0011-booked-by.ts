import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * `booked_by`: the gateway that booked a generation. Existing rows get '', because their charges are in the sums of
 * that gateway. Gateways of an older version write null: their rows are in no sum and are summed one by one.
 * `owner`: the run of a gateway that owns its journal, so that a copy of its data directory is noticed.
 */
export const bookedByMigration: Migration = {
  name: '0011-booked-by',
  engine: 'postgres',
  async up(database) {
    await sql`alter table generations add column booked_by text default ''`.execute(database);
    await sql`alter table generations alter column booked_by drop default`.execute(database);
    await database.schema.alterTable('ledger_journals').addColumn('owner', 'text').execute();
    await sql`create index generations_in_no_sum on generations (account_id) where booked_by is null`.execute(
      database,
    );
  },
};
