import { isInTime } from '../../../kit/loop/is-in-time.ts';
import { OutageLog } from '../../outage-log.ts';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import type { SqliteAnswer, SqliteThread } from './sqlite-thread.ts';

export interface SqliteWriterOptions {
  openThread(): SqliteThread;
  readonly path: string;
  /** Logs when writing fails, and when it works again. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Longest wait for a turn, milliseconds. */
const TURN_MS = 5_000;

/** How long after a failed turn a write is tried if no other turn comes, milliseconds. */
const RETRY_MS = 1_000;

/** Changes no value, but writes a page. */
const TRIAL_WRITE = 'PRAGMA user_version = 0';

/**
 * Serializes all writes in a worker thread, which is replaced when it ends. While writing fails, it tries again by
 * itself, so that the end of an outage is logged even if no request writes.
 */
export class SqliteWriter {
  readonly #options: SqliteWriterOptions;
  #thread: SqliteThread | undefined;
  /** Tail of the queue: settles once all turns asked for by now have ended. */
  #last: Promise<void> = Promise.resolve();
  readonly #outage: OutageLog;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SqliteWriterOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.warn, {
      begins: 'the database cannot be written; requests that need it are refused',
      ends: 'the database can be written again',
      place: { path: options.path },
      steadyMs: 1_000,
    });
  }

  /** Waits for a turn; the caller must end it. Rejects with DatabaseUnavailable. */
  async takeTurn(): Promise<SqliteTurn> {
    const before = this.#last;
    let end = () => {};
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    if (this.#isClosed || !(await isInTime(before, TURN_MS))) {
      void before.then(end);
      throw new DatabaseUnavailable();
    }
    if (this.#thread === undefined || this.#thread.isEnded) {
      this.#thread = this.#options.openThread();
    }
    return new SqliteTurn(this.#thread, (failure) => {
      this.#noteOutcome(failure);
      end();
    });
  }

  /** Refuses new turns. Ends the thread after all queued turns, or after `TURN_MS`, and after `others`. */
  async close(others?: Promise<void>): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await isInTime(this.#last, TURN_MS);
    await others;
    this.#outage.close();
    await this.#thread?.close();
  }

  #noteOutcome(failure: DatabaseUnavailable | undefined): void {
    clearTimeout(this.#retry);
    if (failure === undefined) this.#outage.worked();
    else {
      this.#outage.failed(failure);
      if (!this.#isClosed) this.#retry = setTimeout(() => void this.#tryToWrite(), RETRY_MS).unref();
    }
  }

  /** Never rejects: the outcome is noted at the end of the turn. */
  async #tryToWrite(): Promise<void> {
    try {
      const turn = await this.takeTurn();
      await turn.run(TRIAL_WRITE).finally(() => turn.end());
    } catch {}
  }
}

/** Exclusive access to the writer thread. */
export class SqliteTurn {
  readonly #thread: SqliteThread;
  readonly #ended: (failure: DatabaseUnavailable | undefined) => void;
  #failure: DatabaseUnavailable | undefined;

  /** `ended` gets the DatabaseUnavailable of the turn, if there was one. */
  constructor(thread: SqliteThread, ended: (failure: DatabaseUnavailable | undefined) => void) {
    this.#thread = thread;
    this.#ended = ended;
  }

  /** Runs a statement; one at a time. */
  async run(sql: string, parameters?: readonly unknown[]): Promise<SqliteAnswer> {
    try {
      return await this.#thread.run(sql, parameters);
    } catch (error) {
      throw this.#noted(error);
    }
  }

  /** Runs a statement for many rows of parameters, all or none; one at a time. */
  async runForEach(sql: string, rows: readonly (readonly unknown[])[]): Promise<void> {
    try {
      await this.#thread.runForEach(sql, rows);
    } catch (error) {
      await this.rollback();
      throw this.#noted(error);
    }
  }

  /** Rolls back, if necessary by ending the thread. Never rejects, so that the original error is not hidden. */
  async rollback(): Promise<void> {
    await this.#thread.run('rollback').catch(() => this.#thread.close());
  }

  end(): void {
    this.#ended(this.#failure);
  }

  #noted(error: unknown): unknown {
    if (error instanceof DatabaseUnavailable) this.#failure = error;
    return error;
  }
}
