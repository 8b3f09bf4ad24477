import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Functions that read tallies look them up in the index. A payer has four of them at most, but PostgreSQL takes a list
 * in JSON for a hundred rows: up to some thousand keys it would read the whole table for each list, and hash it.
 */
export const tallyLookupsMigration: Migration = {
  name: '0027-tally-lookups',
  engine: 'postgres',
  async up(database) {
    for (const signature of READERS_OF_TALLIES) {
      await sql.raw(`alter function ${signature} set enable_hashjoin = off`).execute(database);
      await sql.raw(`alter function ${signature} set enable_mergejoin = off`).execute(database);
    }
  },
};

const READERS_OF_TALLIES = [
  'ledger_lock(jsonb)',
  'ledger_change(jsonb, bigint)',
  'ledger_remainders(jsonb, jsonb, bigint)',
  'ledger_tallies_of(jsonb)',
];
