import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../ir/errors.ts';
import type { FileBytes, IncomingBytes } from '../../ports/content/files.ts';
import { makeDirectory, syncDirectory } from '../directory/atomic-files.ts';
import { codeOf } from '../sql/database-unavailable.ts';
import { DiskFloor } from './disk-floor.ts';
import { FILE_ID, requireFileId } from './file-id.ts';

const DRAFT_ENDING = '.draft';

/**
 * Opens a directory with one file for each id. Removes unfinished uploads of an earlier process. `floorBytes`: free
 * disk below which nothing is written; 0 = none.
 */
export async function openDiskFileBytes(
  directory: string,
  floorBytes: () => number = () => 0,
): Promise<FileBytes> {
  makeDirectory(directory);
  for (const name of await readdir(directory)) {
    if (name.endsWith(DRAFT_ENDING)) await rm(join(directory, name), { force: true });
  }
  return new DiskFileBytes(directory, floorBytes);
}

/** Reads contents from a directory that another process has open. */
export function diskFileReader(directory: string): Pick<FileBytes, 'read'> {
  return new DiskFileBytes(directory, () => 0);
}

class DiskFileBytes implements FileBytes {
  readonly #directory: string;

  readonly #floor: DiskFloor;

  constructor(directory: string, floorBytes: () => number) {
    this.#directory = directory;
    this.#floor = new DiskFloor(directory, floorBytes);
  }

  async receive(id: string): Promise<IncomingBytes> {
    const path = this.#pathOf(id);
    const draft = path + DRAFT_ENDING;
    await this.#floor.take(1);
    const handle = await open(draft, 'wx', 0o600).catch(refuseWhileDiskFails);
    return new Draft(handle, { draft, path, directory: this.#directory, floor: this.#floor });
  }

  async read(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const handle = await open(this.#pathOf(id), 'r').catch(unlessMissing);
    return handle?.createReadStream();
  }

  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true });
    await syncDirectory(this.#directory);
  }

  async ids(): Promise<string[]> {
    return (await readdir(this.#directory)).filter((name) => FILE_ID.test(name));
  }

  #pathOf(id: string): string {
    return join(this.#directory, requireFileId(id));
  }
}

interface DraftPlaces {
  readonly draft: string;
  readonly path: string;
  readonly directory: string;
  readonly floor: DiskFloor;
}

/** A file (0600) that gets its final name once its content is durable. */
class Draft implements IncomingBytes {
  readonly #handle: FileHandle;
  readonly #places: DraftPlaces;

  constructor(handle: FileHandle, places: DraftPlaces) {
    this.#handle = handle;
    this.#places = places;
  }

  async write(piece: Uint8Array): Promise<void> {
    await this.#places.floor.take(piece.length);
    for (let written = 0; written < piece.length; ) {
      const { bytesWritten } = await this.#handle.write(piece, written).catch(refuseWhileDiskFails);
      written += bytesWritten;
    }
  }

  keep(): Promise<void> {
    return this.#finish().catch(refuseWhileDiskFails);
  }

  async #finish(): Promise<void> {
    const { draft, path, directory } = this.#places;
    await this.#handle.sync();
    await this.#handle.close();
    await rename(draft, path);
    await syncDirectory(directory);
  }

  async discard(): Promise<void> {
    const { draft, path } = this.#places;
    // Fails if `keep` has closed it already.
    await this.#handle.close().catch(() => {});
    // What a failing disk keeps is removed later: drafts by the next start, content without a row by the next sweep.
    for (const name of [draft, path]) await rm(name, { force: true }).catch(unlessDiskFails);
  }
}

/** Codes of a disk that is full, mounted read-only or broken. */
const DISK_FAILURES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

function unlessDiskFails(error: unknown): void {
  if (!DISK_FAILURES.has(codeOf(error))) throw error;
}

/** A 503 in place of the failure of a disk. */
function refuseWhileDiskFails(error: unknown): never {
  unlessDiskFails(error);
  const message = 'Service temporarily unavailable: files cannot be stored at the moment';
  throw new GatewayError('overloaded', message, { retryAfterSeconds: 10, cause: error });
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
