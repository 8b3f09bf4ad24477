import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'libsql';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { codeOf } from '../sql/database-unavailable.ts';
import { readOnlyAddress, sqliteFileProblem } from '../sql/sqlite/open-sqlite.ts';
import { copyFile } from './copy-file.ts';
import { isTargetFull } from './target-problem.ts';

/** How long a statement waits for a writer, milliseconds. */
const BUSY_MS = 10_000;

/** Copies a database as of one moment, while others write it; false if there is none. */
export async function copySqlite(from: string, to: string): Promise<boolean> {
  if (!existsSync(from)) return false;
  vacuumInto(from, from, to);
  return true;
}

/** SQLite codes of a log that cannot be read because the index beside it cannot be made. */
const CANNOT_MAKE_INDEX = /^SQLITE_(?:IOERR|CANTOPEN|READONLY)/;

/**
 * Copies a database that no process has open; false if there is none. A write-ahead log, which a killed gateway leaves,
 * needs an index beside it. If its disk is full or read-only, the database and its log are copied to the target first.
 */
export async function copyClosedSqlite(from: string, to: string): Promise<boolean> {
  if (!existsSync(from)) return false;
  try {
    vacuumInto(from, readOnlyAddress(from), to);
    return true;
  } catch (error) {
    if (!(error instanceof DataDirectoryProblem && CANNOT_MAKE_INDEX.test(codeOf(error.cause)))) throw error;
  }
  rmSync(to);
  const draft = `${to}.draft`;
  const name = basename(from);
  for (const part of ['', '-wal']) await copyFile(dirname(from), draft, `${name}${part}`);
  vacuumInto(from, join(draft, name), to);
  rmSync(draft, { recursive: true });
  return true;
}

/**
 * Writes the rows of the database at an address into a new file. Throws the error of SQLite if the disk of that file is
 * full, else a DataDirectoryProblem that names `original`.
 */
function vacuumInto(original: string, address: string, to: string): void {
  // SQLite writes into an empty file, which has the right mode from the beginning.
  closeSync(openSync(to, 'wx', 0o600));
  try {
    const source = new Database(address, { timeout: BUSY_MS });
    try {
      source.prepare('VACUUM INTO ?').run(to);
    } finally {
      source.close();
    }
  } catch (error) {
    throw isTargetFull(error) ? error : sqliteFileProblem(original, error);
  }
}

/**
 * Deletes rows of files from a copy whose content is not there because the file was deleted after the copy was made.
 */
export function dropRowsOfDeletedFiles(
  original: string,
  copy: string,
  hasContent: (id: string) => boolean,
): void {
  if (!existsSync(copy)) return;
  const target = new Database(copy);
  try {
    const missing = idsOf(target).filter((id) => !hasContent(id));
    if (missing.length === 0) return;
    const source = new Database(original, { timeout: BUSY_MS });
    try {
      const left = new Set(idsOf(source));
      const remove = target.prepare('delete from files where id = ?');
      for (const id of missing) if (!left.has(id)) remove.run(id);
    } finally {
      source.close();
    }
  } finally {
    target.close();
  }
}

function idsOf(database: Database.Database): string[] {
  const tables = database.prepare("select name from sqlite_master where name = 'files'").all();
  if (tables.length === 0) return [];
  return (database.prepare('select id from files').all() as { id: string }[]).map(({ id }) => id);
}
