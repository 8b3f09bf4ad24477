import type { PostgresPool as KyselyPool } from 'kysely';
import type { DatabaseAddress } from '../../../kit/net/database-address.ts';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import { PostgresConnection, type PostgresTimes } from './postgres-connection.ts';

export interface PoolLimits extends PostgresTimes {
  readonly connections: number;
}

/**
 * Interval between probes while the database is down, milliseconds. A probe does not wait for the end of the last one,
 * which may be lost in the network that the database is back on.
 */
const PROBE_MS = 500;

/** A probe without an answer has failed after this time, milliseconds: also where a statement may take minutes. */
const MAX_PROBE_MS = 6_000;

/** A probe without an answer has failed after this time while callers wait for it, milliseconds. */
const MAX_DOUBT_MS = 3_000;

/** Connections are not kept for longer, milliseconds: the name of the host may lead elsewhere by then. */
const MAX_AGE_MS = 1_800_000;

/** Is called when the database is lost, and when it is found again. */
export interface PoolWatch {
  lost(reason: unknown): void;
  found(awayMs: number): void;
}

interface Waiting {
  resolve(connection: PostgresConnection): void;
  reject(reason: unknown): void;
}

/**
 * Connections to a database. While it does not answer, callers are refused at once instead of waiting.
 */
export class PostgresPool implements KyselyPool {
  readonly #address: DatabaseAddress;
  readonly #limits: PoolLimits;
  readonly #bornAtMs = new Map<PostgresConnection, number>();
  readonly #idle: PostgresConnection[] = [];
  readonly #waiting = new Set<Waiting>();
  /** Connections that have not answered yet. */
  readonly #probing = new Set<PostgresConnection>();
  /** Set once the database has answered for the first time. */
  watch: PoolWatch | undefined;
  /** Called when a connection got no answer in time. */
  silent: (() => void) | undefined;
  #isUp = true;
  #lostAtMs = 0;
  /** Why the last probe failed. */
  #lostReason: unknown;
  #isEnded = false;
  /** Set while the database is probed after a lost connection. */
  #doubt: Promise<void> | undefined;
  #probes: NodeJS.Timeout | undefined;

  constructor(address: DatabaseAddress, limits: PoolLimits) {
    this.#address = address;
    this.#limits = limits;
  }

  /** The database answered the last probe. */
  get isUp(): boolean {
    return this.#isUp;
  }

  async connect(): Promise<PostgresConnection> {
    await this.#doubt;
    if (!this.#isUp || this.#isEnded) throw new DatabaseUnavailable(this.#lostReason);
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.isBroken) return connection;
      this.#discard(connection);
    }
    return this.#bornAtMs.size < this.#limits.connections ? this.#open() : this.#turn();
  }

  /** Asks the database anything. Rejects with why it does not answer. */
  async ping(limitMs = MAX_PROBE_MS): Promise<void> {
    try {
      await this.#probe(limitMs);
    } catch (error) {
      this.#setDown(error);
      throw error;
    }
  }

  /** Closes all connections, whatever is under way. New ones are opened when they are needed. */
  drop(): void {
    for (const connection of this.#bornAtMs.keys()) connection.close();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#endProbes();
    this.#refuseWaiting();
    for (const connection of this.#bornAtMs.keys()) connection.close();
    this.#bornAtMs.clear();
  }

  #open(): PostgresConnection {
    const connection = this.#new();
    this.#bornAtMs.set(connection, performance.now());
    return connection;
  }

  #new(): PostgresConnection {
    return new PostgresConnection(this.#address, this.#limits, (done) => this.#take(done));
  }

  /** Opens a connection and keeps it if the database answers. Rejects with why it does not. */
  async #probe(limitMs: number): Promise<void> {
    const connection = this.#new();
    this.#probing.add(connection);
    try {
      await connection.ping(limitMs);
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      this.#probing.delete(connection);
    }
    if (this.#isEnded) return connection.close();
    this.#bornAtMs.set(connection, performance.now());
    this.#setUp();
    this.#take(connection);
  }

  /** Waits for a busy connection, no longer than a statement may take. */
  #turn(): Promise<PostgresConnection> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(new DatabaseUnavailable(new Error('all connections are busy')));
      }, this.#limits.statementMs);
      const waiting: Waiting = {
        resolve(connection) {
          clearTimeout(timer);
          resolve(connection);
        },
        reject(reason) {
          clearTimeout(timer);
          reject(reason);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  #take(connection: PostgresConnection): void {
    const bornAtMs = this.#bornAtMs.get(connection);
    if (bornAtMs === undefined) return;
    if (connection.isSilent) this.silent?.();
    if (connection.isBroken) this.#doubtAfter(connection);
    const isUsable = !connection.isBroken && performance.now() - bornAtMs < MAX_AGE_MS;
    if (!isUsable) this.#discard(connection);
    const [first] = this.#waiting;
    if (first !== undefined) {
      this.#waiting.delete(first);
      first.resolve(isUsable ? connection : this.#open());
    } else if (isUsable) this.#idle.push(connection);
  }

  #discard(connection: PostgresConnection): void {
    this.#bornAtMs.delete(connection);
    connection.close();
  }

  /** Probes the database after a lost connection, before any caller is refused: only that connection may be broken. */
  #doubtAfter(connection: PostgresConnection): void {
    this.#discard(connection);
    if (!this.#isUp || this.#isEnded) return;
    this.#doubt ??= this.ping(MAX_DOUBT_MS)
      .catch(() => {})
      .finally(() => {
        this.#doubt = undefined;
      });
  }

  #setUp(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#endProbes();
    this.watch?.found(performance.now() - this.#lostAtMs);
  }

  #setDown(reason: unknown): void {
    if (this.#isEnded) return;
    if (this.#isUp) {
      this.#lostAtMs = performance.now();
      this.watch?.lost(reason);
    }
    this.#isUp = false;
    this.#lostReason = reason;
    for (const connection of this.#idle.splice(0)) this.#discard(connection);
    this.#refuseWaiting();
    this.#probes ??= setInterval(() => {
      this.#probe(MAX_PROBE_MS).catch((error: unknown) => {
        if (!this.#isUp) this.#lostReason = error;
      });
    }, PROBE_MS);
  }

  #endProbes(): void {
    clearInterval(this.#probes);
    this.#probes = undefined;
    for (const connection of this.#probing) connection.close();
  }

  #refuseWaiting(): void {
    for (const waiting of this.#waiting) waiting.reject(new DatabaseUnavailable(this.#lostReason));
    this.#waiting.clear();
  }
}
