import type { SqliteDatabase } from '../sqlite/sqlite-database.ts';
import type { GenerationTableRow } from '../tables.ts';
import { SqlGenerationStore } from './sql-generation-store.ts';

const COLUMNS = [
  'id',
  'account_id',
  'workspace_id',
  'key_hash',
  'settled_at_ms',
  'credit_nanos',
  'byok_nanos',
  'written_off_nanos',
  'written_off_cause',
  'details',
] as const satisfies readonly (keyof GenerationTableRow)[];

const INSERT = `insert into generations (${COLUMNS.join(', ')}) values (${COLUMNS.map(() => '?').join(', ')})
  on conflict (id) do nothing`;

/** Rows of generations in the embedded database, with a prepared insert: every request adds a row. */
export function sqliteGenerationStore(database: SqliteDatabase): SqlGenerationStore {
  return new SqlGenerationStore(database, (rows) =>
    database.runForEach(
      INSERT,
      rows.map((row) => COLUMNS.map((name) => row[name])),
    ),
  );
}
