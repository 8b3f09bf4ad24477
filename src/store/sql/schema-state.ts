import type { SchemaState } from '../../ports/store-facts.ts';
import { MIGRATIONS } from './migrations/all.ts';
import type { Migration, SqlEngine } from './migrations/migration.ts';

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
