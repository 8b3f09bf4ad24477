import { MIGRATIONS } from './migrations/all.ts';
import type { Migration, SqlEngine } from './migrations/migration.ts';

/** How the schema of a database compares with the migrations that this program knows. */
export interface SchemaState {
  /** Migrations that the database lacks, in the order in which they are applied. */
  readonly missing: readonly string[];
  /** Applied migrations of a newer release. They only add, so that this program can work beside that release. */
  readonly newer: readonly string[];
  /** Migrations that a program must know to work with this database, and that this one does not know. */
  readonly required: readonly string[];
}

/** Records in a database of what was applied to it. */
export interface SchemaRecords {
  /** Names of the applied migrations. */
  readonly applied: readonly string[];
  /** Names of the migrations that programs must know, because others rely on it: see `Migration.requires`. */
  readonly required: readonly string[];
}

/** Compares the records of a database with the migrations of this program. */
export function schemaStateOf(
  { applied, required }: SchemaRecords,
  engine: SqlEngine,
  migrations: readonly Migration[] = MIGRATIONS,
): SchemaState {
  const known = new Set(migrations.map(({ name }) => name));
  const own = migrations.filter((migration) => (migration.engine ?? engine) === engine);
  return {
    missing: own.map(({ name }) => name).filter((name) => !applied.includes(name)),
    newer: applied.filter((name) => !known.has(name)),
    required: [...new Set(required)].filter((name) => !known.has(name)),
  };
}

/** Why this program cannot work with a database of a newer release, in words that follow the database's name. */
export function newerSchemaText(required: readonly string[]): string {
  return `was changed by a release that this one is too old to work beside (it needs ${required.join(', ')})`;
}
