import { randomBytes } from 'node:crypto';
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { EncryptionKeyKeeper } from '../../ports/encryption-keys.ts';
import { makeDirectory } from './atomic-files.ts';
import { DataDirectoryProblem } from './data-directory-problem.ts';
import { EncryptionKeyFiles, KEY_BYTES, readOrMakeSecret } from './secret-files.ts';
import { assertRestored } from './unfinished-restore.ts';

/** The gateway's data directory, locked by this process. */
export interface DataDirectory {
  /** Absolute. */
  readonly path: string;
  readonly databaseFile: string;
  /** 32 bytes that key the hashes of end-user ids; created once, never shown. */
  readonly hashKey: Buffer;
  /** The key that encrypts stored credentials. */
  readonly encryptionKeys: EncryptionKeyKeeper;
  /** Problems that do not prevent its use; whole sentences for the operator. */
  readonly warnings: readonly string[];
  /** Releases the lock. */
  close(): void;
}

/** The name of the file with the key of the hashes. */
export const HASH_KEY_FILE = 'hash-key';

/**
 * Creates the directory if necessary (0700) and locks it until `close` or the end of the process. `givenEncryptionKey`
 * is base64; without one the directory's own key is used, and created if necessary.
 */
export function openDataDirectory(path: string, givenEncryptionKey?: string): DataDirectory {
  let lock: DirectoryLock | undefined;
  try {
    const isNew = makeDirectory(path);
    lock = lockDirectory(path);
    assertRestored(path);
    return {
      path,
      databaseFile: join(path, 'signalbox.sqlite'),
      hashKey: readHashKey(path),
      encryptionKeys: new EncryptionKeyFiles(path, givenEncryptionKey),
      warnings: isNew ? [] : openToOthers(path),
      close: lock.release,
    };
  } catch (error) {
    lock?.release();
    if (error instanceof DataDirectoryProblem) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new DataDirectoryProblem(
      `the data directory ${path} cannot be used (${code}); choose another with --data-dir or make it writable`,
      false,
      error,
    );
  }
}

/** The key of the hashes, which is made if it is not there. */
export function readHashKey(directory: string): Buffer {
  return readOrMakeSecret(join(directory, HASH_KEY_FILE), {
    read: (bytes) => bytes,
    make: () => randomBytes(KEY_BYTES),
  });
}

/** Warns of permissions for other users. They are not changed: the operator may have chosen them. */
function openToOthers(path: string): string[] {
  const mode = statSync(path).mode & 0o777;
  // Systems without user ids have no such modes.
  if (process.getuid === undefined || (mode & 0o077) === 0) return [];
  const shown = mode.toString(8).padStart(4, '0');
  return [
    `the data directory ${path} is open to other users (mode ${shown}); close it with chmod 700 ${path}`,
  ];
}

/** The lock on a data directory. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Locks a data directory. Throws a DataDirectoryProblem while another process has it. The lock is an open SQLite
 * transaction: the system drops it with the process, even after kill -9.
 */
export function lockDirectory(path: string): DirectoryLock {
  const file = join(path, 'lock');
  closeSync(openSync(file, 'a', 0o600));
  const holder = new Database(file, { timeout: 0 });
  try {
    holder.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    holder.close();
    const code = (error as { code?: string }).code;
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') {
      throw new DataDirectoryProblem(
        `${file} is not a lock file (${code}); it never holds anything, so it can be removed`,
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
