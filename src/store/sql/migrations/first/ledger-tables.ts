import { type ColumnDefinitionBuilder, type SchemaModule, sql } from 'kysely';
import type { SqlEngine } from '../migration.ts';

const WINDOWS = ['daily', 'weekly', 'monthly'] as const;
const SUMS = ['lifetime', ...WINDOWS].flatMap((window) => [`credit_${window}`, `byok_${window}`]);
const MONEY = [...SUMS, 'reserved_credit', 'reserved_byok', 'granted_nanos', 'left_nanos'];

/**
 * Money of gateways that share a database: what each scope has spent and reserved, the reservations, and the grants
 * of accounts. The embedded ledger does not use these tables. Amounts are nano-dollars without a bound.
 */
export async function createLedgerTables(schema: SchemaModule, engine: SqlEngine): Promise<void> {
  let tallies = schema
    .createTable('ledger_tallies')
    .addColumn('scope', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('is_enforced', 'integer', (column) => column.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('ledger_tallies_key', ['scope', 'id']);
  // The windows that the sums belong to, by their numbers.
  for (const window of WINDOWS) {
    tallies = tallies.addColumn(`window_${window}`, 'bigint', (column) => column.notNull().defaultTo(0));
  }
  for (const name of MONEY) {
    tallies = tallies.addColumn(name, 'numeric(38, 0)', (column) => column.notNull().defaultTo(0));
  }
  // The first transaction whose bookings are all in the sums of the tally; earlier ones may have been forgotten.
  if (engine === 'postgres') tallies = tallies.addColumn('counted_from', sql`xid8`);
  await tallies.execute();

  await schema
    .createTable('ledger_reservations')
    .addColumn('generation_id', 'text', (column) => column.primaryKey())
    .addColumn('gateway_id', 'text', (column) => column.notNull())
    .addColumn('key_hash', 'text', (column) => column.notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('credit_nanos', 'numeric(38, 0)', (column) => column.notNull())
    .addColumn('byok_nanos', 'numeric(38, 0)', (column) => column.notNull())
    // By the clock of the database, which all gateways share.
    .addColumn('reserved_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    // The member that it counts for; null = none.
    .addColumn('member_id', 'text')
    .$call((table) =>
      engine === 'sqlite' ? table : table.addColumn('has_heartbeat', 'boolean', notNullFalse),
    )
    .execute();
  await schema
    .createIndex('ledger_reservations_by_gateway')
    .on('ledger_reservations')
    .column('gateway_id')
    .execute();
  await schema
    .createIndex('ledger_reservations_by_expiry')
    .on('ledger_reservations')
    .column('expires_at_ms')
    .execute();

  await schema
    .createTable('ledger_grants')
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull())
    // Sum of the account's grants since its beginning; null = not enforced from then on.
    .addColumn('granted_nanos', 'numeric(38, 0)')
    .addColumn('granted_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('ledger_grants_key', ['account_id', 'number'])
    .execute();
}

/** The gateway that holds the reservation writes its row of `ledger_gateways`. */
function notNullFalse(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull().defaultTo(false);
}

const BOOKED = ['credit_nanos', 'byok_nanos', 'written_off_nanos'];

/**
 * Bookings from the journal of each gateway: up to which record, which ends before that are not booked yet, and the
 * sums of each account. So an end is booked once, even if its row was pruned long ago. `ledger_gateways`: when each
 * gateway was last seen, by the database's clock, so that others may release its reservations soon after it died.
 */
export async function createLedgerJournals(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('ledger_journals')
    .addColumn('gateway_id', 'text', (column) => column.primaryKey())
    .addColumn('booked_to', 'bigint', (column) => column.notNull())
    // Sequences of ends up to `booked_to` that are not booked.
    .addColumn('unbooked', 'jsonb', (column) => column.notNull())
    // The run of a gateway that owns the journal, so that a copy of its data directory is noticed.
    .addColumn('owner', 'text')
    .execute();
  let booked = schema
    .createTable('ledger_booked')
    .addColumn('gateway_id', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('generations', 'bigint', (column) => column.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('ledger_booked_key', ['gateway_id', 'account_id']);
  for (const name of BOOKED) {
    booked = booked.addColumn(name, 'numeric(38, 0)', (column) => column.notNull().defaultTo(0));
  }
  await booked.execute();
  await schema.createIndex('ledger_booked_by_account').on('ledger_booked').column('account_id').execute();
  await schema
    .createTable('ledger_gateways')
    .addColumn('gateway_id', 'text', (column) => column.primaryKey())
    .addColumn('seen_at_ms', 'bigint', (column) => column.notNull())
    .execute();
}
