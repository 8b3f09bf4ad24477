import { workerData } from 'node:worker_threads';
import Database from 'libsql';
import { answerQuestions } from '../../../kit/thread/answer-questions.ts';
import type { SqliteAnswer, SqliteQuestion, SqliteSettings } from './sqlite-thread.ts';

const settings = workerData as SqliteSettings;
let connection: Database.Database | undefined;
/** Statements that run for many rows. */
const prepared = new Map<string, Database.Statement>();

/** Connects with the first statement. */
function open(): Database.Database {
  connection ??= connect(settings);
  return connection;
}

function connect({ file, busyMs, pragmas }: SqliteSettings): Database.Database {
  const connecting = new Database(file, { timeout: busyMs });
  try {
    for (const pragma of pragmas) connecting.pragma(pragma);
    // Otherwise integers above 2^53 are rounded.
    connecting.defaultSafeIntegers(true);
    return connecting;
  } catch (error) {
    connecting.close();
    throw error;
  }
}

function run(sql: string, parameters: readonly unknown[]): SqliteAnswer {
  const opened = open();
  // After a disk failure SQLite has rolled back itself.
  if (sql === 'rollback' && !opened.inTransaction) return { rows: [], changes: 0 };
  const statement = opened.prepare(sql);
  if (statement.reader) return { rows: statement.all(parameters), changes: 0 };
  return { rows: [], changes: statement.run(parameters).changes };
}

function runForEach(sql: string, rows: readonly (readonly unknown[])[]): SqliteAnswer {
  const opened = open();
  opened.exec('begin immediate');
  let statement = prepared.get(sql);
  if (statement === undefined) {
    statement = opened.prepare(sql);
    prepared.set(sql, statement);
  }
  for (const parameters of rows) statement.run(parameters);
  opened.exec('commit');
  return { rows: [], changes: 0 };
}

answerQuestions<SqliteQuestion, SqliteAnswer>({
  answer: (asked) => ('rows' in asked ? runForEach(asked.sql, asked.rows) : run(asked.sql, asked.parameters)),
  close() {
    try {
      // Leaves everything in the main file, so that a copy of it is complete. A connection that only reads cannot.
      connection?.pragma('wal_checkpoint(TRUNCATE)');
    } catch {}
    prepared.clear();
    connection?.close();
  },
});
