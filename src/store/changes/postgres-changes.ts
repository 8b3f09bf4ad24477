import { setTimeout as delay } from 'node:timers/promises';
import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { DatabaseAddress } from '../../kit/net/database-address.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Change, ChangeListener, Changes } from '../../ports/shared/changes.ts';
import { isDatabaseAway } from '../sql/database-unavailable.ts';
import { ChangeListeners } from './change-listeners.ts';
import { type AskDatabase, type ChangePosition, pruneChanges, readChanges } from './change-rows.ts';
import { ListeningConnection } from './listening-connection.ts';

export interface PostgresChangesOptions {
  readonly address: DatabaseAddress;
  /** Asks the database by a connection that others use too. */
  readonly askShared: AskDatabase;
  readonly clock: Pick<Clock, 'monotonic'>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Time between two questions without a notification, milliseconds. */
  readonly everyMs?: number;
}

/** Leaves time for the answer within the second in which a change must be known. */
const EVERY_MS = 500;

/** Questions of many gateways spread by this share of the interval. */
const JITTER = 0.2;

/** How long our own connection may take before a shared one is asked as well, and that before a new one. */
const PATIENCE_MS = 300;

/** Time between two new connections that replace one which may only be slow, milliseconds. */
const RENEW_EVERY_MS = 5_000;

/** How long changes stay in the table, and how often old ones are removed, milliseconds. */
const KEPT_MS = 3_600_000;
const PRUNE_EVERY_MS = 600_000;

/** After a longer gap between two answers, changes may have been removed before they were read. Milliseconds. */
const MAX_GAP_MS = KEPT_MS / 2;

/**
 * Changes that gateways with a shared PostgreSQL have made. Triggers note them in a table and notify us; the table is
 * read when they do, and every half second in any case, because a notification is lost with its connection.
 */
export class PostgresChanges implements Changes {
  readonly #options: PostgresChangesOptions;
  readonly #listeners = new ChangeListeners();
  readonly #connection: ListeningConnection;
  readonly #closing = new AbortController();
  #position: ChangePosition | undefined;
  #seenUntilMs = Number.NEGATIVE_INFINITY;
  #prunedAtMs = Number.NEGATIVE_INFINITY;
  /** The reading under way. */
  #current: Promise<void> | undefined;
  /** The reading that begins after it. */
  #next: Promise<void> | undefined;
  #isWarned = false;
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PostgresChangesOptions) {
    this.#options = options;
    const { address, clock } = options;
    this.#connection = new ListeningConnection({ address, clock, notified: () => this.#readSoon() });
  }

  /** Begins to follow changes. Resolves after the first attempt to read them. */
  async start(): Promise<void> {
    await this.catchUp().catch(() => {});
    void this.#work();
  }

  publish(change: Change): void {
    this.#listeners.deliver(change);
  }

  subscribe(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  seenUntilMs(): number {
    return this.#seenUntilMs;
  }

  catchUp(): Promise<void> {
    // A reading that has begun may have missed what was stored just before this call.
    this.#next ??= (this.#current ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#current = this.#read().finally(() => {
          this.#current = undefined;
        });
        return this.#current;
      });
    return this.#next;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#connection.close();
    await Promise.allSettled([this.#current, this.#next]);
  }

  #readSoon(): void {
    if (!this.#closing.signal.aborted) this.catchUp().catch(() => {});
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    const { everyMs = EVERY_MS } = this.#options;
    for (;;) {
      const spread = 1 - JITTER + 2 * JITTER * Math.random();
      await delay(everyMs * spread, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      await this.catchUp().then(
        () => this.#prune(),
        (error: unknown) => this.#warnOnce(error),
      );
    }
  }

  async #read(): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const { clock } = this.#options;
    const beganAtMs = clock.monotonic();
    if (beganAtMs - this.#seenUntilMs > MAX_GAP_MS) this.#position = undefined;
    const { changes, position } = await readChanges((...asked) => this.#ask(...asked), this.#position);
    this.#position = position;
    for (const change of changes) this.#listeners.deliver(change);
    this.#seenUntilMs = beganAtMs;
    this.#isWarned = false;
  }

  /**
   * Asks by our own connection, by a shared one if that is lost or slow, and by a new one if neither answers: a network
   * can forget all connections that are open without a word, and let new ones pass.
   */
  async #ask<Row>(statement: string, parameters: readonly unknown[]) {
    const own = this.#connection.query<Row>(statement, parameters);
    if (await isInTime(own, PATIENCE_MS).catch(() => false)) return own;
    const shared = this.#options.askShared<Row>(statement, parameters);
    const either = firstAnswer([own, shared]);
    if (await isInTime(either, PATIENCE_MS).catch(() => true)) return either;
    const atMs = this.#options.clock.monotonic();
    if (atMs - this.#renewedAtMs < RENEW_EVERY_MS) return either;
    this.#renewedAtMs = atMs;
    this.#connection.renew();
    return firstAnswer([either, this.#connection.query<Row>(statement, parameters)]);
  }

  async #prune(): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now - this.#prunedAtMs < PRUNE_EVERY_MS) return;
    this.#prunedAtMs = now;
    await pruneChanges(this.#options.askShared, KEPT_MS).catch((error: unknown) => this.#warnOnce(error));
  }

  /** An absent database is not logged here: requests log it. */
  #warnOnce(error: unknown): void {
    if (this.#isWarned || this.#closing.signal.aborted || isDatabaseAway(error)) return;
    this.#isWarned = true;
    this.#options.warn(
      'changes by other gateways cannot be read; keys are looked up for each request until they can',
      {
        error: String(error),
      },
    );
  }
}

/** The first answer of several; rejects with the reason of the first question if there is none. */
function firstAnswer<T>(asked: readonly Promise<T>[]): Promise<T> {
  return Promise.any(asked).catch((error: AggregateError) => {
    throw error.errors[0];
  });
}
