import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { BEFORE_ALL, type BookedPage, type BookedPlace } from '../../sql/stores/booked-generations.ts';
import type { GenerationSink } from '../projection/event-projection.ts';
import { EVENTS_LOST, FailureWarning, FEED_WARNINGS } from './feed-warnings.ts';
import { handOver } from './hand-over.ts';
import type { ProgressFile } from './progress-file.ts';

/** How far events have come among the rows of generations that gateways share. */
export interface FeedProgress extends BookedPlace {
  /** See BookedPage. */
  readonly history: string;
}

/** The rows that gateways share. */
export interface BookedRows {
  after(place: BookedPlace, limit: number): Promise<BookedPage>;
  /** Makes rows visible that came with a backup of another server. */
  adopt(): Promise<void>;
}

export interface RowFeedOptions {
  readonly projection: GenerationSink;
  readonly rows: BookedRows;
  readonly file: Pick<ProgressFile<FeedProgress>, 'read' | 'write'>;
  /** Whether there is no event at all. */
  readonly isEmpty: boolean;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** How often rows are looked for, milliseconds. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_500;

/** Nothing is known of any server. */
const BEGINNING: FeedProgress = { ...BEFORE_ALL, history: '' };

/** The rows could not be read: the database is away, and whoever needs it says so. */
class RowsAway extends Error {}

/**
 * Brings in, from the rows of generations that gateways share, what any of them has settled, every moment anew. Handing over
 * again what is there changes nothing.
 */
export class RowFeed {
  readonly #options: RowFeedOptions;
  readonly #closing = new AbortController();
  readonly #trouble: FailureWarning;
  #progress: FeedProgress;
  /** All is to be brought in once more. */
  #isAgain = false;
  #pass: Promise<void> | undefined;
  #run: Promise<void> = Promise.resolve();

  private constructor(options: RowFeedOptions, progress: FeedProgress) {
    this.#options = options;
    this.#trouble = new FailureWarning(options.warn, FEED_WARNINGS);
    this.#progress = progress;
  }

  /** Looks how far it had come. */
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

  /** Brings in all that has rows. Rejects when that fails; it is tried again then. */
  async all(): Promise<void> {
    await this.#again();
    do await this.#once();
    while (this.#isAgain && !this.#closing.signal.aborted);
  }

  /** The events began anew: all that has rows is to be brought in, unless that has just begun. */
  renewed(): void {
    if (this.#progress.settledAtMs === BEFORE_ALL.settledAtMs) return;
    // What cannot be noted is known to this process.
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

  /** One pass; whoever asks while one is under way waits for that. */
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
