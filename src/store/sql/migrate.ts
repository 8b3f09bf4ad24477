import type { Kysely } from 'kysely';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { MIGRATIONS } from './migrations/all.ts';
import type { Migration, SqlEngine } from './migrations/migration.ts';
import type { Tables } from './tables.ts';

/** Options of `migrate`. */
export interface MigrationOptions {
  readonly migrations?: readonly Migration[];
  readonly engine?: SqlEngine;
  /** Runs first in the transaction; locks out other processes that share the database. */
  readonly before?: (transaction: Kysely<Tables>) => Promise<void>;
}

/** Applies all missing migrations in one transaction. */
export async function migrate(
  database: Kysely<Tables>,
  nowMs: number,
  { migrations = MIGRATIONS, engine = 'sqlite', before }: MigrationOptions = {},
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await before?.(transaction);
    await transaction.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('applied_at_ms', 'bigint', (column) => column.notNull())
      .execute();
    const rows = await transaction.selectFrom('schema_migrations').select('name').execute();
    const applied = new Set(rows.map(({ name }) => name));
    const unknown = [...applied].find((name) => !migrations.some((migration) => migration.name === name));
    if (unknown !== undefined) {
      throw new DataDirectoryProblem(
        `the database was written by a newer version (it has ${unknown}); start that version, or use ` +
          'another data directory',
        false,
      );
    }
    for (const migration of migrations) {
      // Migrations of the other engine are not recorded, so that a release without them can still open this database.
      if (applied.has(migration.name) || (migration.engine ?? engine) !== engine) continue;
      await migration.up(transaction as unknown as Kysely<unknown>);
      await transaction
        .insertInto('schema_migrations')
        .values({ name: migration.name, applied_at_ms: nowMs })
        .execute();
    }
  });
}
