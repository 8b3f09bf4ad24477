import type { Migration } from './migration.ts';

const WINDOWS = ['daily', 'weekly', 'monthly'] as const;
const SUMS = ['lifetime', ...WINDOWS].flatMap((window) => [`credit_${window}`, `byok_${window}`]);
const MONEY = [...SUMS, 'reserved_credit', 'reserved_byok', 'granted_nanos', 'left_nanos'];

/**
 * Money of gateways that share a database: what each scope has spent and reserved, the reservations, and the grants
 * of accounts. The embedded ledger does not use these tables. Amounts are nano-dollars without a bound.
 */
export const ledgerMigration: Migration = {
  name: '0005-ledger',
  async up(database) {
    const { schema } = database;
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
  },
};
