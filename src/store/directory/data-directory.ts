import { randomBytes } from 'node:crypto';
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { EncryptionKeyKeeper } from '../../ports/encryption-keys.ts';
import { DataDirectoryProblem } from './data-directory-problem.ts';
import { EncryptionKeyFiles, KEY_BYTES, readOrMakeSecret } from './secret-files.ts';
import { makeDirectory } from './whole-files.ts';

/** Where the gateway keeps what it must not lose. Open for one process at a time. */
export interface DataDirectory {
  /** Absolute. */
  readonly path: string;
  readonly databaseFile: string;
  /** 32 bytes that key the hashes of end-user ids; made once, never shown. */
  readonly hashKey: Buffer;
  /** What encrypts stored credentials. */
  readonly encryptionKeys: EncryptionKeyKeeper;
  /** What the operator should mend although it can be used; whole sentences. */
  readonly warnings: readonly string[];
  /** Lets the next process in. */
  close(): void;
}

/** The name of the file with the key of the hashes. */
export const HASH_KEY_FILE = 'hash-key';

/**
 * Makes the directory if need be (0700) and locks it until it is closed or the process ends, however it ends.
 * `givenEncryptionKey` is base64; without one the directory's own is used and made if need be.
 */
export function openDataDirectory(path: string, givenEncryptionKey?: string): DataDirectory {
  let lock: DirectoryLock | undefined;
  try {
    const isNew = makeDirectory(path);
    lock = lockDirectory(path);
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

/** Whether others may enter is for whoever made the directory to decide, so it is told and not changed. */
function openToOthers(path: string): string[] {
  const mode = statSync(path).mode & 0o777;
  // Systems without users have no such modes either.
  if (process.getuid === undefined || (mode & 0o077) === 0) return [];
  const shown = mode.toString(8).padStart(4, '0');
  return [
    `the data directory ${path} is open to other users (mode ${shown}); close it with chmod 700 ${path}`,
  ];
}

/** A data directory that is held by this process. */
export interface DirectoryLock {
  /** Lets the next process in. */
  release(): void;
}

/**
 * Takes the lock of a data directory. Throws a DataDirectoryProblem while another process has it. The lock is a transaction
 * that never ends: the system drops it with the process, even after kill -9.
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
