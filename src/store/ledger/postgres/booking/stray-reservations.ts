import { type Kysely, sql } from 'kysely';
import type { LedgerReservationRow, Tables } from '../../../sql/tables.ts';
import { DEAD_AFTER_MS } from '../heartbeat.ts';
import type { DatabaseClock } from '../tallies/database-clock.ts';
import { type GenerationEnd, releaseStrays } from './book-ends.ts';

const MAX_FOUND = 500;

export interface Sweeper {
  readonly gatewayId: string;
  /** Owner token of the run; undefined = ownership is not checked. */
  readonly owner: string | undefined;
  /** Whether a generation or a slice of this gateway is in use. */
  isInUse(id: string): boolean;
  /** Whether gateways that were not seen for a while are dead. */
  readonly mayJudge: boolean;
  readonly clock: DatabaseClock;
}

/**
 * Releases reservations that no gateway will end. Resolves with their number. Rejects with JournalTakenOver or
 * DatabaseUnavailable.
 */
export async function sweepStrays(database: Kysely<Tables>, sweeper: Sweeper): Promise<number> {
  const { gatewayId, owner, clock } = sweeper;
  const release = async (strays: readonly GenerationEnd[]) =>
    strays.length === 0 ? 0 : releaseStrays(database, { gatewayId, owner, strays, clock });
  let released = await release(await ownStrays(database, sweeper));
  for (;;) {
    const strays = await straysOfOthers(database, sweeper);
    released += await release(strays);
    if (strays.length < MAX_FOUND) return released;
  }
}

/** Unknown reservations of this gateway, which lost the answer to its statement or crashed at that moment. */
async function ownStrays(
  database: Kysely<Tables>,
  { gatewayId, isInUse }: Sweeper,
): Promise<GenerationEnd[]> {
  const { rows } = await sql<LedgerReservationRow>`
    select * from ledger_reservations where gateway_id = ${gatewayId}`.execute(database);
  return rows.filter((row) => !isInUse(row.generation_id)).map(strayOf);
}

/**
 * Reservations of other gateways that will not end them: expired ones, and those of gateways that died. A reservation
 * proves that its gateway lived when it was made. At most `MAX_FOUND`.
 */
async function straysOfOthers(
  database: Kysely<Tables>,
  { gatewayId, mayJudge, clock }: Sweeper,
): Promise<GenerationEnd[]> {
  const { rows } = await sql<LedgerReservationRow>`
    select r.* from ledger_reservations r left join ledger_gateways g on g.gateway_id = r.gateway_id,
      (select ${clock()} as at_ms) now
    where r.gateway_id <> ${gatewayId} and (
      r.expires_at_ms < now.at_ms
      or (${mayJudge}::boolean and r.has_heartbeat
        and greatest(g.seen_at_ms, r.reserved_at_ms) < now.at_ms - ${sql.lit(DEAD_AFTER_MS)}
        and g.gateway_id is not null)
    )
    order by r.expires_at_ms limit ${sql.lit(MAX_FOUND)}`.execute(database);
  return rows.map(strayOf);
}

function strayOf(row: LedgerReservationRow): GenerationEnd {
  return {
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
  };
}
