import { Thread, ThreadEnded } from '../../../kit/thread/thread.ts';
import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';

export interface SqliteSettings {
  readonly file: string;
  /** How long a statement waits for another writer, milliseconds. */
  readonly busyMs: number;
  readonly pragmas: readonly string[];
}

export interface SqliteAnswer {
  readonly rows: readonly unknown[];
  /** Rows that were added, changed or removed. */
  readonly changes: number;
}

/** A statement, or one for many rows of parameters. */
export type SqliteQuestion = { readonly sql: string } & (
  | { readonly parameters: readonly unknown[] }
  | { readonly rows: readonly (readonly unknown[])[] }
);

/** How long closing waits for the current statement, milliseconds. */
const CLOSING_MS = 5_000;

/**
 * A worker thread with its own connection, because commits wait for the disk and for locks. Never reused after its
 * end: a statement of a transaction must not run outside of it.
 */
export class SqliteThread {
  readonly #thread: Thread<SqliteQuestion, SqliteAnswer>;

  constructor(settings: SqliteSettings) {
    this.#thread = new Thread(new URL('./sqlite-thread-main.js', import.meta.url), { data: settings });
  }

  get isEnded(): boolean {
    return this.#thread.isEnded;
  }

  /** Runs a statement; one at a time. Rejects with DatabaseUnavailable when a retry may help. */
  run(sql: string, parameters: readonly unknown[] = []): Promise<SqliteAnswer> {
    return this.#ask({ sql, parameters });
  }

  /**
   * Runs a statement for many rows of parameters in a transaction, which stays open after a failure. The statement
   * stays prepared, so use few different ones. Otherwise as `run`.
   */
  async runForEach(sql: string, rows: readonly (readonly unknown[])[]): Promise<void> {
    await this.#ask({ sql, rows });
  }

  /**
   * Ends the thread after its current statement; uncommitted changes are rolled back. The worker is never terminated,
   * because that crashes the whole process inside the library.
   */
  close(): Promise<void> {
    return this.#thread.close(CLOSING_MS);
  }

  async #ask(question: SqliteQuestion): Promise<SqliteAnswer> {
    try {
      return await this.#thread.ask(question);
    } catch (error) {
      throw error instanceof ThreadEnded ? new DatabaseUnavailable(error) : sqliteProblemOf(error);
    }
  }
}

/** SQLite codes of temporary failures, and the reasons that callers get. */
const UNAVAILABLE: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_(?:BUSY|LOCKED)/, 'another program has locked the database'],
  [/^SQLITE_FULL/, 'the disk of the database is full'],
  [/^SQLITE_(?:IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)/, 'the database cannot be read or written'],
];

/** Maps temporary failures of SQLite to DatabaseUnavailable. */
function sqliteProblemOf(error: unknown): unknown {
  const [, reason] = UNAVAILABLE.find(([codes]) => codes.test(codeOf(error))) ?? [];
  return reason === undefined ? error : new DatabaseUnavailable(error, reason);
}
