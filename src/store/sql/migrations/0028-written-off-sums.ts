import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Finds the few generations of which something was written off, to sum them by account and time. */
export const writtenOffSumsMigration: Migration = {
  name: '0028-written-off-sums',
  async up(database) {
    await sql`create index generations_written_off on generations (account_id, settled_at_ms)
      where written_off_nanos > 0`.execute(database);
  },
};
