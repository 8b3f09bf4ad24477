import { duckdbDriver } from './duckdb-driver.ts';

/**
 * Source of the worker as text, so that it works inside the bundle. Writes run one after another on one connection;
 * every query has its own connection and transaction: without one, DuckDB plans a statement with parameters in a
 * transaction of its own, and what is committed before it is executed can be missing from the answer. A database that
 * failed fatally is closed, and opened again with the next question.
 */
export const DUCKDB_WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const duckdb = require(workerData.library);
const { open: openFile, columnsOf, chunkOf } = (${duckdbDriver})(duckdb);
const { file, options, schema, shape, upgrades = {} } = workerData.settings;
const rowsOf = async (connection, statement) => {
  const columns = await columnsOf(connection, statement);
  return Array.from(columns[0] ?? [], (_, row) => columns.map((column) => column[row]));
};
const inTransaction = async (connection, work) => {
  await duckdb.query(connection, 'BEGIN');
  try {
    const result = await work();
    await duckdb.query(connection, 'COMMIT');
    return result;
  } catch (error) {
    await duckdb.query(connection, 'ROLLBACK').catch(() => {});
    throw error;
  }
};
const prepare = (writer) => inTransaction(writer, async () => {
  for (const sql of schema) await duckdb.query(writer, sql);
  const [row] = await rowsOf(writer, { sql: 'SELECT version FROM shape', parameters: {} });
  if (row === undefined) await duckdb.query(writer, 'INSERT INTO shape VALUES (' + shape + ')');
  let version = row?.[0] ?? shape;
  for (; version !== shape && upgrades[version] !== undefined; version++) {
    for (const sql of upgrades[version]) await duckdb.query(writer, sql);
    await duckdb.query(writer, 'UPDATE shape SET version = ' + (version + 1));
  }
  if (version !== shape) throw new Error('the file has the shape ' + version + ', this release reads ' + shape);
  return row === undefined;
});
let opened;
const open = async () => {
  const instance = await openFile(file, options);
  try {
    const writer = await duckdb.connect(instance);
    if (await prepare(writer)) parentPort.postMessage({ kind: 'new' });
    return { instance, writer };
  } catch (error) {
    duckdb.close_sync(instance);
    throw error;
  }
};
const close = async () => {
  const database = await opened?.catch(() => undefined);
  opened = undefined;
  appenders.clear();
  if (database === undefined) return;
  duckdb.disconnect_sync(database.writer);
  duckdb.close_sync(database.instance);
};
// Running queries by id, with their connections.
const queries = new Map();
const interrupt = ({ id }) => {
  const query = queries.get(id);
  if (query === undefined) return;
  query.isInterrupted = true;
  if (query.connection !== undefined) duckdb.interrupt(query.connection);
};
const reading = async ({ instance }, query, read) => {
  const connection = await duckdb.connect(instance);
  query.connection = connection;
  try {
    if (query.isInterrupted) throw new Error('interrupted');
    await duckdb.query(connection, 'BEGIN TRANSACTION READ ONLY');
    return await read(connection);
  } finally {
    query.connection = undefined;
    duckdb.disconnect_sync(connection);
  }
};
const appenders = new Map();
const flush = () => {
  const open = [...appenders.values()];
  appenders.clear();
  for (const appender of open) duckdb.appender_close_sync(appender);
};
const packed = (column) => {
  const numbers = new Float64Array(column.length);
  for (let row = 0; row < numbers.length; row++) {
    const value = column[row];
    const number = typeof value === 'bigint' ? Number(value) : value;
    if (value === null) numbers[row] = NaN;
    else if (typeof number === 'number' && (typeof value === 'number' || Number.isSafeInteger(number))) numbers[row] = number;
    else return column;
  }
  return numbers;
};
const work = {
  async stage({ writer }, { table, columns }) {
    if (!appenders.has(table)) appenders.set(table, duckdb.appender_create_ext(writer, null, null, table));
    duckdb.append_data_chunk(appenders.get(table), chunkOf(columns));
  },
  transact({ writer }, { statements }) {
    flush();
    return inTransaction(writer, async () => {
      const answers = [];
      for (const statement of statements) answers.push(await rowsOf(writer, statement));
      return answers;
    });
  },
  run({ writer }, { statement }) {
    flush();
    return rowsOf(writer, statement);
  },
  query: (database, { id, statement }) =>
    reading(database, queries.get(id), (connection) => rowsOf(connection, statement)),
  columns: (database, { id, statement }) =>
    reading(database, queries.get(id), async (connection) => (await columnsOf(connection, statement)).map(packed)),
};
const BEYOND_REPAIR = /^(fatal|internal) error|invalidated/i;
const answer = async (asked) => {
  let isOpening = true;
  try {
    opened ??= open();
    const database = await opened.catch((error) => {
      opened = undefined;
      throw error;
    });
    isOpening = false;
    parentPort.postMessage({ id: asked.id, ok: true, answer: await work[asked.kind](database, asked) });
  } catch (error) {
    const message = String(error?.message ?? error);
    if (BEYOND_REPAIR.test(message)) await close();
    parentPort.postMessage({ id: asked.id, ok: false, message, isOpening });
  }
};
let written = Promise.resolve();
const underway = new Set();
const READING = new Set(['query', 'columns']);
parentPort.on('message', async (asked) => {
  if (asked === null) {
    await Promise.all([written, ...underway]);
    await close();
    parentPort.close();
  } else if (asked.kind === 'interrupt') interrupt(asked);
  else if (READING.has(asked.kind)) {
    queries.set(asked.id, {});
    const query = answer(asked).finally(() => {
      queries.delete(asked.id);
      underway.delete(query);
    });
    underway.add(query);
  } else written = written.then(() => answer(asked));
});
`;
