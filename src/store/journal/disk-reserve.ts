import { randomBytes } from 'node:crypto';
import { type JournalFiles, writeAll } from './journal-files.ts';

const NAME = 'reserve';
const BLOCK_BYTES = 65_536;

/**
 * Reserved room on the disk: a file of random bytes. When the disk is full the file is removed, so that work under way
 * can still be recorded.
 */
export class DiskReserve {
  readonly #files: JournalFiles;
  readonly #bytes: number;
  #isWhole = false;

  constructor(files: JournalFiles, bytes: number) {
    this.#files = files;
    this.#bytes = bytes;
  }

  /** Creates the file if necessary. Rejects when the disk has no room for it. */
  async fill(): Promise<void> {
    if (this.#isWhole || this.#bytes === 0) return;
    try {
      if (!(await this.#isThere())) await this.#write();
      this.#isWhole = true;
    } catch (error) {
      // A partial file would only take room from the records.
      await this.#files.remove(NAME).catch(() => {});
      throw error;
    }
  }

  /** Removes the file. True when that made room. */
  async release(): Promise<boolean> {
    if (!this.#isWhole) return false;
    this.#isWhole = false;
    return this.#files.remove(NAME).then(
      () => true,
      () => false,
    );
  }

  async #isThere(): Promise<boolean> {
    if (!(await this.#files.list()).includes(NAME)) return false;
    const file = await this.#files.open(NAME, 'read');
    try {
      return (await file.size()) === this.#bytes;
    } finally {
      await file.close();
    }
  }

  async #write(): Promise<void> {
    // Random, because some file systems do not allocate blocks for zeros.
    const block = randomBytes(Math.min(BLOCK_BYTES, this.#bytes));
    const file = await this.#files.open(NAME, 'create');
    try {
      for (let at = 0; at < this.#bytes; at += block.length) {
        await writeAll(file, block.subarray(0, this.#bytes - at), at);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
