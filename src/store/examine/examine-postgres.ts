import { type Kysely, sql } from 'kysely';
import type { DatabaseAddress } from '../../kit/net/database-address.ts';
import type { PostgresFacts } from '../../ports/installation/store-facts.ts';
import type { BookedEnds } from '../ledger/postgres/booking/booked-ends.ts';
import { readJournals } from '../ledger/postgres/booking/journal-rows.ts';
import { type Totals, totalsIn } from '../ledger/postgres/tallies/account-statements.ts';
import { tablesThere } from '../sql/migrate.ts';
import { COUNT_RUNNING_GATEWAYS } from '../sql/postgres/gateway-lock.ts';
import { CONNECTIONS_PER_GATEWAY, withPostgres } from '../sql/postgres/open-postgres.ts';
import type { Tables } from '../sql/tables.ts';
import { databaseFacts, rowReader } from './database-facts.ts';

/** The books of a shared database, which a running gateway reports itself. */
export interface PostgresBooks {
  /** The money of all accounts; undefined while migrations are missing. */
  readonly totals: Totals | undefined;
  /** Booked ends of each gateway's journal, by gateway id. */
  readonly journals: ReadonlyMap<string, BookedEnds>;
}

/** Reads a shared database without changing it. Rejects with a DataDirectoryProblem. */
export function examinePostgres(address: DatabaseAddress): Promise<PostgresFacts> {
  return withPostgres(address, factsOf);
}

/** Reads a shared database and its books without changing them. */
export function examinePostgresBooks(address: DatabaseAddress): Promise<PostgresFacts & PostgresBooks> {
  return withPostgres(address, async (database) => {
    const facts = await factsOf(database);
    const hasJournals = (await tablesThere(database, 'postgres')).has('ledger_journals');
    return {
      ...facts,
      journals: hasJournals ? await readJournals(database) : new Map(),
      // Rows are not summed: with millions of them that exceeds the time limit of a statement here.
      totals: facts.schema.missing.length === 0 ? await totalsIn(database, { sumsRows: false }) : undefined,
    };
  });
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
  const read = await rowReader(database, 'postgres');
  const [running] = await read<{ gateways: number }>('ledger_journals', COUNT_RUNNING_GATEWAYS);
  return {
    ...(await databaseFacts(database, 'postgres', read)),
    roundTripMs,
    bytes: Number(server?.bytes ?? 0),
    clockAheadMs: Number(server?.at ?? askedAtMs) - (askedAtMs + roundTripMs / 2),
    connections: {
      gateways: running?.gateways ?? 0,
      perGateway: CONNECTIONS_PER_GATEWAY,
      allowed: limits?.allowed ?? 0,
    },
  };
}
