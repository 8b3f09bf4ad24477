import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import type { Nanos } from '../../kit/money.ts';
import type { DatabaseFacts, SchemaState } from '../../ports/installation/store-facts.ts';
import { readSchema } from '../sql/migrate.ts';
import { schemaStateOf } from '../sql/schema-state.ts';
import { withSqlite } from '../sql/sqlite/open-sqlite.ts';
import type { Tables } from '../sql/tables.ts';
import { databaseFacts, rowReader } from './database-facts.ts';

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

const MARK = "select value from installation where name = 'ledger_sequence'";

/**
 * Reads an embedded database without changing it; undefined when there is none. Rejects with a DataDirectoryProblem.
 */
export async function examineSqlite(file: string): Promise<SqliteFacts | undefined> {
  const bytes = (await stat(file).catch(() => undefined))?.size;
  // A first start that was interrupted leaves an empty file.
  return bytes === undefined || bytes === 0
    ? undefined
    : withSqlite(file, async (database) => ({ ...(await factsOf(database, bytes)), bytes }));
}

/** Compares the schema of an embedded database, which need not exist, with the migrations of this program. */
export async function readSqliteSchema(file: string): Promise<SchemaState> {
  const bytes = (await stat(file).catch(() => undefined))?.size ?? 0;
  return bytes === 0
    ? schemaStateOf({ applied: [], required: [] }, 'sqlite')
    : withSqlite(file, (database) => readSchema(database, 'sqlite'));
}

/** Names of the accounts in an embedded database by id; empty if it has no accounts. */
export async function readAccountNames(file: string): Promise<ReadonlyMap<string, string>> {
  if (!existsSync(file)) return new Map();
  return withSqlite(file, async (database) => {
    const read = await rowReader(database, 'sqlite');
    const rows = await read<{ id: string; name: string }>('accounts', 'select id, name from accounts');
    return new Map(rows.map(({ id, name }) => [id, name]));
  });
}

async function factsOf(database: Kysely<Tables>, bytes: number): Promise<Omit<SqliteFacts, 'bytes'>> {
  const read = await rowReader(database, 'sqlite');
  const beganAt = performance.now();
  const [mark] = await read<{ value: string }>('installation', MARK);
  const roundTripMs = performance.now() - beganAt;
  const newest = await read<{ id: string; settledAtMs: bigint; nanos: string }>('generations', NEWEST);
  const check = bytes > MAX_CHECKED_BYTES ? undefined : await quickCheck(database);
  return {
    ...(await databaseFacts(database, 'sqlite', read)),
    roundTripMs,
    ledgerMark: Number(mark?.value ?? 0),
    newestGenerations: newest.map(({ id, settledAtMs, nanos }) => ({
      id,
      settledAtMs: Number(settledAtMs),
      creditNanos: BigInt(nanos),
    })),
    pageProblem: check === 'ok' ? undefined : check,
  };
}

async function quickCheck(database: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(database);
  return rows[0]?.quick_check;
}
