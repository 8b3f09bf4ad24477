import { type Kysely, sql } from 'kysely';
import { countText } from '../../kit/text/count-text.ts';
import type { SchemaState } from '../../ports/installation/store-facts.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { MIGRATIONS } from './migrations/all.ts';
import type { Migration, SqlEngine } from './migrations/migration.ts';
import { newerSchemaText, refuseUnreleased, type SchemaRecords, schemaStateOf } from './schema-state.ts';
import type { Tables } from './tables.ts';

export interface MigrationOptions {
  readonly migrations?: readonly Migration[];
  readonly engine?: SqlEngine;
  /** Runs first in the transaction; locks out other processes that share the database. */
  readonly before?: (transaction: Kysely<Tables>) => Promise<void>;
  /** False: a schema that lacks something is refused instead of changed. */
  readonly mayChange?: boolean;
}

const TABLES_THERE: Readonly<Record<SqlEngine, string>> = {
  sqlite: "select name from sqlite_master where type = 'table'",
  postgres: 'select tablename as name from pg_tables where schemaname = any (current_schemas(false))',
};

/** Compares the schema of a database with the migrations of this program. Changes nothing. */
export async function readSchema(
  database: Kysely<Tables>,
  engine: SqlEngine,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaState> {
  return schemaStateOf(await readRecords(database, engine), engine, migrations);
}

/** Names of the tables that exist. */
export async function tablesThere(database: Kysely<Tables>, engine: SqlEngine): Promise<ReadonlySet<string>> {
  const { rows } = await sql.raw<{ name: string }>(TABLES_THERE[engine]).execute(database);
  return new Set(rows.map(({ name }) => name));
}

async function readRecords(database: Kysely<Tables>, engine: SqlEngine): Promise<SchemaRecords> {
  const tables = await tablesThere(database, engine);
  const applied = tables.has('schema_migrations')
    ? await database.selectFrom('schema_migrations').select('name').execute()
    : [];
  const required = tables.has('schema_requirements')
    ? await database.selectFrom('schema_requirements').select('requires').execute()
    : [];
  return { applied: applied.map(({ name }) => name), required: required.map(({ requires }) => requires) };
}

/**
 * Applies all missing migrations in one transaction. Rejects with a DataDirectoryProblem if the database needs a newer
 * program, or must be changed and may not be.
 */
export async function migrate(
  database: Kysely<Tables>,
  nowMs: number,
  { migrations = MIGRATIONS, engine = 'sqlite', before, mayChange = true }: MigrationOptions = {},
): Promise<void> {
  if (isUpToDate(await readSchema(database, engine, migrations), mayChange)) return;
  await database.transaction().execute(async (transaction) => {
    await before?.(transaction);
    // Another process may have been faster.
    const state = await readSchema(transaction, engine, migrations);
    if (isUpToDate(state, mayChange)) return;
    await createRecords(transaction);
    for (const migration of migrations) {
      // Migrations of the other engine are not recorded, so that a release without them can still open this database.
      if (!state.missing.includes(migration.name)) continue;
      await migration.up(transaction as unknown as Kysely<unknown>, engine);
      await record(transaction, migration, nowMs);
    }
  });
}

/** False if there is something to apply. Throws a DataDirectoryProblem if this program cannot go on. */
function isUpToDate(state: SchemaState, mayChange: boolean): boolean {
  refuseUnreleased(state);
  const { missing, required } = state;
  if (required.length > 0) {
    throw new DataDirectoryProblem(
      `the database ${newerSchemaText(required)}; start a newer release, or restore a backup`,
      false,
    );
  }
  if (missing.length > 0 && !mayChange) {
    throw new DataDirectoryProblem(
      `the schema of the database lacks ${countText(missing.length, 'migration')} (${missing.join(', ')}), and ` +
        'DATABASE_MIGRATE=false forbids to apply them at a start; run signalbox migrate first',
      false,
    );
  }
  return missing.length === 0;
}

async function createRecords({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('applied_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('schema_requirements')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('requires', 'text', (column) => column.notNull())
    .execute();
}

async function record(
  transaction: Kysely<Tables>,
  { name, requires }: Migration,
  nowMs: number,
): Promise<void> {
  await transaction.insertInto('schema_migrations').values({ name, applied_at_ms: nowMs }).execute();
  if (requires === undefined) return;
  await transaction.insertInto('schema_requirements').values({ name, requires }).execute();
}
