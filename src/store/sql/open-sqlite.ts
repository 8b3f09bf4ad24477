import { closeSync, openSync } from 'node:fs';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { migrate } from './migrate.ts';
import type { Tables } from './tables.ts';

/** How long a statement waits for another process that is writing, milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/** Opens (and makes, if need be) the embedded database, brought to its newest shape. */
export async function openSqlite(file: string, nowMs: number): Promise<Kysely<Tables>> {
  // SQLite gives its side files the mode of the database itself, so that mode is set before it is opened.
  closeSync(openSync(file, 'a', 0o600));
  const connection = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  const database = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: connection as unknown as SqliteDatabase }),
  });
  try {
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    // Without it whole numbers above 2^53 come back rounded.
    connection.defaultSafeIntegers(true);
    await migrate(database, nowMs);
    return database;
  } catch (error) {
    await database.destroy();
    throw error;
  }
}
