import { workerData } from 'node:worker_threads';
import duckdb, { type Appender, type Connection, type Database } from '@duckdb/node-bindings';
import { answerQuestions, notify } from '../../../../kit/thread/answer-questions.ts';
import { chunkOf, columnsOf, type DuckdbColumn, openDatabase } from './duckdb-driver.ts';
import type {
  DuckdbColumns,
  DuckdbQuestion,
  DuckdbRows,
  DuckdbSettings,
  DuckdbWrite,
} from './duckdb-thread.ts';
import { plain, type Statement } from './statement.ts';

// Writes run one after another on one connection; every query has its own connection and transaction: without one,
// DuckDB plans a statement with parameters in a transaction of its own, and what is committed before it is executed
// can be missing from the answer. A database that failed fatally is closed, and opened again with the next question.

interface OpenDatabase {
  readonly instance: Database;
  readonly writer: Connection;
}

/** Errors after which the database must be opened again. */
const BEYOND_REPAIR = /^(fatal|internal) error|invalidated/i;

const { file, options, schema, shape, upgrades = {} } = workerData as DuckdbSettings;
let opened: Promise<OpenDatabase> | undefined;
/** Settles once all writes asked for by now are done. */
let written: Promise<unknown> = Promise.resolve();
/** Appenders of the tables that have staged rows. */
const appenders = new Map<string, Appender>();

answerQuestions<DuckdbQuestion, unknown>({
  answer(question, signal) {
    if (question.kind === 'query')
      return withDatabase((database) => query(database, question.statement, signal));
    if (question.kind === 'columns') {
      return withDatabase((database) => packedColumns(database, question.statement, signal));
    }
    const writing = written.then(() => withDatabase((database) => write(database, question)));
    written = writing.catch(() => {});
    return writing;
  },
  close,
});

/** Errors say whether they come from opening the database, as `isOpening`. */
async function withDatabase<T>(work: (database: OpenDatabase) => Promise<T>): Promise<T> {
  let isOpening = true;
  try {
    opened ??= open();
    const database = await opened.catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    isOpening = false;
    return await work(database);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (BEYOND_REPAIR.test(message)) await close();
    throw Object.assign(new Error(message), { isOpening });
  }
}

async function open(): Promise<OpenDatabase> {
  const instance = await openDatabase(file, options);
  try {
    const writer = await duckdb.connect(instance);
    if (await prepare(writer)) notify('new');
    return { instance, writer };
  } catch (error) {
    duckdb.close_sync(instance);
    throw error;
  }
}

/** Creates or upgrades the schema. Whether the file is new. */
function prepare(writer: Connection): Promise<boolean> {
  return inTransaction(writer, async () => {
    for (const sql of schema) await duckdb.query(writer, sql);
    const [row] = await rowsOf(writer, plain('SELECT version FROM shape'));
    if (row === undefined) await duckdb.query(writer, `INSERT INTO shape VALUES (${shape})`);
    let version = row === undefined ? shape : Number(row[0]);
    for (let steps = upgrades[version]; version !== shape && steps !== undefined; steps = upgrades[version]) {
      for (const sql of steps) await duckdb.query(writer, sql);
      version += 1;
      await duckdb.query(writer, `UPDATE shape SET version = ${version}`);
    }
    if (version !== shape) {
      throw new Error(`the file has the shape ${version}, this release reads ${shape}`);
    }
    return row === undefined;
  });
}

async function close(): Promise<void> {
  const database = await opened?.catch(() => undefined);
  opened = undefined;
  appenders.clear();
  if (database === undefined) return;
  duckdb.disconnect_sync(database.writer);
  duckdb.close_sync(database.instance);
}

function write({ writer }: OpenDatabase, question: DuckdbWrite): Promise<unknown> {
  if (question.kind === 'stage') {
    const { table, columns } = question;
    let appender = appenders.get(table);
    if (appender === undefined) {
      appender = duckdb.appender_create_ext(writer, null, null, table);
      appenders.set(table, appender);
    }
    duckdb.append_data_chunk(appender, chunkOf(columns));
    return Promise.resolve();
  }
  flush();
  if (question.kind === 'run') return rowsOf(writer, question.statement);
  return inTransaction(writer, async () => {
    const answers: DuckdbRows[] = [];
    for (const statement of question.statements) answers.push(await rowsOf(writer, statement));
    return answers;
  });
}

function flush(): void {
  const open = [...appenders.values()];
  appenders.clear();
  for (const appender of open) duckdb.appender_close_sync(appender);
}

function query(database: OpenDatabase, statement: Statement, signal?: AbortSignal): Promise<DuckdbRows> {
  return reading(database, signal, (connection) => rowsOf(connection, statement));
}

function packedColumns(
  database: OpenDatabase,
  statement: Statement,
  signal?: AbortSignal,
): Promise<DuckdbColumns> {
  return reading(database, signal, async (connection) =>
    (await columnsOf(connection, statement)).map(packed),
  );
}

async function reading<T>(
  { instance }: OpenDatabase,
  signal: AbortSignal | undefined,
  read: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await duckdb.connect(instance);
  const interrupt = () => duckdb.interrupt(connection);
  signal?.addEventListener('abort', interrupt);
  try {
    if (signal?.aborted) throw new Error('interrupted');
    await duckdb.query(connection, 'BEGIN TRANSACTION READ ONLY');
    return await read(connection);
  } finally {
    signal?.removeEventListener('abort', interrupt);
    duckdb.disconnect_sync(connection);
  }
}

async function inTransaction<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  await duckdb.query(connection, 'BEGIN');
  try {
    const result = await work();
    await duckdb.query(connection, 'COMMIT');
    return result;
  } catch (error) {
    await duckdb.query(connection, 'ROLLBACK').catch(() => {});
    throw error;
  }
}

async function rowsOf(connection: Connection, statement: Statement): Promise<DuckdbRows> {
  const columns = await columnsOf(connection, statement);
  return Array.from(columns[0] ?? [], (_, row) => columns.map((column) => column[row]));
}

/** The numbers of a column, if it holds no value but numbers that a double has exactly. */
function packed(column: DuckdbColumn): Float64Array | DuckdbColumn {
  const numbers = new Float64Array(column.length);
  for (let row = 0; row < numbers.length; row++) {
    const value = column[row];
    const number = typeof value === 'bigint' ? Number(value) : value;
    if (value === null) numbers[row] = Number.NaN;
    else if (typeof number !== 'number') return column;
    else if (typeof value === 'bigint' && !Number.isSafeInteger(number)) return column;
    else numbers[row] = number;
  }
  return numbers;
}
