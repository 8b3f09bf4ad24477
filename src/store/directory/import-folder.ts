import { chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ProcessFolder } from './process-folder.ts';

export interface ImportDirectory {
  readonly name: string;
  readonly file: string;
  /** Gives the finished file to the user that owns the data directory. */
  share(): void;
  remove(): void;
}

const FILE = 'events.duckdb';

/** The directories of imports in a data directory. Their content was not imported yet and can be prepared again. */
export class ImportFolder {
  readonly #dataDir: string;
  readonly #folder: ProcessFolder;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#folder = new ProcessFolder(dataDir, 'imports');
  }

  /** Creates a directory for an import. The data directory must exist. */
  open(): ImportDirectory {
    const { name, path, remove } = this.#folder.open();
    const file = join(path, FILE);
    return { name, file, remove, share: () => this.#share([this.#folder.path, path, file]) };
  }

  /** The file of the import with this name; undefined when there is none. */
  fileOf(name: string): string | undefined {
    const path = this.#folder.pathOf(name);
    if (path === undefined) return undefined;
    const file = join(path, FILE);
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
  }

  removeLeftovers(nowMs: number): void {
    this.#folder.removeLeftovers(nowMs);
  }

  /** Root may import into the directory of a gateway that runs as another user. */
  #share(paths: readonly string[]): void {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(this.#dataDir);
    for (const path of paths) chownSync(path, uid, gid);
  }
}
