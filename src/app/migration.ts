import type { DatabaseAddress } from '../kit/net/database-address.ts';
import type { SchemaState } from '../ports/installation/store-facts.ts';
import { embeddedDatabaseIn, openDataDirectory, requireKeptData } from '../store/directory/data-directory.ts';
import { readSqliteSchema } from '../store/examine/examine-sqlite.ts';
import { refuseOtherState } from '../store/open-embedded-state.ts';
import { databaseName, openPostgres, readPostgresSchema } from '../store/sql/postgres/open-postgres.ts';
import { refuseUnreleased } from '../store/sql/schema-state.ts';
import { openSqlite } from '../store/sql/sqlite/open-sqlite.ts';

export type { SchemaState } from '../ports/installation/store-facts.ts';

export interface MigrationTarget {
  readonly dataDir: string;
  /** PostgreSQL; absent = the embedded database of the data directory. */
  readonly database?: DatabaseAddress | undefined;
  /** 32 bytes in base64; the directory's own key when absent. */
  readonly encryptionKey?: string | undefined;
}

/** The name of the database in messages, without user and password. */
export function targetName({ dataDir, database }: MigrationTarget): string {
  return database === undefined ? embeddedDatabaseIn(dataDir) : databaseName(database);
}

/**
 * Compares the schema with the migrations of this program. Changes nothing; a gateway may be running. Rejects with a
 * DataDirectoryProblem for a database of a version before the first release, and for a directory in which no gateway
 * has kept data, unless the database is PostgreSQL.
 */
export async function examineSchema({ dataDir, database }: MigrationTarget): Promise<SchemaState> {
  const schema = await readSchemaOf(dataDir, database);
  refuseUnreleased(schema);
  return schema;
}

async function readSchemaOf(dataDir: string, database: DatabaseAddress | undefined): Promise<SchemaState> {
  if (database !== undefined) return readPostgresSchema(database);
  requireKeptData(dataDir);
  refuseOtherState({ directory: dataDir, databaseFile: embeddedDatabaseIn(dataDir) });
  return readSqliteSchema(embeddedDatabaseIn(dataDir));
}

/**
 * Applies what the schema lacks. Rejects with a DataDirectoryProblem if the database needs a newer program, or if a
 * gateway has the data directory of an embedded one open.
 */
export async function migrateSchema(target: MigrationTarget): Promise<void> {
  const { dataDir, database, encryptionKey } = target;
  if (database !== undefined) {
    await (await openPostgres(database, { nowMs: Date.now() })).close();
    return;
  }
  const directory = openDataDirectory(dataDir, encryptionKey);
  try {
    await (await openSqlite(directory.databaseFile, Date.now())).destroy();
  } finally {
    directory.close();
  }
}
