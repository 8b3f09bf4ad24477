import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * The gateway that booked a generation. Rows that were there before say '', because their charges are in the sums that were
 * made of them; rows of gateways of an older version, which know nothing of sums, say nothing and are summed by themselves.
 * And which run of a gateway has its journal, so that a copy of its data directory is noticed.
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
