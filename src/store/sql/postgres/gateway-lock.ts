import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseAddress } from '../../../kit/net/database-address.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import { PostgresConnection, type PostgresTimes } from './postgres-connection.ts';

export interface GatewayLockOptions {
  readonly address: DatabaseAddress;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** How long a start waits for a lock that another session holds, milliseconds. */
  readonly patienceMs?: number;
  /** How long PostgreSQL must run before a start may take a lock, milliseconds. */
  readonly settlingMs?: number;
}

/** Another living process holds the id of this gateway. */
export class GatewayIdInUse extends DataDirectoryProblem {
  constructor(gatewayId: string) {
    super(
      `another gateway runs under the id of this data directory (${gatewayId}), so one of the two directories is a copy. ` +
        'Stop that gateway; or make this directory one of its own: remove gateway-id, gateway-owner and outbox from it ' +
        'if it is the copy',
      false,
    );
  }
}

const TIMES: PostgresTimes = { connectMs: 2000, statementMs: 4000 };

/**
 * PostgreSQL probes an idle session after 5 s and ends that of an unreachable machine after 11 s. A start waits longer,
 * so that it does not take its own earlier run for a copy.
 */
const KEEPALIVE = { tcp_keepalives_idle: '5', tcp_keepalives_interval: '2', tcp_keepalives_count: '3' };
const DEFAULT_PATIENCE_MS = 15_000;

/** A restart of PostgreSQL drops all locks. Running gateways take theirs again in this time, before any start may. */
const DEFAULT_SETTLING_MS = 1_000;

/** How often a lock that is not held is tried again, milliseconds. */
const RETRY_MS = 250;

/** Interval of pings on the lock's session, which notice a silently cut connection. */
const PING_MS = 5_000;

/** Waiting for a lock is logged after this time: the session of a process that was killed ends within milliseconds. */
const SILENT_WAIT_MS = 1_000;

/** A running gateway logs that another session has had its lock for this time. */
const LOST_WARNING_MS = 30_000;

/** Advisory locks on ids of gateways, apart from other ones in the same database. */
const LOCK_NAME = 'signalbox gateway ';

/** The number of gateways that run on the database: their ids are locked. One row, `gateways`. */
export const COUNT_RUNNING_GATEWAYS = `
  select count(*)::int as gateways from ledger_journals journal where exists (
    select from pg_locks
    where locktype = 'advisory' and objsubid = 1 and granted
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32) | objid::bigint = hashtextextended('${LOCK_NAME}' || journal.gateway_id, 0)
  )`;

const SETTINGS = Object.entries(KEEPALIVE)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ');

/** The first parameter names the lock, the second is how long PostgreSQL must have run, milliseconds. */
const TAKE = `
  select ${SETTINGS}, case
    when clock_timestamp() < pg_postmaster_start_time() + $2::text::bigint * interval '1 millisecond' then false
    else pg_try_advisory_lock(hashtextextended($1::text, 0))
  end as is_taken`;

/**
 * Holds the id of a gateway while it runs: a session-level advisory lock on a connection of its own. PostgreSQL drops
 * it when the process ends, however it ends. A lock that is lost with the connection is taken again; meanwhile the
 * gateway goes on, and the owner token in `ledger_journals` tells whether a copy has taken its journal over.
 */
export class GatewayLock {
  readonly #options: GatewayLockOptions;
  #gatewayId: string | undefined;
  #connection: PostgresConnection | undefined;
  #isHeld = false;
  #keeping: AbortController | undefined;

  constructor(options: GatewayLockOptions) {
    this.#options = options;
  }

  /** True while this process holds the lock, as far as it knows. */
  get isHeld(): boolean {
    return this.#isHeld && this.#connection?.isBroken === false;
  }

  /**
   * Takes the lock of an id, and releases the one held before. Rejects with GatewayIdInUse when another session keeps
   * it, with DatabaseUnavailable, or with the reason of the signal.
   */
  async hold(gatewayId: string, signal?: AbortSignal): Promise<void> {
    if (this.#gatewayId === gatewayId && this.isHeld) return;
    this.close();
    const { patienceMs = DEFAULT_PATIENCE_MS, settlingMs = DEFAULT_SETTLING_MS, warn } = this.#options;
    const beganAt = performance.now();
    let isLogged = false;
    while (!(await this.#take(gatewayId, settlingMs))) {
      const waitedMs = performance.now() - beganAt;
      if (waitedMs >= patienceMs + settlingMs) {
        this.close();
        throw new GatewayIdInUse(gatewayId);
      }
      if (!isLogged && waitedMs >= Math.max(SILENT_WAIT_MS, settlingMs)) {
        isLogged = true;
        warn(
          'another session holds the id of this gateway: its earlier run, which PostgreSQL has not given ' +
            'up yet, or a gateway with a copy of the data directory; waiting for it',
          { gateway_id: gatewayId, longest_wait_ms: patienceMs },
        );
      }
      await delay(RETRY_MS, undefined, { signal });
    }
    this.#gatewayId = gatewayId;
    this.#keeping = new AbortController();
    void this.#keep(gatewayId, this.#keeping.signal);
  }

  close(): void {
    this.#keeping?.abort();
    this.#keeping = undefined;
    this.#gatewayId = undefined;
    this.#drop();
  }

  /** Tries once. Rejects with DatabaseUnavailable. */
  async #take(gatewayId: string, settlingMs: number): Promise<boolean> {
    if (this.#connection?.isBroken !== false) this.#drop();
    this.#connection ??= new PostgresConnection(this.#options.address, TIMES, () => {});
    const connection = this.#connection;
    const { rows } = await connection.query<{ is_taken: boolean }>(TAKE, [
      LOCK_NAME + gatewayId,
      String(settlingMs),
    ]);
    if (this.#connection !== connection) return false;
    this.#isHeld = rows[0]?.is_taken === true;
    return this.#isHeld;
  }

  /** Keeps the session in use, and takes the lock again on another one when that is lost. */
  async #keep(gatewayId: string, signal: AbortSignal): Promise<void> {
    let usedAt = performance.now();
    let heldAt = usedAt;
    let isWarned = false;
    for (;;) {
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const isDue = performance.now() - usedAt >= PING_MS;
      if (this.isHeld && !isDue) continue;
      try {
        if (this.isHeld) await this.#connection?.query('select 1', []);
        else if (!(await this.#take(gatewayId, 0))) {
          if (signal.aborted || isWarned || performance.now() - heldAt < LOST_WARNING_MS) continue;
          isWarned = true;
          this.#options.warn(
            'another session holds the id of this gateway, which goes on; if a gateway runs with a copy ' +
              'of the data directory, stop it',
            { gateway_id: gatewayId },
          );
          continue;
        }
        usedAt = performance.now();
        heldAt = usedAt;
        isWarned = false;
      } catch {
        // The database does not answer: the next round tries again.
      }
    }
  }

  #drop(): void {
    this.#isHeld = false;
    this.#connection?.close();
    this.#connection = undefined;
  }
}
