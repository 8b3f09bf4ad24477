import { closeSync, openSync } from 'node:fs';
import { Kysely, type SqliteDatabase, SqliteDialect, sql } from 'kysely';
import Database from 'libsql';
import { DataDirectoryProblem } from '../data-directory-problem.ts';
import { migrate } from './migrate.ts';
import type { Tables } from './tables.ts';

/** How long a statement waits for another process that is writing, milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/** Opens (and makes, if need be) the embedded database, brought to its newest shape. Rejects with a DataDirectoryProblem. */
export async function openSqlite(file: string, nowMs: number): Promise<Kysely<Tables>> {
  // SQLite gives its side files the mode of the database itself, so that mode is set before it is opened.
  closeSync(openSync(file, 'a', 0o600));
  try {
    return await openConnection(file, nowMs);
  } catch (error) {
    throw problemOf(file, error);
  }
}

/** Empties the log of writes, which still has what was overwritten in the database itself. */
export async function emptyWriteLog(database: Kysely<Tables>): Promise<void> {
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(database);
}

async function openConnection(file: string, nowMs: number): Promise<Kysely<Tables>> {
  const connection = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  const database = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: connection as unknown as SqliteDatabase }),
  });
  try {
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    // What is deleted is overwritten: an encrypted secret must not outlive its credential in a free page.
    connection.pragma('secure_delete = ON');
    // Without it whole numbers above 2^53 come back rounded.
    connection.defaultSafeIntegers(true);
    await migrate(database, nowMs);
    return database;
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

/** Codes of SQLite that mean the content of the file is not what it should be. */
const DAMAGED = /^SQLITE_(?:NOTADB|CORRUPT)/;

/** What the engine says, in words that name the file and what to do; anything else as it is. */
function problemOf(file: string, error: unknown): unknown {
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return error;
  const message = DAMAGED.test(code)
    ? `the database ${file} is damaged or is not a database (${code}); put it back from a backup, or move it and the files beside it that begin with its name away to start with an empty one`
    : `the database ${file} cannot be used (${code}); see that this user may write it and that the disk is not full`;
  return new DataDirectoryProblem(message, false, error);
}
