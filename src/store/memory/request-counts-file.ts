import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../kit/json/json.ts';
import type { Log } from '../../kit/log/log.ts';
import { readIfThere } from '../directory/whole-files.ts';
import type { DayCount, MemoryLimiter } from './memory-limiter.ts';

/** A file of so many bytes has more keys than anybody counts. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The requests of the day, beside the other files of the data directory: a restart does not begin a new day. */
export class RequestCountsFile {
  readonly #file: string;

  constructor(dataDirectory: string) {
    this.#file = join(dataDirectory, 'request-counts.json');
  }

  /** What was written last. A file that cannot be read is as good as none: it is about one day. */
  read(): DayCount[] {
    try {
      const content: unknown = JSON.parse(readIfThere(this.#file, MOST_BYTES)?.toString() ?? '[]');
      return Array.isArray(content) ? content.filter(isDayCount) : [];
    } catch {
      return [];
    }
  }

  /** Survives the end of the process, not always that of the machine: it is about one day. */
  async write(counts: readonly DayCount[]): Promise<void> {
    const draft = `${this.#file}.draft`;
    await writeFile(draft, JSON.stringify(counts), { mode: 0o600 });
    await rename(draft, this.#file);
  }
}

function isDayCount(value: unknown): value is DayCount {
  return (
    isJsonObject(value) &&
    typeof value.name === 'string' &&
    typeof value.subject === 'string' &&
    Number.isSafeInteger(value.day) &&
    Number.isSafeInteger(value.requests)
  );
}

/** How often the requests of the day are written down, milliseconds: so many may be forgotten by a crash. */
const EVERY_MS = 1_000;

/** Writes the requests of the day down every second while there are any, and at the end. */
export function keepCounts(
  limiter: MemoryLimiter,
  file: RequestCountsFile,
  log: Pick<Log, 'warn'>,
): { close(): Promise<void> } {
  let written = limiter.changes;
  let isFailing = false;
  const write = async () => {
    const { changes } = limiter;
    if (changes === written) return;
    try {
      await file.write(limiter.days());
      written = changes;
      isFailing = false;
    } catch (error) {
      if (!isFailing) {
        log.warn('the requests of the day cannot be written down; a restart would forget them', { error });
      }
      isFailing = true;
    }
  };
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing.then(write);
  }, EVERY_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      await writing.then(write);
    },
  };
}
