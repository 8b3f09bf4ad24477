import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { RowPlace, RowRange, SettledPage, SettledRows } from '../../ports/following/settled-rows.ts';
import {
  BEFORE_ALL,
  type BookedPosition,
  lastBooked,
  type PlaceRow,
  positionOf,
  resetFutureBookings,
} from '../sql/stores/booked-generations.ts';
import { generationOfRow } from '../sql/stores/sql-generation-store.ts';
import type { GenerationTableRow, Tables } from '../sql/tables.ts';

/** A position, and what makes it valid. */
interface SharedPlace extends BookedPosition {
  /** See BookedPage. */
  readonly history: string;
  /** Rows that were settled before are left out; null = none are. */
  readonly sinceMs: number | null;
}

/**
 * Rows of the shared database, in the order of the transactions that booked them. Rows of transactions after the
 * oldest running one are left for later.
 */
export class PostgresSettledRows implements SettledRows {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Also before rows of transactions that still run. */
  async begin(_workspaceId: string, sinceMs: number): Promise<RowPlace> {
    const { rows } = await sql<{ history: string; booked_in: string }>`
      with recent as materialized (select booked_in from generations where settled_at_ms >= ${sinceMs}::bigint)
      select ${HISTORY} as history, booked_in from (
        select booked_in from recent union all select pg_snapshot_xmin(pg_current_snapshot())
      ) places, ${SERVER}
      order by booked_in limit 1`.execute(this.#database);
    const [{ history = '', booked_in: bookedIn = '0' } = {}] = rows;
    return textOf({ ...BEFORE_ALL, bookedIn, history, sinceMs });
  }

  async end(): Promise<RowPlace> {
    const { history, last } = await lastBooked(this.#database);
    return textOf({ ...(last ?? BEFORE_ALL), history, sinceMs: null });
  }

  async read(range: RowRange, limit: number): Promise<SettledPage> {
    const { rows } = await sql<GenerationTableRow & PlaceRow>`
      select * from generations where ${await this.#within(range)}
      order by booked_in, settled_at_ms, id limit ${limit}`.execute(this.#database);
    return {
      generations: rows.map(generationOfRow),
      place: rows.length < limit ? endOf(range) : behindRow(range, rows.at(-1)),
    };
  }

  async count(range: RowRange, atMost: number): Promise<number> {
    const { rows } = await sql<{ total: string }>`
      select count(*) as total from (
        select 1 from generations where ${await this.#within(range)} limit ${atMost}
      ) waiting`.execute(this.#database);
    return Number(rows[0]?.total ?? 0);
  }

  async skip(range: RowRange, count: number): Promise<RowPlace> {
    if (count === 0) return range.behind;
    const { rows } = await sql<PlaceRow>`
      select booked_in, settled_at_ms, id from generations where ${await this.#within(range)}
      order by booked_in, settled_at_ms, id limit 1 offset ${count - 1}`.execute(this.#database);
    return rows[0] === undefined ? endOf(range) : behindRow(range, rows[0]);
  }

  /** All rows are kept in order. */
  async release(): Promise<void> {}

  async #within({ workspaceId, behind, until }: RowRange): Promise<RawBuilder<boolean>> {
    const last = placeOf(until);
    const first = translated(placeOf(behind), last);
    if (first.history !== placeOf(behind).history) await resetFutureBookings(this.#database);
    const sinceMs = first.sinceMs ?? Number.MIN_SAFE_INTEGER;
    return sql<boolean>`(booked_in, settled_at_ms, id) > ${rowOf(first)}
      and (booked_in, settled_at_ms, id) <= ${rowOf(last)}
      and workspace_id = ${workspaceId} and settled_at_ms >= ${sinceMs}::bigint`;
  }
}

const SERVER = sql`pg_control_system() server cross join pg_control_checkpoint() checkpoint`;

const HISTORY = sql`server.system_identifier || '/' || checkpoint.timeline_id`;

function rowOf({ bookedIn, settledAtMs, id }: BookedPosition): RawBuilder<unknown> {
  return sql`(${bookedIn}::text::xid8, ${settledAtMs}::bigint, ${id}::text)`;
}

/**
 * A place in the history of another. On another server transactions have other numbers: there a follower goes on with
 * what was settled at or after its place.
 */
function translated(place: SharedPlace, { history }: SharedPlace): SharedPlace {
  if (place.history === history) return place;
  const sinceMs = Math.max(place.settledAtMs, place.sinceMs ?? Number.MIN_SAFE_INTEGER);
  return { ...BEFORE_ALL, history, sinceMs };
}

function behindRow(range: RowRange, row: PlaceRow | undefined): RowPlace {
  if (row === undefined) return range.until;
  const until = placeOf(range.until);
  const { history, sinceMs } = translated(placeOf(range.behind), until);
  return textOf({ ...positionOf(row), history, sinceMs });
}

/** The end of a range. As long as no row is visible, it remembers which ones are to be left out. */
function endOf({ behind, until }: RowRange): RowPlace {
  const last = placeOf(until);
  if (last.settledAtMs !== BEFORE_ALL.settledAtMs) return until;
  return textOf({ ...last, sinceMs: translated(placeOf(behind), last).sinceMs });
}

function textOf({ history, bookedIn, settledAtMs, id, sinceMs }: SharedPlace): RowPlace {
  return JSON.stringify([history, bookedIn, settledAtMs, id, sinceMs]);
}

function placeOf(place: RowPlace): SharedPlace {
  const [history, bookedIn, settledAtMs, id, sinceMs] = JSON.parse(place) as [
    string,
    string,
    number,
    string,
    number | null,
  ];
  return { history, bookedIn, settledAtMs, id, sinceMs };
}
