import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { askRunning, CommandRefused } from '../control/send-command.ts';
import { programVersion } from '../kit/program-version.ts';
import {
  type BackupOptions,
  backUpDirectory,
  type FinishedBackup,
} from '../store/backup/backup-directory.ts';
import { findState } from '../store/backup/find-state.ts';
import type { BackedUpState } from '../store/backup/manifest.ts';
import { requireKeptData } from '../store/directory/data-directory.ts';
import { DataDirectoryProblem, isDirectoryInUse } from '../store/directory/data-directory-problem.ts';
import { type DirectoryLock, lockForReading } from '../store/directory/directory-lock.ts';

export type { FinishedBackup } from '../store/backup/backup-directory.ts';
export type { BackedUpFile, Manifest } from '../store/backup/manifest.ts';
export { restoreDirectory } from '../store/backup/restore-directory.ts';
export { DataDirectoryProblem };

export interface BackupChoices
  extends Pick<BackupOptions, 'dataDir' | 'target' | 'withContent' | 'withEncryptionKey'> {
  /** The state by this process's environment, which may differ from the gateway's. */
  readonly configured: BackedUpState;
}

/** How long a gateway may take to start, or another command to end, milliseconds. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 100;

/**
 * Backs up a data directory. If a gateway has it open, that one only copies its events; everything else is done in
 * this process. If none has, the directory is locked meanwhile, and its disk may be full or read-only. The running
 * gateway, else the files of the directory, decide whether the state is in PostgreSQL: the environment of this process
 * may lack DATABASE_URL.
 */
export async function backUp({ configured, ...choices }: BackupChoices): Promise<FinishedBackup> {
  const options = { ...choices, program: programVersion(), now: () => Date.now() };
  requireKeptData(choices.dataDir);
  requireOutside(choices.target, choices.dataDir);
  const holder = await lockUnlessRunning(choices.dataDir);
  if ('state' in holder) {
    return backUpDirectory({
      ...options,
      state: holder.state ?? findState(choices.dataDir, configured),
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
    const state = findState(choices.dataDir, configured);
    return await backUpDirectory({ ...options, state, copyEvents: undefined });
  } finally {
    holder.release();
  }
}

/** A gateway that has the data directory open. */
interface RunningGateway {
  /** Undefined if its version cannot say. */
  readonly state: BackedUpState | undefined;
}

async function lockUnlessRunning(dataDir: string): Promise<DirectoryLock | RunningGateway> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return lockForReading(dataDir);
    } catch (error) {
      if (!isDirectoryInUse(error)) throw error;
      const running = await findRunning(dataDir);
      if (running !== undefined) return running;
      if (performance.now() > giveUpAt) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** Undefined if no gateway answers. */
async function findRunning(dataDir: string): Promise<RunningGateway | undefined> {
  try {
    return await askRunning(dataDir, 'backup.state', {});
  } catch (error) {
    if (!(error instanceof CommandRefused)) throw error;
    // An older gateway does not know the command.
    const accounts = await askRunning(dataDir, 'accounts.list', {}).catch(() => undefined);
    return accounts && { state: undefined };
  }
}

/** Throws a DataDirectoryProblem for a target in the data directory: later backups would copy this one. */
function requireOutside(target: string, dataDir: string): void {
  const [way = ''] = relative(realPathOf(dataDir), realPathOf(target)).split(sep);
  if (way === '..') return;
  throw new DataDirectoryProblem(
    `${target} is in the data directory ${dataDir}; name a directory outside it for the backup`,
    false,
  );
}

/** The path without symbolic links; its last parts may be missing, or be below a file. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENOTDIR'].includes(code) || parent === path) throw error;
    return join(realPathOf(parent), basename(path));
  }
}
