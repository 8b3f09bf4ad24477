import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import { DataDirectoryProblem } from './data-directory-problem.ts';

export interface DirectoryLock {
  release(): void;
}

/**
 * Locks a data directory. Throws a DataDirectoryProblem while another process has it. The lock is an open SQLite
 * transaction: the system drops it with the process, even after kill -9. It writes nothing into an existing lock file
 * or beside it, so that a full disk can be locked.
 */
export function lockDirectory(path: string): DirectoryLock {
  const file = lockFileIn(path);
  closeSync(openSync(file, 'a', 0o600));
  return hold(path, file, (holder) => {
    // The rollback journal of an empty database would be a file of its own.
    holder.pragma('journal_mode = MEMORY');
    holder.exec('BEGIN EXCLUSIVE');
  });
}

/**
 * `lockDirectory` for processes that only read. On a read-only disk a shared lock is taken: it needs no
 * writing, and excludes the lock of a process that sees the same directory through a writable mount.
 */
export function lockForReading(path: string): DirectoryLock {
  try {
    return lockDirectory(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
  }
  const file = lockFileIn(path);
  // Without the file no gateway has used the directory, for example a copy that was made without it.
  if (!existsSync(file)) return { release() {} };
  return hold(path, `${pathToFileURL(file).href}?mode=ro`, (holder) => {
    holder.exec('BEGIN');
    // The lock is taken by the first read.
    holder.prepare('select count(*) from sqlite_master').all();
  });
}

function lockFileIn(path: string): string {
  return join(path, 'lock');
}

/** Holds the lock that `take` takes until its release. `address`: of the lock file, a path or a URL. */
function hold(path: string, address: string, take: (holder: Database.Database) => void): DirectoryLock {
  const holder = new Database(address, { timeout: 0 });
  try {
    take(holder);
  } catch (error) {
    holder.close();
    const code = (error as { code?: string }).code;
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') {
      throw new DataDirectoryProblem(
        `${lockFileIn(path)} is not a lock file (${code}); it never holds anything, so it can be removed`,
        false,
        error,
      );
    }
    if (code !== 'SQLITE_BUSY') throw error;
    throw new DataDirectoryProblem(
      `the data directory ${path} is in use by another process; stop it, or choose another directory with --data-dir`,
      true,
      error,
    );
  }
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      holder.exec('ROLLBACK');
      holder.close();
    },
  };
}
