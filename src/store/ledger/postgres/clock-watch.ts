import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../../kit/time/clock.ts';
import type { Tables } from '../../sql/tables.ts';
import type { DatabaseClock } from './tallies/database-clock.ts';

export interface ClockWatchOptions {
  readonly database: Kysely<Tables>;
  readonly databaseClock: DatabaseClock;
  /** The gateway's own clock. */
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Differences above which a warning is logged, and above which limited work is refused, milliseconds. */
const WARNING_MS = 2_000;
const REFUSING_MS = 60_000;

const MEND = 'set the clock of this machine, or that of the database server, by a time server (NTP)';

/** Compares the gateway's clock with the database's, which decides the windows of limits. */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #aheadMs: number | null = null;
  /** The part of the difference that the round trip cannot explain. */
  #certainMs = 0;
  #isWarned = false;
  #isRefusing = false;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** How far the gateway's clock is ahead of the database's, milliseconds; null before the first comparison. */
  get aheadMs(): number | null {
    return this.#aheadMs;
  }

  /** Too far apart to know the current window of a limit. */
  get isFarOff(): boolean {
    return this.#certainMs > REFUSING_MS;
  }

  /** Reads the database's time. Rejects with DatabaseUnavailable. */
  async compare(): Promise<void> {
    const { database, databaseClock, clock } = this.#options;
    const askedAtMs = clock.now();
    const beganAt = clock.monotonic();
    const { rows } = await sql<{ at_ms: string }>`select ${databaseClock()} as at_ms`.execute(database);
    const halfTripMs = (clock.monotonic() - beganAt) / 2;
    const databaseMs = Number(rows[0]?.at_ms);
    this.#aheadMs = askedAtMs + halfTripMs - databaseMs;
    this.#certainMs = Math.abs(this.#aheadMs) - halfTripMs;
    this.#warn(askedAtMs + halfTripMs, databaseMs);
  }

  #warn(gatewayMs: number, databaseMs: number): void {
    const { warn } = this.#options;
    const times = {
      gateway_time: new Date(gatewayMs).toISOString(),
      database_time: new Date(databaseMs).toISOString(),
    };
    if (this.isFarOff && !this.#isRefusing) {
      const message =
        'the clock of this gateway is more than a minute off that of the database: requests that a ' +
        'limit, a budget or a balance covers get 503 until it is right';
      warn(message, { ...times, mend: MEND });
    }
    this.#isRefusing = this.isFarOff;
    const isOff = this.#certainMs > WARNING_MS;
    if (isOff === this.#isWarned) return;
    this.#isWarned = isOff;
    if (isOff) {
      warn('the clock of this gateway differs from that of the database, which decides when limits reset', {
        ...times,
        mend: MEND,
      });
    } else warn('the clock of this gateway agrees with that of the database again', times);
  }
}
