import { type Kysely, sql } from 'kysely';
import type { DatabaseAddress } from '../../kit/net/database-address.ts';
import type { PostgresFacts } from '../../ports/store-facts.ts';
import type { BookedEnds } from '../ledger/postgres/booking/booked-ends.ts';
import { readJournals } from '../ledger/postgres/booking/journal-rows.ts';
import { type Totals, totalsIn } from '../ledger/postgres/tallies/account-statements.ts';
import { COUNT_RUNNING_GATEWAYS } from '../sql/postgres/gateway-lock.ts';
import { CONNECTIONS_PER_GATEWAY, withPostgres } from '../sql/postgres/open-postgres.ts';
import { schemaStateOf } from '../sql/schema-state.ts';
import type { Tables } from '../sql/tables.ts';
import { encryptionKeysIn, keyIdsOf, QUERIES, recordsOf, SECRET_TABLES } from './database-facts.ts';

/** The books of a shared database, which a running gateway reports itself. */
export interface PostgresBooks {
  /** The money of all accounts; undefined while migrations are missing. */
  readonly totals: Totals | undefined;
  /** Booked ends of each gateway's journal, by gateway id. */
  readonly journals: ReadonlyMap<string, BookedEnds>;
}

const TABLES_THERE = `select tablename as name from pg_tables where schemaname = any (current_schemas(false))`;

/** Reads a shared database without changing it. Rejects with a DataDirectoryProblem. */
export function examinePostgres(address: DatabaseAddress): Promise<PostgresFacts> {
  return withPostgres(address, factsOf);
}

/** Reads a shared database and its books without changing them. */
export function examinePostgresBooks(address: DatabaseAddress): Promise<PostgresFacts & PostgresBooks> {
  return withPostgres(address, async (database) => {
    const facts = await factsOf(database);
    const hasJournals = (await tablesIn(database)).has('ledger_journals');
    return {
      ...facts,
      journals: hasJournals ? await readJournals(database) : new Map(),
      // Rows are not summed: with millions of them that exceeds the time limit of a statement here.
      totals: facts.schema.missing.length === 0 ? await totalsIn(database, { sumsRows: false }) : undefined,
    };
  });
}

async function tablesIn(database: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const { rows } = await sql.raw<{ name: string }>(TABLES_THERE).execute(database);
  return new Set(rows.map(({ name }) => name));
}

async function factsOf(database: Kysely<Tables>): Promise<PostgresFacts> {
  const all = async <Row>(text: string) => (await sql.raw<Row>(text).execute(database)).rows;
  const beganAt = performance.now();
  const askedAtMs = Date.now();
  const [server] = await all<{ at: string; bytes: string }>(
    'select extract(epoch from clock_timestamp()) * 1000 as at, pg_database_size(current_database()) as bytes',
  );
  const roundTripMs = performance.now() - beganAt;
  const [limits] = await all<{ allowed: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) as allowed`,
  );
  const tables = await tablesIn(database);
  const from = async <Row>(table: string, text: string) => (tables.has(table) ? await all<Row>(text) : []);
  const applied = await from<{ name: string }>('schema_migrations', QUERIES.migrations);
  const required = await from<{ requires: string }>('schema_requirements', QUERIES.requirements);
  const schema = schemaStateOf(recordsOf(applied, required), 'postgres');
  const keys: { id: string }[] = [];
  for (const table of SECRET_TABLES)
    keys.push(...(await from<{ id: string }>(table, encryptionKeysIn(table))));
  const apps = await from('apps', QUERIES.anApp);
  const files = await from<{ id: string; bytes: string }>('files', QUERIES.files);
  const [running] = await from<{ gateways: number }>('ledger_journals', COUNT_RUNNING_GATEWAYS);
  const [settled] = await from<{ at: string | null }>('generations', QUERIES.lastSettled);
  return {
    roundTripMs,
    bytes: Number(server?.bytes ?? 0),
    schema,
    encryptionKeyIds: keyIdsOf(keys),
    lastSettledAtMs: settled?.at == null ? undefined : Number(settled.at),
    hasApps: apps.length > 0,
    files: files.map(({ id, bytes }) => ({ id, bytes: Number(bytes) })),
    clockAheadMs: Number(server?.at ?? askedAtMs) - (askedAtMs + roundTripMs / 2),
    connections: {
      gateways: running?.gateways ?? 0,
      perGateway: CONNECTIONS_PER_GATEWAY,
      allowed: limits?.allowed ?? 0,
    },
  };
}
