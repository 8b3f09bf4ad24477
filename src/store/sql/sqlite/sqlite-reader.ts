import { isInTime } from '../../../kit/loop/is-in-time.ts';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import type { SqliteThread } from './sqlite-thread.ts';

/** Longest wait for earlier reads, milliseconds. */
const TURN_MS = 5_000;

/** Longest time of a read, milliseconds. */
const READ_MS = 30_000;

/**
 * Reads a database in a worker thread, one read at a time: even a read writes to SQLite's shared memory file, which
 * blocks while the file system is frozen. The thread starts with the first read, and is replaced when it ends.
 */
export class SqliteReader {
  readonly #openThread: () => SqliteThread;
  #thread: SqliteThread | undefined;
  /** Settles once all reads asked for by now have ended. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(openThread: () => SqliteThread) {
    this.#openThread = openThread;
  }

  /** The rows of a statement. Rejects with DatabaseUnavailable when a retry may help. */
  async all(sql: string, parameters: readonly unknown[]): Promise<readonly unknown[]> {
    let rows: readonly unknown[] = [];
    let isGivenUp = false;
    const before = this.#last;
    const reading = before.then(async () => {
      if (!isGivenUp) rows = (await this.#running().run(sql, parameters)).rows;
    });
    this.#last = reading.catch(() => {});
    if (await isInTime(before, TURN_MS)) {
      if (await isInTime(reading, READ_MS)) return rows;
    } else isGivenUp = true;
    // Its failure is that of a read that is no longer waited for.
    reading.catch(() => {});
    throw new DatabaseUnavailable();
  }

  /** Ends the thread after its current read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close();
  }

  #running(): SqliteThread {
    if (this.#isClosed) throw new DatabaseUnavailable();
    if (this.#thread === undefined || this.#thread.isEnded) this.#thread = this.#openThread();
    return this.#thread;
  }
}
