import type Database from 'libsql';
import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';

/** The constructor of the SQLite library, as a parameter. */
export type SqliteLibrary = typeof Database;

/** Settings of a connection. */
export interface SqliteSettings {
  readonly file: string;
  /** How long a statement waits for another writer, milliseconds. */
  readonly busyMs: number;
  readonly pragmas: readonly string[];
}

/** Opens a connection. Must not use outer names: the writer thread runs its source text. */
export function connectSqlite(Library: SqliteLibrary, settings: SqliteSettings): Database.Database {
  const connection = new Library(settings.file, { timeout: settings.busyMs });
  try {
    for (const pragma of settings.pragmas) connection.pragma(pragma);
    // Otherwise integers above 2^53 are rounded.
    connection.defaultSafeIntegers(true);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** SQLite codes of temporary failures, and what callers are told. */
const UNAVAILABLE: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_(?:BUSY|LOCKED)/, 'another program has locked the database'],
  [/^SQLITE_FULL/, 'the disk of the database is full'],
  [/^SQLITE_(?:IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)/, 'the database cannot be read or written'],
];

/** Maps temporary failures of SQLite to DatabaseUnavailable. */
export function sqliteProblemOf(error: unknown): unknown {
  const [, reason] = UNAVAILABLE.find(([codes]) => codes.test(codeOf(error))) ?? [];
  return reason === undefined ? error : new DatabaseUnavailable(error, reason);
}
