import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../sql/tables.ts';
import type { DatabaseClock } from './tallies/database-clock.ts';

export interface HeartbeatOptions {
  readonly database: Kysely<Tables>;
  readonly databaseClock: DatabaseClock;
  readonly gatewayId: () => string;
  /** The gateway's monotonic clock, milliseconds. */
  monotonicMs(): number;
}

/** Other gateways release what a gateway holds that was not seen for this time, milliseconds. */
export const DEAD_AFTER_MS = 40_000;

/** Longest time between two of its own heartbeats for a gateway that judges others, milliseconds. */
const MAX_GAP_MS = 15_000;

/** How long a gateway must have been seen without a larger gap before it judges others, milliseconds. */
const STEADY_MS = 20_000;

/**
 * Shows other gateways that this one lives, by a row with the database's time. While the database is away, or when its
 * clock jumps, the rows of all gateways look old. A gateway therefore judges others only after its own heartbeats came
 * in time for a while: by then the others have been seen again.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #steadySinceMs: number | undefined;
  #seenAtMs: number | undefined;
  #sentAtMs: number | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Writes the row. Rejects with DatabaseUnavailable. */
  async beat(): Promise<void> {
    const { database, databaseClock, monotonicMs } = this.#options;
    const gatewayId = this.#options.gatewayId();
    const sentAtMs = monotonicMs();
    const { rows } = await sql<{ seen_at_ms: string }>`
      insert into ledger_gateways (gateway_id, seen_at_ms) values (${gatewayId}, ${databaseClock()})
      on conflict (gateway_id) do update set seen_at_ms = excluded.seen_at_ms
      returning seen_at_ms`.execute(database);
    const seenAtMs = Number(rows[0]?.seen_at_ms);
    const gapMs = seenAtMs - (this.#seenAtMs ?? Number.NEGATIVE_INFINITY);
    if (gapMs < 0 || gapMs > MAX_GAP_MS) this.#steadySinceMs = seenAtMs;
    this.#seenAtMs = seenAtMs;
    this.#sentAtMs = sentAtMs;
  }

  /** Whether a gateway that was not seen for `DEAD_AFTER_MS` is dead. */
  get mayJudge(): boolean {
    if (this.#seenAtMs === undefined || this.#steadySinceMs === undefined) return false;
    return this.#seenAtMs - this.#steadySinceMs >= STEADY_MS;
  }

  /** When the last heartbeat that was answered was sent, by the monotonic clock; undefined = none was. */
  get sentAtMs(): number | undefined {
    return this.#sentAtMs;
  }
}
