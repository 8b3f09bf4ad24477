import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Columns for comparing sums with rows in `ledger verify`; null in existing rows. `booked_at_ms`: when a generation was
 * booked by the database's clock, which decides the windows that its charge counts in. `counted_from`: the first
 * transaction whose bookings are all in the sums of the tally; earlier ones may have been forgotten.
 */
export const bookedAtMigration: Migration = {
  name: '0012-booked-at',
  engine: 'postgres',
  async up(database) {
    await sql`alter table generations add column booked_at_ms bigint`.execute(database);
    await sql`alter table ledger_tallies add column counted_from xid8`.execute(database);
  },
};
