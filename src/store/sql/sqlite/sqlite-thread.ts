import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { isInTime } from '../../../kit/loop/is-in-time.ts';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import { connectSqlite, type SqliteSettings, sqliteProblemOf } from './sqlite-connection.ts';

/** Result of a statement. */
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

/** How long closing waits for the current statement, milliseconds. */
const CLOSING_MS = 5_000;

/** Source of the worker: connects with the first statement, and closes on a null message. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const Library = require(workerData.library);
const connect = ${connectSqlite};
let connection;
const open = () => (connection ??= connect(Library, workerData.settings));
const run = (sql, parameters) => {
  open();
  // After a disk failure SQLite has rolled back itself.
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
      // Leaves everything in the main file, so that a copy of it is complete. A connection that only reads cannot.
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
 * A worker thread with its own connection, because commits wait for the disk and for locks. Never reused after its
 * end: a statement of a transaction must not run outside of it.
 */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #isEnded = false;
  #asked: { resolve(answer: SqliteAnswer): void; reject(reason: unknown): void } | undefined;

  constructor(settings: SqliteSettings) {
    const library = createRequire(import.meta.url).resolve('libsql');
    // The process's own loader flags do not apply to the worker.
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
    // An idle worker does not keep the process alive.
    this.#worker.unref();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Runs a statement; one at a time. Rejects with DatabaseUnavailable when a retry may help. */
  async run(sql: string, parameters: readonly unknown[] = []): Promise<SqliteAnswer> {
    return this.#ask({ sql, parameters });
  }

  /**
   * Runs a statement for many rows of parameters in a transaction, which stays open after a failure. The statement
   * stays prepared, so use few different ones. Otherwise as `run`.
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
   * Ends the thread after its current statement; uncommitted changes are rolled back. The worker is never terminated,
   * because that crashes the whole process inside the library.
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
