import { type Kysely, sql } from 'kysely';
import type { LedgerReservationRow, Tables } from '../../../sql/tables.ts';
import type { DatabaseClock } from '../tallies/database-clock.ts';
import type { GenerationEnd } from './book-ends.ts';

/** Maximum of expired reservations found at a time. */
const MAX_EXPIRED = 200;

/**
 * Reservations that no gateway will end: expired ones of other gateways, which did not return, and unknown ones of
 * this gateway, which lost the answer to its statement or crashed at that moment.
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
    order by expires_at_ms limit ${sql.lit(MAX_EXPIRED)}`.execute(database);
  const unknown = own.rows.filter((row) => !isUnfinished(row.generation_id));
  return [...unknown, ...expired.rows].map((row) => ({
    generationId: row.generation_id,
    sequence: undefined,
    scopes: {
      key: row.key_hash,
      workspace: row.workspace_id,
      account: row.account_id,
      ...(row.member_id !== null && { member: row.member_id }),
    },
    // Nothing is charged, so no limit applies.
    limits: { key: [], workspace: [] },
    settled: undefined,
  }));
}
