import type { SchemaState } from '../../ports/installation/store-facts.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { MIGRATIONS } from './migrations/all.ts';
import type { Migration, SqlEngine } from './migrations/migration.ts';

export interface SchemaRecords {
  readonly applied: readonly string[];
  /** Names of the migrations that programs must know, because others rely on it: see `Migration.requires`. */
  readonly required: readonly string[];
}

/** The first of the migrations that became one before the first release. */
const BEFORE_RELEASES = '0001-tenancy';

/** Compares the records of a database with the migrations of this program. */
export function schemaStateOf(
  { applied, required }: SchemaRecords,
  engine: SqlEngine,
  migrations: readonly Migration[] = MIGRATIONS,
): SchemaState {
  const isUnreleased = applied.includes(BEFORE_RELEASES);
  const known = new Set(migrations.map(({ name }) => name));
  const own = migrations.filter((migration) => (migration.engine ?? engine) === engine);
  return {
    missing: own.map(({ name }) => name).filter((name) => !applied.includes(name)),
    newer: isUnreleased ? [] : applied.filter((name) => !known.has(name)),
    required: [...new Set(required)].filter((name) => !known.has(name)),
    isUnreleased,
  };
}

/** Why this program cannot work with a database of a newer release, in words that follow the database's name. */
export function newerSchemaText(required: readonly string[]): string {
  return `was changed by a release that this one is too old to work beside (it needs ${required.join(', ')})`;
}

/** Why no release can work with a database of a version before them, in words that follow the database's name. */
export const UNRELEASED_TEXT = 'was made by a version before 0.1.0, which no release reads';

export const UNRELEASED_ADVICE =
  'start with a new data directory (with DATABASE_URL: a new database too), or go on with the version that made this one';

/** Throws a DataDirectoryProblem for a database of a version before the first release. */
export function refuseUnreleased({ isUnreleased }: SchemaState): void {
  if (isUnreleased) {
    throw new DataDirectoryProblem(`the database ${UNRELEASED_TEXT}; ${UNRELEASED_ADVICE}`, false);
  }
}
