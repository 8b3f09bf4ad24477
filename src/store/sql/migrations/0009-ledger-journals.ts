import { sql } from 'kysely';
import type { Migration } from './migration.ts';

const NOW_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
const NOW = sql`(clock_timestamp() at time zone 'UTC')`;

/** Numbers of the current windows. */
const WINDOWS = {
  window_daily: sql`${NOW_MS} / 86400000`,
  window_weekly: sql`(${NOW_MS} + 3 * 86400000::bigint) / (7 * 86400000::bigint)`,
  window_monthly: sql`((extract(year from ${NOW}) - 1970) * 12 + extract(month from ${NOW}) - 1)::bigint`,
};

const MONEY = ['credit_nanos', 'byok_nanos', 'written_off_nanos'];

/**
 * Bookings from the journal of each gateway: up to which record, which ends before that are not booked yet, and the
 * sums of each account. So an end is booked once, even if its row was pruned long ago. Earlier bookings count for the
 * gateway ''. Windows that a wrong clock opened in the future become the current ones, because windows never move back
 * from here on.
 */
export const ledgerJournalsMigration: Migration = {
  name: '0009-ledger-journals',
  engine: 'postgres',
  async up(database) {
    await database.schema
      .createTable('ledger_journals')
      .addColumn('gateway_id', 'text', (column) => column.primaryKey())
      .addColumn('booked_to', 'bigint', (column) => column.notNull())
      // Sequences of ends up to `booked_to` that are not booked.
      .addColumn('unbooked', 'jsonb', (column) => column.notNull())
      .execute();
    let booked = database.schema
      .createTable('ledger_booked')
      .addColumn('gateway_id', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('generations', 'bigint', (column) => column.notNull().defaultTo(0))
      .addPrimaryKeyConstraint('ledger_booked_key', ['gateway_id', 'account_id']);
    for (const name of MONEY) {
      booked = booked.addColumn(name, 'numeric(38, 0)', (column) => column.notNull().defaultTo(0));
    }
    await booked.execute();
    await database.schema
      .createIndex('ledger_booked_by_account')
      .on('ledger_booked')
      .column('account_id')
      .execute();
    await sql`
      insert into ledger_booked (gateway_id, account_id, credit_nanos, byok_nanos)
      select '', id, credit_lifetime, byok_lifetime from ledger_tallies where scope = 'account'`.execute(
      database,
    );
    for (const [name, number] of Object.entries(WINDOWS)) {
      const column = sql.ref(name);
      await sql`update ledger_tallies set ${column} = ${number} where ${column} > ${number}`.execute(
        database,
      );
    }
  },
};
