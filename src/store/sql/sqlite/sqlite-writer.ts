import { isInTime } from '../../../kit/loop/is-in-time.ts';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import type { SqliteAnswer, SqliteThread } from './sqlite-thread.ts';

export interface SqliteWriterOptions {
  /** Starts a thread that is connected to the database. */
  openThread(): SqliteThread;
  /** Is told when nothing can be written, and when that is over. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** How long somebody waits until those before are done, milliseconds. */
const TURN_MS = 5_000;

/** All that changes a database, one after another and in a thread of its own, which is replaced when it ends. */
export class SqliteWriter {
  readonly #options: SqliteWriterOptions;
  #thread: SqliteThread | undefined;
  /** Settles once everybody who has asked for a turn by now is done. */
  #last: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(options: SqliteWriterOptions) {
    this.#options = options;
  }

  /** Waits for a turn, which is to be ended. Rejects with DatabaseUnavailable. */
  async take(): Promise<SqliteTurn> {
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
      this.#note(failure);
      end();
    });
  }

  /** Ends the thread when those who have asked by now are done, or take too long. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await isInTime(this.#last, TURN_MS);
    await this.#thread?.close();
  }

  #note(failure: DatabaseUnavailable | undefined): void {
    if ((failure !== undefined) === this.#isFailing) return;
    this.#isFailing = !this.#isFailing;
    if (failure === undefined) this.#options.warn('the database can be written again');
    else {
      this.#options.warn('the database cannot be written; whoever needs that is refused', {
        error: failure.cause,
      });
    }
  }
}

/** The right to change a database. */
export class SqliteTurn {
  readonly #thread: SqliteThread;
  readonly #ended: (failure: DatabaseUnavailable | undefined) => void;
  #failure: DatabaseUnavailable | undefined;

  /** `ended` is told why the database could not be used, if it could not. */
  constructor(thread: SqliteThread, ended: (failure: DatabaseUnavailable | undefined) => void) {
    this.#thread = thread;
    this.#ended = ended;
  }

  /** Runs a statement. To be called again only after it has settled. */
  async run(sql: string, parameters?: readonly unknown[]): Promise<SqliteAnswer> {
    try {
      return await this.#thread.run(sql, parameters);
    } catch (error) {
      throw this.#noted(error);
    }
  }

  /** Runs a statement for each of many rows of parameters, all or none. To be called like `run`. */
  async runForEach(sql: string, rows: readonly (readonly unknown[])[]): Promise<void> {
    try {
      await this.#thread.runForEach(sql, rows);
    } catch (error) {
      await this.rollback();
      throw this.#noted(error);
    }
  }

  /** Undoes what was not committed, by whatever means: nothing that goes wrong here may hide why it is done. */
  async rollback(): Promise<void> {
    await this.#thread.run('rollback').catch(() => this.#thread.close());
  }

  /** Lets the next one have it. */
  end(): void {
    this.#ended(this.#failure);
  }

  #noted(error: unknown): unknown {
    if (error instanceof DatabaseUnavailable) this.#failure = error;
    return error;
  }
}
