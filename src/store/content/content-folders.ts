import { lstat, mkdir, readdir, readFile, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentRetention } from '../../ports/content/content.ts';
import { arrivalOfFile, type ContentPath, isDay, rangeOfDay } from './content-path.ts';
import type { ContentFiles } from './queued-content-store.ts';

const FILES_AT_ONCE = 32;

/** One folder for each day, with its size in bytes: counted once, then kept up to date. */
export class ContentFolders implements ContentFiles {
  readonly #directory: string;
  readonly #bytes = new Map<string, number>();
  /** Files written while `count` runs. */
  readonly #countedAlready = new Set<string>();
  #isCounted = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Bytes of all files counted so far. */
  get bytes(): number {
    let sum = 0;
    for (const bytes of this.#bytes.values()) sum += bytes;
    return sum;
  }

  /** Counts the files of earlier processes. */
  async count(): Promise<void> {
    this.#bytes.clear();
    this.#countedAlready.clear();
    for (const day of await this.#days()) {
      for (const files of slicesOf(await this.#filesOf(day))) {
        const sizes = await Promise.all(files.map((file) => this.#sizeOf({ day, file })));
        for (const [index, size] of sizes.entries()) {
          if (!this.#countedAlready.has(files[index] as string)) this.#add(day, size);
        }
      }
    }
    this.#isCounted = true;
    this.#countedAlready.clear();
  }

  /** Writes a file (0600) into its folder (0700), which is created if necessary. A partial file is removed. */
  async write(path: ContentPath, bytes: Uint8Array): Promise<void> {
    const file = this.#pathOf(path);
    if (!this.#isCounted) this.#countedAlready.add(path.file);
    await mkdir(join(this.#directory, path.day), { recursive: true, mode: 0o700 });
    try {
      await writeFile(file, bytes, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await unlink(file).catch(() => {});
      throw error;
    }
    this.#add(path.day, bytes.length);
  }

  async read(path: ContentPath): Promise<Buffer | undefined> {
    return readFile(this.#pathOf(path)).catch(unlessMissing(undefined));
  }

  async remove(path: ContentPath): Promise<boolean> {
    const size = await this.#sizeOf(path);
    const isRemoved = await unlink(this.#pathOf(path)).then(() => true, unlessMissing(false));
    if (isRemoved) this.#add(path.day, -size);
    return isRemoved;
  }

  async prune({ beforeMs, maxBytes }: ContentRetention): Promise<void> {
    for (const day of await this.#days()) {
      const isOld = rangeOfDay(day).beginMs < beforeMs;
      const excess = this.bytes - maxBytes;
      if (!isOld && excess <= 0) return;
      const isAllTooMuch = excess >= (this.#bytes.get(day) ?? 0) && excess > 0;
      if (rangeOfDay(day).endMs <= beforeMs || isAllTooMuch) await this.#removeDay(day);
      else await this.#thinOut(day, { beforeMs, maxBytes });
    }
  }

  async #removeDay(day: string): Promise<void> {
    await rm(join(this.#directory, day), { recursive: true, force: true });
    this.#bytes.delete(day);
  }

  /** Removes the oldest files of a day. */
  async #thinOut(day: string, { beforeMs, maxBytes }: ContentRetention): Promise<void> {
    for (const file of await this.#filesOf(day)) {
      if ((arrivalOfFile(file) ?? 0) >= beforeMs && this.bytes <= maxBytes) return;
      await this.remove({ day, file });
    }
    // Fails if a new file was written meanwhile.
    await rmdir(join(this.#directory, day)).catch(() => {});
  }

  /** Oldest first. */
  async #days(): Promise<string[]> {
    const names = await readdir(this.#directory).catch(unlessMissing<string[]>([]));
    return names.filter(isDay).sort();
  }

  /** Oldest first: names sort by time. */
  async #filesOf(day: string): Promise<string[]> {
    const names = await readdir(join(this.#directory, day)).catch(unlessMissing<string[]>([]));
    return names.sort();
  }

  async #sizeOf(path: ContentPath): Promise<number> {
    return lstat(this.#pathOf(path)).then(({ size }) => size, unlessMissing(0));
  }

  #add(day: string, bytes: number): void {
    this.#bytes.set(day, Math.max(0, (this.#bytes.get(day) ?? 0) + bytes));
  }

  #pathOf({ day, file }: ContentPath): string {
    return join(this.#directory, day, file);
  }
}

/** Replaces the error of a missing file or folder by a value. */
function unlessMissing<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  };
}

function* slicesOf(files: readonly string[]): Generator<readonly string[]> {
  for (let index = 0; index < files.length; index += FILES_AT_ONCE)
    yield files.slice(index, index + FILES_AT_ONCE);
}
