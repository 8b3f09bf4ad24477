import { randomBytes } from 'node:crypto';
import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EncryptionKeyKeeper } from '../../ports/installation/encryption-keys.ts';
import { makeDirectory } from './atomic-files.ts';
import { DataDirectoryProblem } from './data-directory-problem.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { EncryptionKeyFiles, KEY_BYTES, readOrMakeSecret } from './secret-files.ts';
import { assertRestored, UNFINISHED_RESTORE_FILE } from './unfinished-restore.ts';

/** The gateway's data directory, locked by this process. */
export interface DataDirectory {
  /** Absolute. */
  readonly path: string;
  readonly databaseFile: string;
  /** 32 bytes that key the hashes of end-user ids; created once, never shown. */
  readonly hashKey: Buffer;
  readonly encryptionKeys: EncryptionKeyKeeper;
  /** Problems that do not prevent its use; whole sentences for the operator. */
  readonly warnings: readonly string[];
  close(): void;
}

export const HASH_KEY_FILE = 'hash-key';

/** Names that only a gateway creates in a data directory, after its secrets. */
export const GATEWAY_TRACES = ['journal', 'outbox', 'signalbox.sqlite'] as const;

export function embeddedDatabaseIn(path: string): string {
  return join(path, 'signalbox.sqlite');
}

/** Whether a gateway has kept data in a directory, or a restore has begun there. */
export function hasKeptData(path: string): boolean {
  return [HASH_KEY_FILE, ...GATEWAY_TRACES, UNFINISHED_RESTORE_FILE].some((name) =>
    mayExist(join(path, name)),
  );
}

/**
 * Throws a DataDirectoryProblem for a directory without a gateway's data, so that a command does not take a mistyped
 * name for a new installation.
 */
export function requireKeptData(path: string): void {
  if (hasKeptData(path)) return;
  throw new DataDirectoryProblem(
    `no gateway has kept data in ${path}; name its data directory with --data-dir or SIGNALBOX_DATA_DIR, or start ` +
      'a gateway there first with signalbox serve',
    false,
  );
}

/** False only if the name is certainly not there: a directory that cannot be read is reported when it is opened. */
function mayExist(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

const FILE_IN_ITS_PLACE =
  'a file has its name, or that of a folder above it; move the file away or choose another with --data-dir';

const ADVICE: Readonly<Record<string, string>> = {
  EEXIST: FILE_IN_ITS_PLACE,
  ENOTDIR: FILE_IN_ITS_PLACE,
  ENOSPC: 'its disk is full; make room or choose another with --data-dir',
  EDQUOT: 'the quota of its user is used up; make room or choose another with --data-dir',
  EROFS: 'its disk is read-only; mount it writable or choose another with --data-dir',
};

/** With the number of the user: in a container that is what the owner of a mounted folder must be. */
const OTHER_ADVICE = `choose another with --data-dir or make it writable for ${
  process.getuid === undefined ? 'this user' : `user ${process.getuid()}`
}`;

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
      databaseFile: embeddedDatabaseIn(path),
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
      `the data directory ${path} cannot be used (${code}); ${ADVICE[code] ?? OTHER_ADVICE}`,
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
