import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeDirectory } from './atomic-files.ts';

/** A directory that one process has created for its own work. */
export interface ProcessDirectory {
  readonly name: string;
  readonly path: string;
  remove(): void;
}

/** Process id of its maker, then a unique suffix. */
const NAME = /^(\d{1,10})-[A-Za-z0-9]{6}$/;

/** Older directories are leftovers even if their process id is in use (again), milliseconds. */
const MAX_AGE_MS = 86_400_000;

/** A folder of a data directory in which each process creates directories of its own. */
export class ProcessFolder {
  readonly path: string;

  constructor(dataDir: string, name: string) {
    this.path = join(dataDir, name);
  }

  /** Creates a directory for this process. The data directory must exist. */
  open(): ProcessDirectory {
    makeDirectory(this.path);
    const path = mkdtempSync(join(this.path, `${process.pid}-`));
    return {
      name: basename(path),
      path,
      remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
    };
  }

  /** The path of the directory with this name; undefined if no process can have created one with it. */
  pathOf(name: string): string | undefined {
    return NAME.test(name) ? join(this.path, name) : undefined;
  }

  /** Whether a process works in one of the directories. */
  isInUse(nowMs: number): boolean {
    return namesIn(this.path).some((name) => this.#isLeftover(name, nowMs) === false);
  }

  /** Removes directories whose process ended without removing them. */
  removeLeftovers(nowMs: number): void {
    for (const name of namesIn(this.path)) {
      if (this.#isLeftover(name, nowMs)) rmSync(join(this.path, name), { recursive: true, force: true });
    }
  }

  /** Undefined for names that no process has chosen. */
  #isLeftover(name: string, nowMs: number): boolean | undefined {
    const maker = NAME.exec(name)?.[1];
    if (maker === undefined) return undefined;
    return !isAlive(Number(maker)) || isOld(join(this.path, name), nowMs);
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function isOld(path: string, nowMs: number): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  return status !== undefined && nowMs - status.mtimeMs > MAX_AGE_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signalled (EPERM), but exists.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
