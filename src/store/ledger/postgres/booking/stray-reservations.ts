import { type Kysely, sql } from 'kysely';
import type { LedgerReservationRow, Tables } from '../../../sql/tables.ts';
import type { DatabaseClock } from '../tallies/database-clock.ts';
import type { GenerationEnd } from './book-ends.ts';

/** Reservations of others that are found at a time. */
const BATCH = 200;

/**
 * Reservations that nobody will end: those of other gateways that expired, because they never came back, and those of this
 * gateway that it knows nothing of, because the answer to its statement was lost or it ended right then.
 */
export async function strayReservations(
  database: Kysely<Tables>,
  gatewayId: string,
  isUnfinished: (generationId: string) => boolean,
  clock: DatabaseClock,
): Promise<GenerationEnd[]> {
  const own = await sql<LedgerReservationRow>`
    select * from ledger_reservations where gateway_id = ${gatewayId}`.execute(database);
  const expired = await sql<LedgerReservationRow>`
    select * from ledger_reservations
    where expires_at_ms < ${clock()} and gateway_id <> ${gatewayId}
    order by expires_at_ms limit ${sql.lit(BATCH)}`.execute(database);
  const unknown = own.rows.filter((row) => !isUnfinished(row.generation_id));
  return [...unknown, ...expired.rows].map((row) => ({
    generationId: row.generation_id,
    sequence: undefined,
    scopes: { key: row.key_hash, workspace: row.workspace_id, account: row.account_id },
    // Nothing is charged, so that no limit matters.
    limits: { key: [], workspace: [] },
    settled: undefined,
  }));
}
