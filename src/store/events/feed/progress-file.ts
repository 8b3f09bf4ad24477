import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readIfThere, syncDirectory } from '../../directory/whole-files.ts';

/** How far the events have come, in a small file beside theirs. */
export class ProgressFile<Progress> {
  readonly #file: string;
  readonly #isProgress: (value: unknown) => value is Progress;
  #written: Promise<unknown> = Promise.resolve();

  constructor(file: string, isProgress: (value: unknown) => value is Progress) {
    this.#file = file;
    this.#isProgress = isProgress;
  }

  /** What was written last; undefined also for what cannot be read: handing over twice changes nothing. */
  read(): Progress | undefined {
    try {
      const content: unknown = JSON.parse(readIfThere(this.#file)?.toString() ?? 'null');
      return this.#isProgress(content) ? content : undefined;
    } catch {
      return undefined;
    }
  }

  /** Writes it whole, for good, after what was given before. */
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
