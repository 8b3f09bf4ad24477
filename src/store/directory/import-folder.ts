import { chownSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeDirectory } from './whole-files.ts';

/** A place for what is on its way in, made for one import by one process. */
export interface ImportPlace {
  readonly name: string;
  readonly file: string;
  /** Lets whoever owns the data directory read the file, once it is written. */
  share(): void;
  remove(): void;
}

const FILE = 'events.duckdb';

/** The process that made it, then what makes it unique. */
const NAME = /^(\d{1,10})-[A-Za-z0-9]{6}$/;

/** What outlives this was left behind, whoever has the number of its process by now, milliseconds. */
const MAX_AGE_MS = 86_400_000;

/** The places of imports in a data directory: what is in them was never taken in, and can be made again. */
export class ImportFolder {
  readonly #dataDir: string;
  readonly #path: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#path = join(dataDir, 'imports');
  }

  /** Makes a place, in a data directory that is there. */
  open(): ImportPlace {
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

  /** The file in the place of this name; undefined where there is none. */
  fileOf(name: string): string | undefined {
    const file = join(this.#path, name, FILE);
    return NAME.test(name) && statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
  }

  /** Removes what processes left behind that ended before they could do so themselves. */
  removeLeftovers(nowMs: number): void {
    for (const name of namesIn(this.#path)) {
      const maker = NAME.exec(name)?.[1];
      if (maker === undefined) continue;
      const place = join(this.#path, name);
      if (isAlive(Number(maker)) && !isOld(place, nowMs)) continue;
      rmSync(place, { recursive: true, force: true });
    }
  }

  /** The superuser may import into the directory of a gateway that runs as somebody else. */
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
    // One of another user cannot be signalled, and is there.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
