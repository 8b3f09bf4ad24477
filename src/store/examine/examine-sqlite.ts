import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import type { Nanos } from '../../kit/money.ts';
import type { DatabaseFacts, KnownFile, SchemaState } from '../../ports/store-facts.ts';
import { codeOf } from '../sql/database-unavailable.ts';
import { schemaStateOf } from '../sql/schema-state.ts';
import { sqliteFileProblem } from '../sql/sqlite/open-sqlite.ts';
import { encryptionKeysIn, keyIdsOf, QUERIES, recordsOf, SECRET_TABLES } from './database-facts.ts';

export interface GenerationWithRow {
  readonly id: string;
  readonly settledAtMs: number;
  readonly creditNanos: Nanos;
}

export interface SqliteFacts extends DatabaseFacts {
  /** The ledger's mark: sequence of a record that the journal must have. */
  readonly ledgerMark: number;
  /** Last settled first, at most `MAX_NEWEST_ROWS` of them. */
  readonly newestGenerations: readonly GenerationWithRow[];
  /** Damage of its pages; undefined also when it is too large to check. */
  readonly pageProblem: string | undefined;
}

/** Larger files are not checked page by page. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

/** Number of newest rows to compare with the journal. */
export const MAX_NEWEST_ROWS = 1_000;

const NEWEST = `select id, settled_at_ms as settledAtMs, cast(credit_nanos as text) as nanos
  from generations order by settled_at_ms desc limit ${MAX_NEWEST_ROWS}`;

/** How long a query waits for a writer, milliseconds. */
const BUSY_MS = 1000;

/**
 * Reads an embedded database without changing it; undefined when there is none. Rejects with a DataDirectoryProblem.
 */
export async function examineSqlite(file: string): Promise<SqliteFacts | undefined> {
  const bytes = (await stat(file).catch(() => undefined))?.size;
  // A first start that was interrupted leaves an empty file.
  if (bytes === undefined || bytes === 0) return undefined;
  const beganAt = performance.now();
  try {
    const database = new Database(readOnlyAddress(file), { timeout: BUSY_MS });
    try {
      return { ...factsOf(database, beganAt, bytes), bytes };
    } finally {
      database.close();
    }
  } catch (error) {
    throw sqliteFileProblem(file, withCode(error));
  }
}

/** Compares the schema of an embedded database, which need not exist, with the migrations of this program. */
export async function readSqliteSchema(file: string): Promise<SchemaState> {
  const facts = await examineSqlite(file);
  return facts?.schema ?? schemaStateOf({ applied: [], required: [] }, 'sqlite');
}

/** Names of the accounts in an embedded database by id; empty if it has no accounts. */
export function readAccountNames(file: string): ReadonlyMap<string, string> {
  if (!existsSync(file)) return new Map();
  const database = new Database(readOnlyAddress(file), { timeout: BUSY_MS });
  try {
    const tables = database.prepare("select name from sqlite_master where name = 'accounts'").all();
    if (tables.length === 0) return new Map();
    const rows = database.prepare('select id, name from accounts').all() as { id: string; name: string }[];
    return new Map(rows.map(({ id, name }) => [id, name]));
  } finally {
    database.close();
  }
}

/**
 * The address of a database for a connection that only reads. Without a write-ahead log there is no writer; `immutable`
 * then keeps SQLite from creating a log.
 */
export function readOnlyAddress(file: string): string {
  const promise = existsSync(`${file}-wal`) ? '' : '&immutable=1';
  return `${pathToFileURL(file).href}?mode=ro${promise}`;
}

function factsOf(database: Database.Database, beganAt: number, bytes: number): Omit<SqliteFacts, 'bytes'> {
  const all = <Row>(sql: string) => database.prepare(sql).all() as Row[];
  const tables = new Set(
    all<{ name: string }>("select name from sqlite_master where type = 'table'").map(({ name }) => name),
  );
  const from = <Row>(table: string, sql: string) => (tables.has(table) ? all<Row>(sql) : []);
  const applied = from<{ name: string }>('schema_migrations', QUERIES.migrations);
  const required = from<{ requires: string }>('schema_requirements', QUERIES.requirements);
  const roundTripMs = performance.now() - beganAt;
  const keys = SECRET_TABLES.flatMap((table) => from<{ id: string }>(table, encryptionKeysIn(table)));
  const [settled] = from<{ at: number | null }>('generations', QUERIES.lastSettled);
  const newest = from<{ id: string; settledAtMs: number; nanos: string }>('generations', NEWEST);
  const [mark] = from<{ value: string }>(
    'installation',
    "select value from installation where name = 'ledger_sequence'",
  );
  const [check] = bytes > MAX_CHECKED_BYTES ? [] : all<{ quick_check: string }>('pragma quick_check(1)');
  return {
    roundTripMs,
    schema: schemaStateOf(recordsOf(applied, required), 'sqlite'),
    encryptionKeyIds: keyIdsOf(keys),
    lastSettledAtMs: settled?.at ?? undefined,
    hasApps: from('apps', QUERIES.anApp).length > 0,
    files: from<KnownFile>('files', QUERIES.files),
    ledgerMark: Number(mark?.value ?? 0),
    newestGenerations: newest.map(({ nanos, ...row }) => ({ ...row, creditNanos: BigInt(nanos) })),
    pageProblem: check === undefined || check.quick_check === 'ok' ? undefined : check.quick_check,
  };
}

/** Errors of opening have no code. */
function withCode(error: unknown): unknown {
  if (codeOf(error) !== '' || !(error instanceof Error)) return error;
  return Object.assign(new Error(error.message, { cause: error }), { code: 'SQLITE_CANTOPEN' });
}
