import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { awayCodeOf, DatabaseUnavailable } from '../../../sql/database-unavailable.ts';
import type { Tables } from '../../../sql/tables.ts';
import type { DatabaseClock } from '../tallies/database-clock.ts';
import { type Booking, bookEnds, type JournalledEnd, JournalTakenOver } from './book-ends.ts';
import type { LocalGenerations } from './local-generations.ts';
import { RefusedEnds } from './refused-ends.ts';

export interface BookerOptions {
  readonly database: Kysely<Tables>;
  readonly gatewayId: () => string;
  /** Owner token of this run; undefined = ownership is not checked. */
  readonly owner: string | undefined;
  readonly databaseClock: DatabaseClock;
  readonly generations: LocalGenerations;
  booked(booking: Booking, ends: readonly JournalledEnd[]): void;
  /** Called when another run owns the journal: this one stops booking for good. */
  takenOver(): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Size of a batch. While the database does not answer in time, batches become smaller, down to the minimum. */
const MAX_BATCH = 500;
const MIN_BATCH = 20;

/** Ends gather for this time after the beginning of the last batch, unless a whole batch waits. Milliseconds. */
const GATHER_MS = 100;

const RETRY_MS = 250;

/**
 * Books ended generations in the database, in the background and in order, as soon as the database answers. An end
 * that the database refuses is retried alone, so that it does not block the others.
 */
export class Booker {
  readonly #options: BookerOptions;
  readonly #closing = new AbortController();
  readonly #refused = new RefusedEnds();
  #attempt: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isRunning = false;
  #isFailing = false;
  #batchSize = MAX_BATCH;
  #begunAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: BookerOptions) {
    this.#options = options;
  }

  /** Begins to book. Call it once the ends that are booked already are known. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Call after a generation ended. */
  wake(): void {
    if (this.#isStarted && !this.#isRunning && !this.#closing.signal.aborted) void this.#run();
  }

  /** Refused ends that are being retried. */
  get refused(): number {
    return this.#refused.size;
  }

  /** Resolves once all ends of now are booked or refused. Rejects with DatabaseUnavailable. */
  async flush(): Promise<void> {
    if (!this.#isStarted) throw new DatabaseUnavailable();
    const { unbooked } = this.#options.generations;
    const ids = [...unbooked.keys()];
    while (ids.some((id) => unbooked.has(id) && !this.#refused.has(id))) await this.#book();
  }

  /** Leaves unbooked ends to the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#retryTimer);
    await this.#attempt?.catch(() => {});
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { signal } = this.#closing;
    while (this.#nextBatch().length > 0 && !signal.aborted) {
      try {
        await this.#gather();
        await this.#book();
      } catch {
        await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
    this.#isRunning = false;
    if (!signal.aborted) this.#retryLater();
  }

  /** Waits until a batch is worth a statement. */
  async #gather(): Promise<void> {
    const waitMs = this.#begunAtMs + GATHER_MS - performance.now();
    if (waitMs <= 0 || this.#options.generations.unbooked.size >= MAX_BATCH) return;
    await delay(waitMs, undefined, { signal: this.#closing.signal });
  }

  #retryLater(): void {
    clearTimeout(this.#retryTimer);
    const dueInMs = this.#refused.dueInMs();
    if (dueInMs !== undefined) this.#retryTimer = setTimeout(() => this.wake(), dueInMs).unref();
  }

  /** Books one batch; a call during a batch joins it. */
  #book(): Promise<void> {
    this.#attempt ??= this.#bookBatch().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  async #bookBatch(): Promise<void> {
    const { database, databaseClock: clock, generations, owner, booked } = this.#options;
    const gatewayId = this.#options.gatewayId();
    const ends = this.#nextBatch();
    if (ends.length === 0) return;
    this.#begunAtMs = performance.now();
    let booking: Booking;
    try {
      const waiting = this.#waitingBeside(ends);
      booking = await bookEnds(database, { gatewayId, owner, ends, waiting, clock });
    } catch (error) {
      if (error instanceof JournalTakenOver) this.#stopForCopy();
      if (error instanceof DatabaseUnavailable) this.#databaseAway(error);
      else this.#refuse(ends, error);
      return;
    }
    generations.booked(ends);
    this.#succeeded(ends);
    booked(booking, ends);
  }

  /** A refused end that is due is a batch of its own. */
  #nextBatch(): readonly JournalledEnd[] {
    const { unbooked } = this.#options.generations;
    const due = this.#refused.due();
    const again = due === undefined ? undefined : unbooked.get(due);
    if (again !== undefined) return [again];
    const batch: JournalledEnd[] = [];
    for (const end of unbooked.values()) {
      if (batch.length === this.#batchSize) break;
      if (!this.#refused.has(end.generationId)) batch.push(end);
    }
    return batch;
  }

  /** Sequences that must not count as booked after this batch. */
  #waitingBeside(ends: readonly JournalledEnd[]): number[] {
    const batch = new Set(ends.map(({ sequence }) => sequence));
    const highest = Math.max(...batch);
    const waiting: number[] = [];
    // After an outage very many may wait: nearly all of them come after the batch.
    for (const { sequence } of this.#options.generations.unbooked.values()) {
      if (sequence < highest && !batch.has(sequence)) waiting.push(sequence);
    }
    return waiting;
  }

  /** Unbooked ends wait for the next start, which books them under a new id. */
  #stopForCopy(): never {
    this.#closing.abort();
    this.#options.takenOver();
    throw new DatabaseUnavailable();
  }

  #databaseAway(error: DatabaseUnavailable): never {
    this.#batchSize = Math.min(this.#batchSize, Math.max(MIN_BATCH, Math.ceil(this.#batchSize / 2)));
    if (!this.#isFailing) {
      this.#isFailing = true;
      this.#options.warn(
        'what was settled cannot be booked in the database; it waits in the data directory',
        { errno: awayCodeOf(error), generations: this.#options.generations.unbooked.size },
      );
    }
    throw error;
  }

  /** Halves the batch until the refused end is alone, so that the others are booked. */
  #refuse(ends: readonly JournalledEnd[], error: unknown): void {
    const [only] = ends;
    if (ends.length > 1 || only === undefined) {
      this.#batchSize = Math.ceil(ends.length / 2);
      return;
    }
    const { generationId } = only;
    const isFirst = !this.#refused.has(generationId);
    this.#refused.add(generationId);
    if (!isFirst) return;
    this.#options.warn('the database refuses to book a generation; it is tried again, others go on', {
      generation_id: generationId,
      error,
    });
  }

  #succeeded(ends: readonly JournalledEnd[]): void {
    const { generations, warn } = this.#options;
    this.#batchSize = Math.min(MAX_BATCH, this.#batchSize * 2);
    for (const { generationId } of ends) {
      if (this.#refused.delete(generationId)) {
        warn('a generation is booked that the database had refused', { generation_id: generationId });
      }
    }
    if (!this.#isFailing || generations.unbooked.size > this.#refused.size) return;
    this.#isFailing = false;
    warn('all that was settled is booked in the database again');
  }
}
