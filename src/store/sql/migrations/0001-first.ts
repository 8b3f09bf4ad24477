import { sql } from 'kysely';
import { CHANGES } from './first/changes.ts';
import { createGenerations } from './first/generations.ts';
import { LEDGER_BOOKING } from './first/ledger-booking.ts';
import { LEDGER_FUNCTIONS } from './first/ledger-functions.ts';
import { createLedgerJournals, createLedgerTables } from './first/ledger-tables.ts';
import { createRecords } from './first/records.ts';
import { SHARED_MEMORY } from './first/shared-memory.ts';
import { createTenancy } from './first/tenancy.ts';
import { createWorkspaceRules } from './first/workspace-rules.ts';
import type { Migration } from './migration.ts';

/** The schema of the first release. */
export const firstMigration: Migration = {
  name: '0001-first',
  async up(database, engine) {
    const { schema } = database;
    await createTenancy(schema);
    await createWorkspaceRules(schema);
    await createRecords(schema);
    await createGenerations(database, engine);
    await createLedgerTables(schema, engine);
    if (engine === 'sqlite') return;
    await createLedgerJournals(schema);
    for (const statement of [...SHARED_MEMORY, ...LEDGER_FUNCTIONS, LEDGER_BOOKING, ...CHANGES]) {
      await sql.raw(statement).execute(database);
    }
  },
};
