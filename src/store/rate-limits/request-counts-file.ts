import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../kit/json/json.ts';
import type { Log } from '../../kit/log/log.ts';
import { readIfExists } from '../directory/atomic-files.ts';
import { OutageLog } from '../outage-log.ts';
import type { DayCount, MemoryLimiter } from './memory-limiter.ts';

/** A larger file is not one of ours. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Counts of the current day in the data directory, so that a restart does not reset daily limits. */
export class RequestCountsFile {
  readonly path: string;

  constructor(dataDirectory: string) {
    this.path = join(dataDirectory, 'request-counts.json');
  }

  /** The counts written last; none when the file cannot be read, which costs at most one day's counts. */
  read(): DayCount[] {
    try {
      const content: unknown = JSON.parse(readIfExists(this.path, MAX_BYTES)?.toString() ?? '[]');
      return Array.isArray(content) ? content.map(withUsed).filter(isDayCount) : [];
    } catch {
      return [];
    }
  }

  /** Not synced: survives a crash of the process, not always a power loss. */
  async write(counts: readonly DayCount[]): Promise<void> {
    const draft = `${this.path}.draft`;
    await writeFile(draft, JSON.stringify(counts), { mode: 0o600 });
    await rename(draft, this.path);
  }
}

/** Files of earlier releases, which counted only requests, have them as `requests`. */
function withUsed(value: unknown): unknown {
  return isJsonObject(value) && value.used === undefined ? { ...value, used: value.requests } : value;
}

function isDayCount(value: unknown): value is DayCount {
  return (
    isJsonObject(value) &&
    typeof value.name === 'string' &&
    typeof value.subject === 'string' &&
    Number.isSafeInteger(value.day) &&
    Number.isSafeInteger(value.used)
  );
}

/** Interval between writes, milliseconds. A crash loses the counts of at most this time. */
const EVERY_MS = 1_000;

/** Writes the limiter's daily counts every second while they change, and on close. */
export function keepCounts(
  limiter: MemoryLimiter,
  file: RequestCountsFile,
  log: Pick<Log, 'warn'>,
): { close(): Promise<void> } {
  let written = limiter.changes;
  const outage = new OutageLog((message, fields) => log.warn(message, fields), {
    begins: 'the requests and tokens of the day cannot be written down; a restart would forget them',
    ends: 'the requests and tokens of the day are written down again',
    place: { path: file.path },
  });
  const write = async () => {
    const { changes } = limiter;
    if (changes === written) return;
    try {
      await file.write(limiter.days());
      written = changes;
      outage.worked();
    } catch (error) {
      outage.failed(error);
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
