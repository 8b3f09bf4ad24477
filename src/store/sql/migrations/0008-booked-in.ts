import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * The transaction that booked a generation. Gateways read the rows of all gateways in this order, in which no row
 * appears before a position already reached. Existing rows get transaction 0.
 */
export const bookedInMigration: Migration = {
  name: '0008-booked-in',
  engine: 'postgres',
  async up(database) {
    await sql`alter table generations add column booked_in xid8 not null default '0'`.execute(database);
    await sql`alter table generations alter column booked_in set default pg_current_xact_id()`.execute(
      database,
    );
    await sql`create index generations_as_booked on generations (booked_in, settled_at_ms, id)`.execute(
      database,
    );
  },
};
