import { chownSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeDirectory } from './atomic-files.ts';

/** A directory for one import, created by one process. */
export interface ImportDirectory {
  readonly name: string;
  readonly file: string;
  /** Gives the finished file to the user that owns the data directory. */
  share(): void;
  remove(): void;
}

const FILE = 'events.duckdb';

/** Process id of its maker, then a unique suffix. */
const NAME = /^(\d{1,10})-[A-Za-z0-9]{6}$/;

/** Older directories are leftovers even if their process id is in use (again), milliseconds. */
const MAX_AGE_MS = 86_400_000;

/** The directories of imports in a data directory. Their content was not imported yet and can be prepared again. */
export class ImportFolder {
  readonly #dataDir: string;
  readonly #path: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#path = join(dataDir, 'imports');
  }

  /** Creates a directory for an import. The data directory must exist. */
  open(): ImportDirectory {
    makeDirectory(this.#path);
    const place = mkdtempSync(join(this.#path, `${process.pid}-`));
    const file = join(place, FILE);
    return {
      name: basename(place),
      file,
      share: () => this.#share([this.#path, place, file]),
      remove: () => rmSync(place, { recursive: true, force: true, maxRetries: 3 }),
    };
  }

  /** The file of the import with this name; undefined when there is none. */
  fileOf(name: string): string | undefined {
    const file = join(this.#path, name, FILE);
    return NAME.test(name) && statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
  }

  /** Removes directories whose process ended without removing them. */
  removeLeftovers(nowMs: number): void {
    for (const name of namesIn(this.#path)) {
      const maker = NAME.exec(name)?.[1];
      if (maker === undefined) continue;
      const place = join(this.#path, name);
      if (isAlive(Number(maker)) && !isOld(place, nowMs)) continue;
      rmSync(place, { recursive: true, force: true });
    }
  }

  /** Root may import into the directory of a gateway that runs as another user. */
  #share(paths: readonly string[]): void {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(this.#dataDir);
    for (const path of paths) chownSync(path, uid, gid);
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
