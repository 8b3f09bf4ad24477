import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { isInTime } from '../../../kit/loop/is-in-time.ts';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import { connectSqlite, type SqliteSettings, sqliteProblemOf } from './sqlite-connection.ts';

/** What came of a statement. */
export interface SqliteAnswer {
  readonly rows: readonly unknown[];
  /** Rows that were added, changed or removed. */
  readonly changes: number;
}

type Question = { readonly sql: string } & (
  | { readonly parameters: readonly unknown[] }
  | { readonly rows: readonly (readonly unknown[])[] }
);

type Reply =
  | { readonly ok: true; readonly answer: SqliteAnswer }
  | { readonly ok: false; readonly message: string; readonly code: unknown };

const ENDED = 'the thread of the database has ended';

/** How long closing waits for a statement that is under way, milliseconds. */
const CLOSING_MS = 5_000;

/** Runs in the worker: opens the connection with the first statement, and closes it when told nothing. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const Library = require(workerData.library);
const connect = ${connectSqlite};
let connection;
const open = () => (connection ??= connect(Library, workerData.settings));
const run = (sql, parameters) => {
  open();
  // Where the disk fails SQLite itself rolls back.
  if (sql === 'rollback' && !connection.inTransaction) return { rows: [], changes: 0 };
  const statement = connection.prepare(sql);
  if (statement.reader) return { rows: statement.all(parameters), changes: 0 };
  return { rows: [], changes: statement.run(parameters).changes };
};
const prepared = new Map();
const runForEach = (sql, rows) => {
  open().exec('begin immediate');
  if (!prepared.has(sql)) prepared.set(sql, connection.prepare(sql));
  const statement = prepared.get(sql);
  for (const parameters of rows) statement.run(parameters);
  connection.exec('commit');
  return { rows: [], changes: 0 };
};
parentPort.on('message', (asked) => {
  if (asked === null) {
    try {
      // The file alone has everything then, for whoever copies it.
      connection?.pragma('wal_checkpoint(TRUNCATE)');
    } catch {}
    prepared.clear();
    connection?.close();
    parentPort.close();
    return;
  }
  try {
    const answer = asked.rows === undefined ? run(asked.sql, asked.parameters) : runForEach(asked.sql, asked.rows);
    parentPort.postMessage({ ok: true, answer });
  } catch ({ message, code }) {
    parentPort.postMessage({ ok: false, message, code });
  }
});
`;

/**
 * A thread with a connection of its own: commits wait for the disk and for locks, and no stream should wait with them.
 * Once it has ended it is never used again: a statement that was to be part of a transaction must not be run outside of it.
 */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #isEnded = false;
  #asked: { resolve(answer: SqliteAnswer): void; reject(reason: unknown): void } | undefined;

  constructor(settings: SqliteSettings) {
    const library = createRequire(import.meta.url).resolve('libsql');
    // Flags that say how this process reads its own program say nothing about the worker's.
    this.#worker = new Worker(WORKER, { eval: true, execArgv: [], workerData: { library, settings } });
    this.#worker.on('message', (reply: Reply) => {
      if (reply.ok) this.#asked?.resolve(reply.answer);
      else {
        const error = Object.assign(new Error(reply.message), { code: reply.code });
        this.#asked?.reject(sqliteProblemOf(error));
      }
    });
    this.#worker.on('error', (error) => this.#end(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#end(new Error(ENDED));
        resolve();
      });
    });
    // The process may end while the worker waits for work.
    this.#worker.unref();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Runs a statement. To be called again only after it has settled. Rejects with DatabaseUnavailable where another try may help. */
  async run(sql: string, parameters: readonly unknown[] = []): Promise<SqliteAnswer> {
    return this.#ask({ sql, parameters });
  }

  /**
   * Runs a statement for each of many rows of parameters, in a transaction of its own that is left open when it fails. The
   * statement stays prepared: there should be few different ones. To be called and to reject like `run`.
   */
  async runForEach(sql: string, rows: readonly (readonly unknown[])[]): Promise<void> {
    await this.#ask({ sql, rows });
  }

  async #ask(question: Question): Promise<SqliteAnswer> {
    if (this.#isEnded) throw new DatabaseUnavailable(new Error(ENDED));
    this.#worker.ref();
    try {
      return await new Promise<SqliteAnswer>((resolve, reject) => {
        this.#asked = { resolve, reject };
        this.#worker.postMessage(question);
      });
    } finally {
      this.#asked = undefined;
      this.#worker.unref();
    }
  }

  /**
   * Lets it end after the statement that is under way; what was not committed is undone. It is never stopped in the middle:
   * the library brings the whole process down when that happens.
   */
  async close(): Promise<void> {
    if (!this.#isEnded) this.#worker.postMessage(null);
    await isInTime(this.#ended, CLOSING_MS);
  }

  #end(reason: Error): void {
    this.#isEnded = true;
    this.#asked?.reject(new DatabaseUnavailable(reason));
  }
}
