import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * What `ledger verify` needs to compare sums with rows. `booked_at_ms`: when a generation was booked, by the clock of the
 * database, which says the windows that its charge counts into. `counted_from`: a transaction; what it or a later one booked
 * is in the sums of the tally, what an earlier one booked may have been forgotten. Rows that were there before say neither.
 */
export const bookedAtMigration: Migration = {
  name: '0012-booked-at',
  engine: 'postgres',
  async up(database) {
    await sql`alter table generations add column booked_at_ms bigint`.execute(database);
    await sql`alter table ledger_tallies add column counted_from xid8`.execute(database);
  },
};
