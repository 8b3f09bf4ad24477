import { closeSync, openSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';
import { migrate } from '../migrate.ts';
import type { Tables } from '../tables.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteThread } from './sqlite-thread.ts';
import { SqliteWriter, type SqliteWriterOptions } from './sqlite-writer.ts';

/** How long a change waits for another process that is writing, milliseconds: who asked for it waits as long. */
const WRITER_BUSY_MS = 1000;

/** Reading waits for nobody, but for the moment in which a file is put right after a crash; and everybody waits with it. */
const READER_BUSY_MS = 100;

const WRITER_PRAGMAS = [
  'journal_mode = WAL',
  // Segments of the journal are let go on the word of what is committed here.
  'synchronous = FULL',
  'foreign_keys = ON',
  // What is deleted is overwritten: an encrypted secret must not outlive its credential in a free page.
  'secure_delete = ON',
];

/** Opens (and makes, if need be) the embedded database, brought to its newest shape. Rejects with a DataDirectoryProblem. */
export async function openSqlite(
  file: string,
  nowMs: number,
  warn: SqliteWriterOptions['warn'] = () => {},
): Promise<SqliteDatabase> {
  // SQLite gives its side files the mode of the database itself, so that mode is set before it is opened.
  closeSync(openSync(file, 'a', 0o600));
  const database = new SqliteDatabase({
    reader: new SqliteReader({ file, busyMs: READER_BUSY_MS, pragmas: ['query_only = ON'] }),
    writer: new SqliteWriter({
      openThread: () => new SqliteThread({ file, busyMs: WRITER_BUSY_MS, pragmas: WRITER_PRAGMAS }),
      warn,
    }),
  });
  try {
    await migrate(database, nowMs);
    return database;
  } catch (error) {
    await database.destroy();
    throw sqliteFileProblem(file, error);
  }
}

/** Empties the log of writes, which still has what was overwritten in the database itself. */
export async function emptyWriteLog(database: Kysely<Tables>): Promise<void> {
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(database);
}

/** Codes of SQLite that mean the content of the file is not what it should be. */
const DAMAGED = /^SQLITE_(?:NOTADB|CORRUPT)/;

/** What the engine says, in words that name the file and what to do; anything else as it is. */
export function sqliteFileProblem(file: string, thrown: unknown): unknown {
  const error = thrown instanceof DatabaseUnavailable ? (thrown.cause ?? thrown) : thrown;
  const code = codeOf(error);
  if (!code.startsWith('SQLITE_')) return error;
  const message = DAMAGED.test(code)
    ? `the database ${file} is damaged or is not a database (${code}); put it back from a backup, or move it and the files beside it that begin with its name away to start with an empty one`
    : `the database ${file} cannot be used (${code}); see that this user may write it and that the disk is not full`;
  return new DataDirectoryProblem(message, false, error);
}
