import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { FollowerNote, FollowerNotes } from '../../ports/following/follower-notes.ts';
import { PostgresLease } from '../sql/postgres/postgres-lease.ts';
import type { FollowerNoteRow, Tables } from '../sql/tables.ts';

/** Which of the gateways that share a database runs followers. */
interface Turn {
  take(): Promise<boolean>;
  end(): Promise<void>;
  /** True in a statement if this gateway has it. */
  readonly isHeld: RawBuilder<boolean>;
}

/** How long a turn lasts unless it is renewed, milliseconds: after a crash another gateway goes on that much later. */
const TURN_MS = 10_000;

const TURN_NAME = 'followers';

export class SqlFollowerNotes implements FollowerNotes {
  readonly #database: Kysely<Tables>;
  readonly #turn: Turn;

  private constructor(database: Kysely<Tables>, turn: Turn) {
    this.#database = database;
    this.#turn = turn;
  }

  /** Notes of one gateway alone. */
  static embedded(database: Kysely<Tables>): SqlFollowerNotes {
    return new SqlFollowerNotes(database, {
      take: async () => true,
      end: async () => {},
      isHeld: sql<boolean>`true`,
    });
  }

  /** Notes of gateways that share a PostgreSQL database. */
  static shared(database: Kysely<Tables>): SqlFollowerNotes {
    const lease = new PostgresLease(database, TURN_MS);
    return new SqlFollowerNotes(database, {
      take: async () => (await lease.take(TURN_NAME)).isHeld,
      end: () => lease.release(TURN_NAME),
      isHeld: lease.isHolder(TURN_NAME),
    });
  }

  takeTurn(): Promise<boolean> {
    return this.#turn.take();
  }

  endTurn(): Promise<void> {
    return this.#turn.end();
  }

  async listAll(): Promise<ReadonlyMap<string, FollowerNote>> {
    const rows = await this.#database.selectFrom('follower_notes').selectAll().execute();
    return new Map(rows.map((row) => [row.id, noteOf(row)]));
  }

  async note(followerId: string, note: FollowerNote): Promise<boolean> {
    const { place, taken, dropped, waiting, problem, problemSinceMs, updatedAtMs } = note;
    const { numAffectedRows } = await sql`
      insert into follower_notes
        (id, place, taken, dropped, waiting, problem, problem_since_ms, updated_at_ms)
      select ${followerId}, ${place}, cast(${taken} as bigint), cast(${dropped} as bigint),
        cast(${waiting} as bigint), ${problem}, cast(${problemSinceMs} as bigint), cast(${updatedAtMs} as bigint)
      where ${this.#turn.isHeld}
      on conflict (id) do update set place = excluded.place, taken = excluded.taken, dropped = excluded.dropped,
        waiting = excluded.waiting, problem = excluded.problem, problem_since_ms = excluded.problem_since_ms,
        updated_at_ms = excluded.updated_at_ms`.execute(this.#database);
    return Number(numAffectedRows ?? 0) > 0;
  }

  async forget(followerId: string): Promise<void> {
    await this.#database
      .deleteFrom('follower_notes')
      .where('id', '=', followerId)
      .where(this.#turn.isHeld)
      .execute();
  }
}

function noteOf(row: FollowerNoteRow): FollowerNote {
  return {
    place: row.place,
    taken: Number(row.taken),
    dropped: Number(row.dropped),
    waiting: Number(row.waiting),
    problem: row.problem,
    problemSinceMs: row.problem_since_ms === null ? null : Number(row.problem_since_ms),
    updatedAtMs: Number(row.updated_at_ms),
  };
}
