import type { DatabaseAddress } from '../../kit/net/database-address.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { DatabaseUnavailable } from '../sql/database-unavailable.ts';
import { PostgresConnection, type PostgresTimes } from '../sql/postgres/postgres-connection.ts';

export interface ListeningConnectionOptions {
  readonly address: DatabaseAddress;
  readonly clock: Pick<Clock, 'monotonic'>;
  notified(): void;
}

const TIMES: PostgresTimes = { connectMs: 2_000, statementMs: 2_000 };

/** Bounds of the time between two attempts to connect, milliseconds. It doubles with each failure. */
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 4_000;

/**
 * A connection of its own that listens for changes: one of the pool would be given to other work. Connects with its
 * first statement, and again after it was lost.
 */
export class ListeningConnection {
  readonly #options: ListeningConnectionOptions;
  #connection: PostgresConnection | undefined;
  #retryMs = MIN_RETRY_MS;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: ListeningConnectionOptions) {
    this.#options = options;
  }

  /** Runs a statement after it listens. Rejects with DatabaseUnavailable, at once between two attempts to connect. */
  async query<Row>(
    statement: string,
    parameters: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[] }> {
    const connection = this.#current();
    try {
      const result = await connection.query<Row>(statement, parameters);
      this.#retryMs = MIN_RETRY_MS;
      return result;
    } catch (error) {
      if (connection.isBroken) this.#lose(connection);
      throw error;
    }
  }

  /** Gives the connection up, so that the next statement opens another. */
  renew(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#retryAtMs = Number.NEGATIVE_INFINITY;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  #current(): PostgresConnection {
    if (this.#connection !== undefined) return this.#connection;
    const { address, clock, notified } = this.#options;
    if (this.#isClosed || clock.monotonic() < this.#retryAtMs) throw new DatabaseUnavailable();
    const connection = new PostgresConnection(address, TIMES, () => {}, notified);
    this.#connection = connection;
    // Statements of a connection run in order; if this one fails, so does the one behind it.
    connection.query('listen signalbox_changes', []).catch(() => this.#lose(connection));
    return connection;
  }

  #lose(connection: PostgresConnection): void {
    connection.close();
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#retryAtMs = this.#options.clock.monotonic() + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }
}
