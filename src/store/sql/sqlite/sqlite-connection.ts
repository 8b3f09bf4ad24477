import type Database from 'libsql';
import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';

/** Opens a file of SQLite, as a value that can be handed over. */
export type SqliteLibrary = typeof Database;

/** How a connection is opened. */
export interface SqliteSettings {
  readonly file: string;
  /** How long a statement waits for another connection that is writing, milliseconds. */
  readonly busyMs: number;
  readonly pragmas: readonly string[];
}

/** Opens a connection. Uses nothing from outside of itself: the thread that writes gets its source text. */
export function connectSqlite(Library: SqliteLibrary, settings: SqliteSettings): Database.Database {
  const connection = new Library(settings.file, { timeout: settings.busyMs });
  try {
    for (const pragma of settings.pragmas) connection.pragma(pragma);
    // Without it whole numbers above 2^53 come back rounded.
    connection.defaultSafeIntegers(true);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Codes of SQLite that mean it cannot work now: somebody else has the lock, the disk is full, fails or cannot be written. */
const UNAVAILABLE = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)/;

/** An error of SQLite: as a DatabaseUnavailable where it says that the database cannot work now. */
export function sqliteProblemOf(error: unknown): unknown {
  return UNAVAILABLE.test(codeOf(error)) ? new DatabaseUnavailable(error) : error;
}
