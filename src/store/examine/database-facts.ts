import { MIGRATIONS } from '../sql/migrations/all.ts';
import type { Engine } from '../sql/migrations/migration.ts';

/** What is known of the database of an installation, whichever engine it is in. */
export interface DatabaseFacts {
  /** How long one question took, milliseconds. */
  readonly roundTripMs: number;
  readonly bytes: number;
  /** Steps to the newest shape that the next start takes. */
  readonly missingMigrations: readonly string[];
  /** A step that this program does not know: a newer one wrote the database. */
  readonly unknownMigration: string | undefined;
  /** Keys that stored credentials are encrypted under. */
  readonly encryptionKeyIds: readonly string[];
  /** When the last generation was settled, epoch milliseconds; undefined when none was. */
  readonly lastSettledAtMs: number | undefined;
  /** Whether an app has ever called. */
  readonly hasApps: boolean;
  /** Files that are stored, at most `MAX_EXAMINED_FILES` of them. */
  readonly files: readonly KnownFile[];
}

/** What the database says of the content of a stored file. */
export interface KnownFile {
  readonly id: string;
  readonly bytes: number;
}

/** The content of more files is not looked at. */
export const MAX_EXAMINED_FILES = 20_000;

/** Compares the steps that a database has taken with those that there are. */
export function shapeOf(
  applied: readonly string[],
  engine: Engine,
): Pick<DatabaseFacts, 'missingMigrations' | 'unknownMigration'> {
  const names = MIGRATIONS.map(({ name }) => name);
  const own = MIGRATIONS.filter((migration) => (migration.engine ?? engine) === engine);
  return {
    missingMigrations: own.map(({ name }) => name).filter((name) => !applied.includes(name)),
    unknownMigration: applied.find((name) => !names.includes(name)),
  };
}

/** The same question for both engines. */
export const QUESTIONS = {
  migrations: 'select name from schema_migrations',
  encryptionKeyIds:
    'select distinct encryption_key_id as id from byok_credentials where encryption_key_id is not null order by 1',
  lastSettled: 'select max(settled_at_ms) as at from generations',
  anApp: 'select id from apps limit 1',
  files: `select id, size_bytes as bytes from files order by id limit ${MAX_EXAMINED_FILES}`,
} as const;
