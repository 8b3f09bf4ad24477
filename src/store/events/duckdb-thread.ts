import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { isInTime } from '../../kit/is-in-time.ts';
import { DatabaseUnavailable } from '../sql/database-unavailable.ts';
import type { Cell } from './columns.ts';
import type { Statement } from './query-sql.ts';

/** How a database is opened. */
export interface DuckdbSettings {
  readonly file: string;
  readonly options: Readonly<Record<string, string>>;
  /** Run once, when it is opened. */
  readonly schema: readonly string[];
  /** The table that `stage` adds to, and the types of its columns. */
  readonly staged: { readonly table: string; readonly types: readonly string[] };
}

/** Rows of a statement, each a list of its columns. */
export type DuckdbRows = readonly (readonly unknown[])[];

type Question =
  | { readonly kind: 'stage'; readonly columns: readonly (readonly Cell[])[] }
  | { readonly kind: 'transact'; readonly statements: readonly Statement[] }
  | { readonly kind: 'query'; readonly statement: Statement };

type Reply = { readonly id: number } & (
  | { readonly ok: true; readonly answer: unknown }
  | { readonly ok: false; readonly message: string }
);

const ENDED = 'the thread of the events has ended';

/** How long closing waits for work that is under way, milliseconds. */
const CLOSING_MS = 10_000;

/** Runs in the worker. Writing is one after another, on one connection; every query has a connection of its own. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const duckdb = require(workerData.library);
const { file, options, schema, staged } = workerData.settings;
let opened;
const open = async () => {
  const instance = await duckdb.DuckDBInstance.create(file, options);
  try {
    const writer = await instance.connect();
    for (const sql of schema) await writer.run(sql);
    return { instance, writer };
  } catch (error) {
    instance.closeSync();
    throw error;
  }
};
const rowsOf = async (connection, { sql, parameters }) =>
  (await connection.runAndReadAll(sql, parameters)).getRowsJS();
const queries = new Map();
const work = {
  async stage({ writer }, { columns }) {
    const chunk = duckdb.DuckDBDataChunk.create(staged.types.map((type) => duckdb[type]));
    chunk.setColumns(columns);
    const appender = await writer.createAppender(staged.table);
    appender.appendDataChunk(chunk);
    appender.closeSync();
  },
  async transact({ writer }, { statements }) {
    await writer.run('BEGIN');
    try {
      const answers = [];
      for (const statement of statements) answers.push(await rowsOf(writer, statement));
      await writer.run('COMMIT');
      return answers;
    } catch (error) {
      await writer.run('ROLLBACK').catch(() => {});
      throw error;
    }
  },
  async query({ instance }, { id, statement }) {
    const connection = await instance.connect();
    queries.set(id, connection);
    try {
      return await rowsOf(connection, statement);
    } finally {
      queries.delete(id);
      connection.closeSync();
    }
  },
};
const answer = async (asked) => {
  try {
    opened ??= open();
    const database = await opened.catch((error) => {
      opened = undefined;
      throw error;
    });
    parentPort.postMessage({ id: asked.id, ok: true, answer: await work[asked.kind](database, asked) });
  } catch ({ message }) {
    parentPort.postMessage({ id: asked.id, ok: false, message });
  }
};
let written = Promise.resolve();
const underway = new Set();
parentPort.on('message', async (asked) => {
  if (asked === null) {
    await Promise.all([written, ...underway]);
    const database = await opened?.catch(() => undefined);
    database?.writer.closeSync();
    database?.instance.closeSync();
    parentPort.close();
  } else if (asked.kind === 'interrupt') queries.get(asked.id)?.interrupt();
  else if (asked.kind === 'query') {
    const query = answer(asked).finally(() => underway.delete(query));
    underway.add(query);
  } else written = written.then(() => answer(asked));
});
`;

/**
 * A thread with a database of its own: it is opened with the first question. Once it has ended it is never used again:
 * what was staged is gone with it.
 */
export class DuckdbThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  readonly #asked = new Map<number, { resolve(answer: unknown): void; reject(reason: unknown): void }>();
  #lastId = 0;
  #isEnded = false;

  constructor(settings: DuckdbSettings) {
    const library = createRequire(import.meta.url).resolve('@duckdb/node-api');
    // Flags that say how this process reads its own program say nothing about the worker's.
    this.#worker = new Worker(WORKER, { eval: true, execArgv: [], workerData: { library, settings } });
    this.#worker.on('message', (reply: Reply) => {
      const asked = this.#asked.get(reply.id);
      if (reply.ok) asked?.resolve(reply.answer);
      else asked?.reject(new DatabaseUnavailable(new Error(reply.message)));
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

  /** Adds rows to the table for what comes in; nobody else sees them. */
  async stage(columns: readonly (readonly Cell[])[]): Promise<void> {
    await this.#ask({ kind: 'stage', columns });
  }

  /** Runs statements after those that were given before, all or none. Resolves with the rows of each. */
  async transact(statements: readonly Statement[]): Promise<readonly DuckdbRows[]> {
    return (await this.#ask({ kind: 'transact', statements })) as readonly DuckdbRows[];
  }

  /** Runs a statement that only reads. */
  async query(statement: Statement, signal?: AbortSignal): Promise<DuckdbRows> {
    return (await this.#ask({ kind: 'query', statement }, signal)) as DuckdbRows;
  }

  /** Lets it end after what is under way. */
  async close(): Promise<void> {
    if (!this.#isEnded) this.#worker.postMessage(null);
    await isInTime(this.#ended, CLOSING_MS);
  }

  async #ask(question: Question, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#isEnded) throw new DatabaseUnavailable(new Error(ENDED));
    this.#lastId += 1;
    const id = this.#lastId;
    const interrupt = () => {
      this.#worker.postMessage({ kind: 'interrupt', id });
      this.#asked.get(id)?.reject(signal?.reason);
    };
    this.#worker.ref();
    signal?.addEventListener('abort', interrupt);
    try {
      return await new Promise((resolve, reject) => {
        this.#asked.set(id, { resolve, reject });
        this.#worker.postMessage({ id, ...question });
      });
    } finally {
      signal?.removeEventListener('abort', interrupt);
      this.#asked.delete(id);
      if (this.#asked.size === 0) this.#worker.unref();
    }
  }

  #end(reason: Error): void {
    this.#isEnded = true;
    for (const { reject } of this.#asked.values()) reject(new DatabaseUnavailable(reason));
  }
}
