import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { BEFORE_ALL, type BookedPage, type BookedPlace } from '../../sql/stores/booked-generations.ts';
import type { GenerationSink } from '../projection/event-projection.ts';
import { handOver } from './feed-rows.ts';
import { EVENTS_LOST, FailureWarning, FEED_WARNINGS } from './feed-warnings.ts';
import type { ProgressFile } from './progress-file.ts';

/** Progress of the feed among the shared rows of generations. */
export interface FeedProgress extends BookedPlace {
  /** See BookedPage. */
  readonly history: string;
}

/** The shared rows of generations. */
export interface BookedRows {
  after(place: BookedPlace, limit: number): Promise<BookedPage>;
  /** See `adoptGenerations`. */
  adopt(): Promise<void>;
}

export interface RowFeedOptions {
  readonly projection: GenerationSink;
  readonly rows: BookedRows;
  readonly file: Pick<ProgressFile<FeedProgress>, 'read' | 'write'>;
  /** Whether the file of events does not exist. */
  readonly isEmpty: boolean;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Interval of passes, milliseconds. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_500;

/** Progress before the first pass. */
const BEGINNING: FeedProgress = { ...BEFORE_ALL, history: '' };

/** The rows could not be read because the database does not answer. Not logged here: requests log it. */
class RowsAway extends Error {}

/**
 * Feeds events from the shared rows of generations, in periodic passes: each gateway counts what all of them have
 * settled. Feeding a row again has no effect.
 */
export class RowFeed {
  readonly #options: RowFeedOptions;
  readonly #closing = new AbortController();
  readonly #trouble: FailureWarning;
  #progress: FeedProgress;
  /** The next pass starts from the beginning. */
  #isAgain = false;
  #pass: Promise<void> | undefined;
  #run: Promise<void> = Promise.resolve();

  private constructor(options: RowFeedOptions, progress: FeedProgress) {
    this.#options = options;
    this.#trouble = new FailureWarning(options.warn, FEED_WARNINGS);
    this.#progress = progress;
  }

  /** Reads the progress of earlier runs. */
  static async open(options: RowFeedOptions): Promise<RowFeed> {
    const noted = options.file.read();
    if (noted === undefined || !options.isEmpty) return new RowFeed(options, noted ?? BEGINNING);
    if (noted.settledAtMs !== BEFORE_ALL.settledAtMs) options.warn(EVENTS_LOST);
    await options.file.write(BEGINNING);
    return new RowFeed(options, BEGINNING);
  }

  start(): void {
    this.#run = this.#work();
  }

  /** Feeds all rows again. Rejects when that fails; later passes retry it. */
  async all(): Promise<void> {
    await this.#again();
    do await this.#once();
    while (this.#isAgain && !this.#closing.signal.aborted);
  }

  /** The file of events was created: feeds all rows again, unless the feed is at its beginning. */
  renewed(): void {
    if (this.#progress.settledAtMs === BEFORE_ALL.settledAtMs) return;
    // If the file cannot be written, this process still knows.
    this.#again().catch(() => {});
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#run;
    await this.#pass?.catch(() => {});
  }

  async #again(): Promise<void> {
    this.#isAgain = true;
    await this.#options.file.write(BEGINNING);
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    const { everyMs = EVERY_MS } = this.#options;
    while (!signal.aborted) {
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#once();
        this.#trouble.worked();
      } catch (error) {
        if (!signal.aborted && !(error instanceof RowsAway)) this.#trouble.failed(error);
      }
    }
  }

  /** Runs one pass; a call during a pass joins it. */
  #once(): Promise<void> {
    this.#pass ??= this.#handOver().finally(() => {
      this.#pass = undefined;
    });
    return this.#pass;
  }

  async #handOver(): Promise<void> {
    const { projection, warn, file } = this.#options;
    if (this.#isAgain) this.#progress = BEGINNING;
    this.#isAgain = false;
    await handOver<FeedProgress>({
      behind: this.#progress,
      read: (behind, limit) => this.#read(behind, limit),
      projection,
      reached: async (progress) => {
        if (this.#isAgain) return;
        this.#progress = progress;
        await file.write(progress);
      },
      warn,
      signal: this.#closing.signal,
    });
  }

  async #read(behind: FeedProgress, limit: number) {
    const { rows } = this.#options;
    try {
      let page = await rows.after(behind, limit);
      if (page.history !== behind.history) {
        await rows.adopt();
        this.#progress = { ...BEFORE_ALL, history: page.history };
        page = await rows.after(BEFORE_ALL, limit);
      }
      const { history, generations, end } = page;
      return { generations, end: end && { ...end, history } };
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      throw new RowsAway('the rows of generations cannot be read', { cause: error });
    }
  }
}
