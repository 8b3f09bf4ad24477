import { closeSync, existsSync, openSync } from 'node:fs';
import Database from 'libsql';
import { sqliteFileProblem } from '../sql/sqlite/open-sqlite.ts';

/** How long a statement waits for a writer, milliseconds. */
const BUSY_MS = 10_000;

/** Copies a database as of one moment, while others write it; false if there is none. */
export async function copySqlite(from: string, to: string): Promise<boolean> {
  if (!existsSync(from)) return false;
  // SQLite writes into an empty file, which has the right mode from the beginning.
  closeSync(openSync(to, 'wx', 0o600));
  try {
    const source = new Database(from, { timeout: BUSY_MS });
    try {
      source.prepare('VACUUM INTO ?').run(to);
    } finally {
      source.close();
    }
    return true;
  } catch (error) {
    throw sqliteFileProblem(from, error);
  }
}

/**
 * Deletes rows of files from a copy whose content is not there because the file was deleted after the copy was made.
 * True if there is a copy.
 */
export function dropRowsOfDeletedFiles(
  original: string,
  copy: string,
  hasContent: (id: string) => boolean,
): boolean {
  if (!existsSync(copy)) return false;
  const target = new Database(copy);
  try {
    const missing = idsOf(target).filter((id) => !hasContent(id));
    if (missing.length === 0) return true;
    const source = new Database(original, { timeout: BUSY_MS });
    try {
      const left = new Set(idsOf(source));
      const remove = target.prepare('delete from files where id = ?');
      for (const id of missing) if (!left.has(id)) remove.run(id);
    } finally {
      source.close();
    }
    return true;
  } finally {
    target.close();
  }
}

function idsOf(database: Database.Database): string[] {
  const tables = database.prepare("select name from sqlite_master where name = 'files'").all();
  if (tables.length === 0) return [];
  return (database.prepare('select id from files').all() as { id: string }[]).map(({ id }) => id);
}
