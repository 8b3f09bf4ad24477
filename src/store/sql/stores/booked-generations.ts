import { type Kysely, sql } from 'kysely';
import type { GenerationPage, OrderedGenerations } from '../../../ports/following/ordered-generations.ts';
import type { RowPlace } from '../../../ports/following/settled-rows.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import type { GenerationTableRow, Tables } from '../tables.ts';
import { generationOfRow } from './sql-generation-store.ts';

/** A position among generations in the order of their booking transactions. PostgreSQL only. */
export interface BookedPosition {
  /** Transaction id. */
  readonly bookedIn: string;
  readonly settledAtMs: number;
  readonly id: string;
}

/** The position before all generations. */
export const BEFORE_ALL: BookedPosition = { bookedIn: '0', settledAtMs: Number.MIN_SAFE_INTEGER, id: '' };

/** Generations and refused requests after a position. */
export interface BookedPage {
  /** Identifies the server and its timeline: transaction ids, and so positions, are valid within one history only. */
  readonly history: string;
  readonly generations: readonly StoredGeneration[];
  /** Position of the last one; undefined when there are none. */
  readonly end: BookedPosition | undefined;
}

/**
 * At most `limit` generations after a position. Transactions after the oldest running one are left for later, so that
 * no generation ever appears before a position that was reached.
 */
export async function bookedAfter(
  database: Kysely<Tables>,
  { bookedIn, settledAtMs, id }: BookedPosition,
  limit: number,
): Promise<BookedPage> {
  const { rows } = await sql<{ history: string } & (BookedRow | Record<keyof BookedRow, null>)>`
    select server.system_identifier || '/' || checkpoint.timeline_id as history, booked.*
    from pg_control_system() server cross join pg_control_checkpoint() checkpoint left join lateral (
      (select ${COLUMNS} from generations
        where (booked_in, settled_at_ms, id) > (${bookedIn}::text::xid8, ${settledAtMs}::bigint, ${id}::text)
          and booked_in < pg_snapshot_xmin(pg_current_snapshot())
        order by booked_in, settled_at_ms, id
        limit ${limit})
      union all
      (select ${REFUSED_COLUMNS} from refused_requests
        where (booked_in, refused_at_ms, id) > (${bookedIn}::text::xid8, ${settledAtMs}::bigint, ${id}::text)
          and booked_in < pg_snapshot_xmin(pg_current_snapshot())
        order by booked_in, refused_at_ms, id
        limit ${limit})
      order by booked_in, settled_at_ms, id
      limit ${limit}
    ) booked on true
    order by booked_in, settled_at_ms, id`.execute(database);
  const booked = rows.filter((row): row is { history: string } & BookedRow => row.id !== null);
  const last = booked.at(-1);
  return {
    history: rows[0]?.history ?? '',
    generations: booked.map(generationOfRow),
    end: last && positionOf(last),
  };
}

/** The last generation of those that `bookedAfter` would return from the beginning. */
export async function lastBooked(
  database: Kysely<Tables>,
): Promise<{ readonly history: string; readonly last: BookedPosition | undefined }> {
  const { rows } = await sql<{ history: string } & (PlaceRow | Record<keyof PlaceRow, null>)>`
    select server.system_identifier || '/' || checkpoint.timeline_id as history, last.*
    from pg_control_system() server cross join pg_control_checkpoint() checkpoint left join lateral (
      select booked_in, settled_at_ms, id from generations
      where booked_in < pg_snapshot_xmin(pg_current_snapshot())
      order by booked_in desc, settled_at_ms desc, id desc limit 1
    ) last on true`.execute(database);
  const [row] = rows;
  return { history: row?.history ?? '', last: row?.id == null ? undefined : positionOf(row) };
}

/** The columns of a position. */
export type PlaceRow = Pick<GenerationTableRow, 'settled_at_ms' | 'id'> & { readonly booked_in: string };

export function positionOf({ booked_in, settled_at_ms, id }: PlaceRow): BookedPosition {
  return { bookedIn: booked_in, settledAtMs: Number(settled_at_ms), id };
}
const COLUMNS = sql`id, account_id, workspace_id, key_hash, settled_at_ms, credit_nanos, byok_nanos,
  written_off_nanos, written_off_cause, details, booked_in`;

/** A refused request as a generation that cost nothing. */
const REFUSED_COLUMNS = sql`id, account_id, workspace_id, key_hash, refused_at_ms as settled_at_ms,
  0::bigint as credit_nanos, 0::bigint as byok_nanos, 0::bigint as written_off_nanos,
  null::text as written_off_cause, details, booked_in`;

type BookedRow = GenerationTableRow & { readonly booked_in: string };

/**
 * Assigns rows with a transaction id from the future to transaction 0: they came with a backup of another
 * server, and would stay invisible until this server reaches that id.
 */
export async function resetFutureBookings(database: Kysely<Tables>): Promise<void> {
  for (const table of ['generations', 'refused_requests']) {
    await sql`update ${sql.table(table)} set booked_in = '0'
      where booked_in >= pg_snapshot_xmax(pg_current_snapshot())`.execute(database);
  }
}

/** A position, and the history in which it is valid. */
interface BookedPlace extends BookedPosition {
  /** See BookedPage. */
  readonly history: string;
}

/** Rows of the shared database in the order of the transactions that booked them. */
export class BookedGenerations implements OrderedGenerations {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Rows of future transactions would become visible before it. */
  async end(): Promise<RowPlace | null> {
    await resetFutureBookings(this.#database);
    const { history, last } = await lastBooked(this.#database);
    return last === undefined ? null : textOf({ ...last, history });
  }

  async behind(place: RowPlace | null, limit: number): Promise<GenerationPage | undefined> {
    const from = place === null ? undefined : placeOf(place);
    const { history, generations, end } = await bookedAfter(this.#database, from ?? BEFORE_ALL, limit);
    if (from !== undefined && from.history !== history) {
      await resetFutureBookings(this.#database);
      return undefined;
    }
    return { generations, place: end === undefined ? place : textOf({ ...end, history }) };
  }

  /** Other gateways add rows too. */
  async endOf(): Promise<undefined> {}
}

function textOf({ history, bookedIn, settledAtMs, id }: BookedPlace): RowPlace {
  return JSON.stringify([history, bookedIn, settledAtMs, id]);
}

function placeOf(place: RowPlace): BookedPlace {
  const [history, bookedIn, settledAtMs, id] = JSON.parse(place) as [string, string, number, string];
  return { history, bookedIn, settledAtMs, id };
}
