import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import type { Tables } from '../tables.ts';
import { applyEnds, type End } from './apply-ends.ts';
import type { LocalGenerations } from './local-generations.ts';

export interface BookerOptions {
  readonly database: Kysely<Tables>;
  readonly generations: LocalGenerations;
  /** Is told after each batch. */
  booked(): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Ends that are booked together: they gather while the batch before them is under way. */
const BATCH = 200;

const RETRY_MS = 250;

/** Books what has ended in the database, in the background and in order, as soon as there is one to book it in. */
export class Booker {
  readonly #options: BookerOptions;
  readonly #closing = new AbortController();
  #attempt: Promise<void> | undefined;
  #isRunning = false;
  #isFailing = false;
  #batchSize = BATCH;

  constructor(options: BookerOptions) {
    this.#options = options;
  }

  /** Something has ended. */
  wake(): void {
    if (!this.#isRunning) void this.#run();
  }

  /** Resolves once all that has ended by now is booked. Rejects when that fails. */
  async flush(): Promise<void> {
    const { unbooked } = this.#options.generations;
    const ids = [...unbooked.keys()];
    while (ids.some((id) => unbooked.has(id))) await this.#book();
  }

  /** Leaves what is not booked to the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#attempt?.catch(() => {});
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { signal } = this.#closing;
    while (this.#options.generations.unbooked.size > 0 && !signal.aborted) {
      try {
        await this.#book();
      } catch {
        await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
    this.#isRunning = false;
  }

  /** One batch; whoever asks while one is under way waits for that. */
  #book(): Promise<void> {
    this.#attempt ??= this.#bookBatch().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  async #bookBatch(): Promise<void> {
    const { database, generations, booked } = this.#options;
    const ends = [...first(generations.unbooked.values(), this.#batchSize)];
    try {
      if (ends.length > 0) await applyEnds(database, ends);
    } catch (error) {
      this.#failed(ends, error);
      throw error;
    }
    generations.booked(ends);
    this.#succeeded();
    booked();
  }

  #failed(ends: readonly End[], error: unknown): void {
    const { generations, warn } = this.#options;
    if (!this.#isFailing) {
      this.#isFailing = true;
      warn('what was settled cannot be booked in the database; it waits in the data directory', { error });
    }
    if (error instanceof DatabaseUnavailable) return;
    // One of them is at fault: all others must not wait for it.
    const [only] = ends;
    if (ends.length === 1 && only !== undefined) generations.postpone(only);
    this.#batchSize = 1;
  }

  #succeeded(): void {
    const { generations, warn } = this.#options;
    if (!this.#isFailing || generations.unbooked.size > 0) return;
    this.#isFailing = false;
    this.#batchSize = BATCH;
    warn('all that was settled is booked in the database again');
  }
}

function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}
