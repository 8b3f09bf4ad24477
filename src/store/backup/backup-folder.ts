import { chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessDirectory, ProcessFolder } from '../directory/process-folder.ts';

export const BACKUP_FOLDER = 'backups';

const EVENTS_FILE = 'events.duckdb';

/** A backup that one process is making: while its directory exists, the journal keeps all segments. */
export interface RunningBackup extends ProcessDirectory {
  /** Where the gateway puts its copy of the events. */
  readonly eventsFile: string;
}

/** The backups of a data directory that are being made. */
export class BackupFolder {
  readonly #dataDir: string;
  readonly #folder: ProcessFolder;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#folder = new ProcessFolder(dataDir, BACKUP_FOLDER);
  }

  open(): RunningBackup {
    const directory = this.#folder.open();
    this.#share([this.#folder.path, directory.path]);
    return { ...directory, eventsFile: join(directory.path, EVENTS_FILE) };
  }

  /** Where the events of the backup with this name go; undefined when there is no such backup. */
  eventsFileOf(name: string): string | undefined {
    const path = this.#folder.pathOf(name);
    if (path === undefined || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    return join(path, EVENTS_FILE);
  }

  isInUse(nowMs: number): boolean {
    return this.#folder.isInUse(nowMs);
  }

  /** Removes what backups that were cut off have left, unless the disk is read-only. */
  removeLeftovers(nowMs: number): void {
    try {
      this.#folder.removeLeftovers(nowMs);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
    }
  }

  /** Root may back up a gateway that runs as another user, which must be able to write here. */
  #share(paths: readonly string[]): void {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(this.#dataDir);
    for (const path of paths) chownSync(path, uid, gid);
  }
}
