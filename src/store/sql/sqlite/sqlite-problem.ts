import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';

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
