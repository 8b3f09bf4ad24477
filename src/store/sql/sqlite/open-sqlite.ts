import { closeSync, existsSync, openSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Kysely, sql } from 'kysely';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';
import { migrate } from '../migrate.ts';
import type { Tables } from '../tables.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteThread } from './sqlite-thread.ts';
import { SqliteWriter, type SqliteWriterOptions } from './sqlite-writer.ts';

/** How long a write waits for another process that writes, milliseconds. */
const WRITER_BUSY_MS = 1000;

/** How long a read of `withSqlite` waits for a writer, milliseconds. */
const EXAMINER_BUSY_MS = 1000;

/** Reads wait only while a file is recovered after a crash, milliseconds. */
const READER_BUSY_MS = 100;

const WRITER_PRAGMAS = [
  'journal_mode = WAL',
  // Segments of the journal are removed once their rows are committed here.
  'synchronous = FULL',
  'foreign_keys = ON',
  // Overwrites deleted content: an encrypted secret must not survive its credential in a free page.
  'secure_delete = ON',
];

export interface SqliteOptions {
  /** False: a schema that lacks something is refused instead of changed. */
  readonly mayMigrate?: boolean;
  /** True for a gateway: reads have a thread of their own, and never wait for a write; false by default. */
  readonly readsApart?: boolean;
  readonly warn?: SqliteWriterOptions['warn'];
}

/** Opens or creates the embedded database and applies migrations. Rejects with a DataDirectoryProblem. */
export async function openSqlite(
  file: string,
  nowMs: number,
  { mayMigrate = true, readsApart = false, warn = () => {} }: SqliteOptions = {},
): Promise<SqliteDatabase> {
  // SQLite copies the mode of the database file to its side files, so set it first.
  closeSync(openSync(file, 'a', 0o600));
  const openReader = () => new SqliteThread({ file, busyMs: READER_BUSY_MS, pragmas: ['query_only = ON'] });
  const database = new SqliteDatabase({
    reader: readsApart ? new SqliteReader(openReader) : undefined,
    writer: new SqliteWriter({
      path: file,
      openThread: () => new SqliteThread({ file, busyMs: WRITER_BUSY_MS, pragmas: WRITER_PRAGMAS }),
      warn,
    }),
  });
  try {
    await migrate(database, nowMs, { mayChange: mayMigrate });
    return database;
  } catch (error) {
    await database.destroy();
    throw sqliteFileProblem(file, error);
  }
}

/**
 * Reads a database, which a gateway may have open, or which may be damaged, and changes nothing. Rejects with a
 * DataDirectoryProblem.
 */
export async function withSqlite<Result>(
  file: string,
  work: (database: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  const address = readOnlyAddress(file);
  const openThread = () => new SqliteThread({ file: address, busyMs: EXAMINER_BUSY_MS, pragmas: [] });
  const writer = new SqliteWriter({ path: file, openThread, warn() {} });
  const database = new SqliteDatabase({ reader: undefined, writer });
  try {
    return await work(database);
  } catch (error) {
    throw sqliteFileProblem(file, withCode(error));
  } finally {
    await database.destroy();
  }
}

/** Errors of opening have no code. */
function withCode(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof DatabaseUnavailable || codeOf(thrown) !== '') {
    return thrown;
  }
  return Object.assign(new Error(thrown.message, { cause: thrown }), { code: 'SQLITE_CANTOPEN' });
}

/**
 * The address of a database for a connection that only reads. Without a write-ahead log there is no writer; `immutable`
 * then keeps SQLite from creating a log.
 */
export function readOnlyAddress(file: string): string {
  const promise = existsSync(`${file}-wal`) ? '' : '&immutable=1';
  return `${pathToFileURL(file).href}?mode=ro${promise}`;
}

/** Empties the write-ahead log, which still contains what was overwritten in the database. */
export async function emptyWriteLog(database: Kysely<Tables>): Promise<void> {
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(database);
}

const DAMAGED = /^SQLITE_(?:NOTADB|CORRUPT)/;

/** SQLite codes of a full disk; the second, of one without room for the index of the write-ahead log. */
const FULL_DISK = /^SQLITE_(?:FULL|IOERR_SHMSIZE)/;

/** Maps errors of SQLite to DataDirectoryProblems with the file and advice; other errors stay as they are. */
export function sqliteFileProblem(file: string, thrown: unknown): unknown {
  const error = thrown instanceof DatabaseUnavailable ? (thrown.cause ?? thrown) : thrown;
  const code = codeOf(error);
  if (!code.startsWith('SQLITE_')) return error;
  return new DataDirectoryProblem(problemText(file, code), false, error);
}

function problemText(file: string, code: string): string {
  if (DAMAGED.test(code)) {
    return (
      `the database ${file} is damaged or is not a database (${code}); put it back from a backup, or move ` +
      'it and the files beside it that begin with its name away to start with an empty one'
    );
  }
  if (FULL_DISK.test(code)) {
    return `the database ${file} cannot be written: its disk is full (${code}); make room on it, then try again`;
  }
  return `the database ${file} cannot be used (${code}); see that this user may write it and that the disk is not full`;
}
