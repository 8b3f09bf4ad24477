import { setTimeout as delay } from 'node:timers/promises';
import { askRunning } from './control/send-command.ts';
import { isDirectoryInUse } from './installation.ts';
import { programVersion } from './kit/program-version.ts';
import { type BackupOptions, backUpDirectory, type FinishedBackup } from './store/backup/backup-directory.ts';
import { type DirectoryLock, lockDirectory } from './store/directory/data-directory.ts';
import { DataDirectoryProblem } from './store/directory/data-directory-problem.ts';

export type { FinishedBackup } from './store/backup/backup-directory.ts';
export type { BackedUpFile, Manifest } from './store/backup/manifest.ts';
export { restoreDirectory } from './store/backup/restore-directory.ts';
export { DataDirectoryProblem };

/** Choices of the operator. */
export type BackupChoices = Pick<
  BackupOptions,
  'dataDir' | 'target' | 'state' | 'withContent' | 'withEncryptionKey'
>;

/** How long a gateway may take to start, or another command to end, milliseconds. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 100;

/**
 * Backs up a data directory. If a gateway has it open, that one only copies its events; everything else is done in
 * this process. If none has, the directory is locked meanwhile.
 */
export async function backUp(choices: BackupChoices): Promise<FinishedBackup> {
  const options = { ...choices, program: programVersion(), now: () => Date.now() };
  const lock = await lockUnlessRunning(choices.dataDir);
  if (lock === undefined) {
    return backUpDirectory({
      ...options,
      copyEvents: async ({ name }) => {
        const copied = await askRunning(choices.dataDir, 'backup.events', { place: name });
        if (copied === undefined) {
          throw new DataDirectoryProblem(
            'the gateway stopped during the backup; run the backup again',
            false,
          );
        }
        return copied.has_events;
      },
    });
  }
  try {
    return await backUpDirectory({ ...options, copyEvents: undefined });
  } finally {
    lock.release();
  }
}

/** The lock on a data directory; undefined if a gateway that answers has it. */
async function lockUnlessRunning(dataDir: string): Promise<DirectoryLock | undefined> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return lockExisting(dataDir);
    } catch (error) {
      if (!isDirectoryInUse(error)) throw error;
      if ((await askRunning(dataDir, 'accounts.list', {}).catch(() => undefined)) !== undefined)
        return undefined;
      if (performance.now() > giveUpAt) throw error;
      await delay(RETRY_MS);
    }
  }
}

function lockExisting(dataDir: string): DirectoryLock {
  try {
    return lockDirectory(dataDir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new DataDirectoryProblem(
        `there is no data directory ${dataDir}; name the gateway's with --data-dir`,
        false,
        error,
      );
    }
    throw error;
  }
}
