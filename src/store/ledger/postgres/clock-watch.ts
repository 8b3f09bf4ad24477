import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../../kit/time/clock.ts';
import type { Tables } from '../../sql/tables.ts';
import type { DatabaseClock } from './tallies/database-clock.ts';

export interface ClockWatchOptions {
  readonly database: Kysely<Tables>;
  readonly databaseClock: DatabaseClock;
  /** Of this gateway. */
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Above the first the difference is warned of, above the second nothing that a limit covers is begun, milliseconds. */
const WARNING_MS = 2_000;
const REFUSING_MS = 60_000;

const MEND = 'set the clock of this machine, or that of the database server, by a time server (NTP)';

/** Compares the clock of this gateway with that of the database, which the windows of limits go by. */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #aheadMs: number | null = null;
  /** How much of that cannot be the time that the question was under way. */
  #certainMs = 0;
  #isWarned = false;
  #isRefusing = false;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** How far this gateway's clock is ahead of the database's, milliseconds; null until it was compared. */
  get aheadMs(): number | null {
    return this.#aheadMs;
  }

  /** Too far apart for limits that begin anew at a moment. */
  get isFarOff(): boolean {
    return this.#certainMs > REFUSING_MS;
  }

  /** Asks the database for its time. Rejects with DatabaseUnavailable. */
  async compare(): Promise<void> {
    const { database, databaseClock, clock } = this.#options;
    const askedAtMs = clock.now();
    const beganAt = clock.monotonic();
    const { rows } = await sql<{ at_ms: string }>`select ${databaseClock()} as at_ms`.execute(database);
    const halfTripMs = (clock.monotonic() - beganAt) / 2;
    const databaseMs = Number(rows[0]?.at_ms);
    this.#aheadMs = askedAtMs + halfTripMs - databaseMs;
    this.#certainMs = Math.abs(this.#aheadMs) - halfTripMs;
    this.#tell(askedAtMs + halfTripMs, databaseMs);
  }

  #tell(gatewayMs: number, databaseMs: number): void {
    const { warn } = this.#options;
    const times = {
      gateway_time: new Date(gatewayMs).toISOString(),
      database_time: new Date(databaseMs).toISOString(),
    };
    if (this.isFarOff && !this.#isRefusing) {
      const message =
        'the clock of this gateway is more than a minute off that of the database: requests that a limit, a budget or a balance covers get 503 until it is right';
      warn(message, { ...times, mend: MEND });
    }
    this.#isRefusing = this.isFarOff;
    const isOff = this.#certainMs > WARNING_MS;
    if (isOff === this.#isWarned) return;
    this.#isWarned = isOff;
    if (isOff) {
      warn(
        'the clock of this gateway differs from that of the database, which decides when limits begin anew',
        {
          ...times,
          mend: MEND,
        },
      );
    } else warn('the clock of this gateway agrees with that of the database again', times);
  }
}
