import { setTimeout as delay } from 'node:timers/promises';
import type { OrderedGenerations } from '../../../ports/following/ordered-generations.ts';
import type { RowPlace } from '../../../ports/following/settled-rows.ts';
import { OutageLog } from '../../outage-log.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import type { EventProjection } from '../projection/event-projection.ts';
import { feedBatch, RowsUnavailable, readBatch } from './feed-rows.ts';
import { FEED_WARNINGS } from './feed-warnings.ts';
import { RecentLoss } from './recent-loss.ts';

/** Progress that gateways share, of one of them that feeds a store for all. */
export interface LeasedProgress {
  /** Undefined before the first batch. */
  readonly place: RowPlace | undefined;
  /** The store is being filled from the beginning. */
  readonly isRefilling: boolean;
}

/** Whether this gateway feeds, and how far the feed has come. */
export interface FeedLeaseState extends LeasedProgress {
  readonly isHeld: boolean;
}

/** The right to feed a store of events that gateways share: one of them at a time has it, for some seconds. */
export interface FeedLease {
  /** Takes or renews the lease, if no other gateway has it. */
  take(storeId: string): Promise<FeedLeaseState>;
  /** Notes progress and renews the lease. Does nothing if another gateway has taken it. */
  note(storeId: string, progress: LeasedProgress): Promise<void>;
  /** Notes that the next pass begins with the first row, whichever gateway makes it. */
  restart(storeId: string): Promise<void>;
  /** Lets another gateway take it at once. */
  release(storeId: string): Promise<void>;
}

export interface LeasedRowFeedOptions {
  readonly projection: EventProjection;
  readonly rows: Pick<OrderedGenerations, 'behind'>;
  readonly lease: FeedLease;
  /** The id of the store's tables. Rejects with EventsUnavailable. */
  storeId(): Promise<string>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Interval of passes, milliseconds. */
  readonly everyMs?: number;
  /** How often a gateway without the lease tries to take it, milliseconds. */
  readonly watchMs?: number;
}

const EVERY_MS = 1_000;
const WATCH_MS = 2_000;

/** Generations per batch, after which the lease is renewed. */
const BATCH_ROWS = 1_000;

/**
 * Feeds the rows of all gateways to a store of events that they share. One gateway does it for all: a lease in the
 * database says which, and how far it has come, so that another goes on from there. Feeding a row again has no effect.
 */
export class LeasedRowFeed {
  readonly #options: LeasedRowFeedOptions;
  readonly #closing = new AbortController();
  readonly #failures: OutageLog;
  readonly #loss = new RecentLoss();
  #isRefilling = false;
  #leasedStore: string | undefined;
  #pass: Promise<void> | undefined;
  #run: Promise<void> = Promise.resolve();

  constructor(options: LeasedRowFeedOptions) {
    this.#options = options;
    this.#failures = new OutageLog(options.warn, FEED_WARNINGS);
  }

  /** Whether a gateway fills the store from the beginning, or began to a moment ago. */
  get isRefilling(): boolean {
    return this.#isRefilling || this.#loss.isRecent;
  }

  start(): void {
    this.#run = this.#work();
  }

  /** The store has lost its events: it lacks rows until a pass has seen how far it is filled. */
  eventsLost(): void {
    this.#loss.note();
    this.#isRefilling = true;
  }

  /** Feeds all rows again, here or at the gateway that has the lease. Resolves when they are fed. */
  async feedAll(): Promise<void> {
    const { lease, storeId } = this.#options;
    await lease.restart(await storeId());
    do {
      await this.#runPass();
      if (this.#isRefilling) await this.#wait();
    } while (this.#isRefilling && !this.#closing.signal.aborted);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#run;
    await this.#pass?.catch(() => {});
    const { lease } = this.#options;
    if (this.#leasedStore !== undefined) await lease.release(this.#leasedStore).catch(() => {});
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#wait();
      if (signal.aborted) return;
      try {
        await this.#runPass();
        this.#failures.worked();
      } catch (error) {
        if (signal.aborted) return;
        // The database and the store of events log their outages themselves.
        const isLogged = error instanceof RowsUnavailable || error instanceof DatabaseUnavailable;
        if (!isLogged) this.#failures.failed(error);
      }
    }
  }

  async #wait(): Promise<void> {
    const { everyMs = EVERY_MS, watchMs = WATCH_MS } = this.#options;
    await delay(this.#leasedStore === undefined ? watchMs : everyMs, undefined, {
      signal: this.#closing.signal,
      ref: false,
    }).catch(() => {});
  }

  /** Runs one pass; a call during a pass joins it. */
  #runPass(): Promise<void> {
    this.#pass ??= this.#feed().finally(() => {
      this.#pass = undefined;
    });
    return this.#pass;
  }

  async #feed(): Promise<void> {
    const { rows, lease, projection, warn } = this.#options;
    const storeId = await this.#options.storeId();
    const { isHeld, isRefilling, place: noted } = await lease.take(storeId);
    // As long as nothing is fed, only this gateway may know that events were lost.
    if (noted !== undefined || isRefilling) this.#isRefilling = isRefilling;
    this.#leasedStore = isHeld ? storeId : undefined;
    if (!isHeld) return;
    const feeding = { rows, projection, warn, signal: this.#closing.signal };
    let place = noted ?? null;
    for (let isLast = false; !isLast; ) {
      const batch = await readBatch(feeding, place, BATCH_ROWS);
      if (batch === undefined) {
        place = null;
        continue;
      }
      if (batch.items.length > 0) {
        if (place === null) this.#isRefilling = true;
        await feedBatch(feeding, batch.items);
        await lease.note(storeId, { place: batch.place ?? undefined, isRefilling: this.#isRefilling });
      }
      ({ place, isLast } = batch);
    }
    if (!this.#isRefilling) return;
    this.#isRefilling = false;
    await lease.note(storeId, { place: place ?? undefined, isRefilling: false });
  }
}
