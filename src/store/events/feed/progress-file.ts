import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readIfExists, syncDirectory } from '../../directory/atomic-files.ts';

/** Progress of a feed, in a small file beside the events. */
export class ProgressFile<Progress> {
  readonly #file: string;
  readonly #isProgress: (value: unknown) => value is Progress;
  #written: Promise<unknown> = Promise.resolve();

  constructor(file: string, isProgress: (value: unknown) => value is Progress) {
    this.#file = file;
    this.#isProgress = isProgress;
  }

  /** The progress written last; undefined when unreadable, because feeding rows again does no harm. */
  read(): Progress | undefined {
    try {
      const content: unknown = JSON.parse(readIfExists(this.#file)?.toString() ?? 'null');
      return this.#isProgress(content) ? content : undefined;
    } catch {
      return undefined;
    }
  }

  /** Replaces the file atomically and durably. Writes are queued. */
  write(progress: Progress): Promise<void> {
    const written = this.#written.then(() => this.#write(progress));
    this.#written = written.catch(() => {});
    return written;
  }

  async #write(progress: Progress): Promise<void> {
    const draft = `${this.#file}.draft`;
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(JSON.stringify(progress));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, this.#file);
    await syncDirectory(dirname(this.#file));
  }
}
