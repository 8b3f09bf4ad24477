import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';

/** Codes of SQLite that mean it cannot work now: somebody else has the lock, the disk is full, fails or cannot be written. */
const UNAVAILABLE = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)/;

/** An error of SQLite: as a DatabaseUnavailable where it says that the database cannot work now. */
export function sqliteProblemOf(error: unknown): unknown {
  return UNAVAILABLE.test(codeOf(error)) ? new DatabaseUnavailable(error) : error;
}
