import { type Kysely, sql } from 'kysely';
import type { StoredGeneration } from '../../../ports/generations.ts';
import type { GenerationTableRow, Tables } from '../tables.ts';
import { generationOfRow } from './sql-generation-store.ts';

/** A place among generations in the order of the transactions that booked them. PostgreSQL alone has it. */
export interface BookedPlace {
  /** The number of the transaction. */
  readonly bookedIn: string;
  readonly settledAtMs: number;
  readonly id: string;
}

/** The place before all generations. */
export const BEFORE_ALL: BookedPlace = { bookedIn: '0', settledAtMs: Number.MIN_SAFE_INTEGER, id: '' };

/** Generations that follow a place. */
export interface BookedPage {
  /** The server and its history: numbers of transactions, and so places, mean nothing in another one. */
  readonly history: string;
  readonly generations: readonly StoredGeneration[];
  /** Where they end; undefined when there are none. */
  readonly end: BookedPlace | undefined;
}

/**
 * At most `limit` generations behind a place. Those of transactions that somebody may still commit something before are
 * left for later, so nothing ever appears before a place that was reached.
 */
export async function bookedAfter(
  database: Kysely<Tables>,
  { bookedIn, settledAtMs, id }: BookedPlace,
  limit: number,
): Promise<BookedPage> {
  const { rows } = await sql<{ history: string } & (BookedRow | Record<keyof BookedRow, null>)>`
    select server.system_identifier || '/' || checkpoint.timeline_id as history, booked.*
    from pg_control_system() server cross join pg_control_checkpoint() checkpoint left join lateral (
      select * from generations
      where (booked_in, settled_at_ms, id) > (${bookedIn}::text::xid8, ${settledAtMs}::bigint, ${id}::text)
        and booked_in < pg_snapshot_xmin(pg_current_snapshot())
      order by booked_in, settled_at_ms, id
      limit ${limit}
    ) booked on true
    order by booked_in, settled_at_ms, id`.execute(database);
  const booked = rows.filter((row): row is { history: string } & BookedRow => row.id !== null);
  const last = booked.at(-1);
  return {
    history: rows[0]?.history ?? '',
    generations: booked.map(generationOfRow),
    end: last && { bookedIn: last.booked_in, settledAtMs: Number(last.settled_at_ms), id: last.id },
  };
}

type BookedRow = GenerationTableRow & { readonly booked_in: string };

/**
 * Gives generations to transaction 0 that a later one than any of this server is said to have booked: they came from another
 * server, with a backup, and nobody would see them before this one has got so far.
 */
export async function adoptGenerations(database: Kysely<Tables>): Promise<void> {
  await sql`update generations set booked_in = '0'
    where booked_in >= pg_snapshot_xmax(pg_current_snapshot())`.execute(database);
}
