import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject } from '../../../kit/json/json.ts';
import { OutageLog } from '../../outage-log.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { BEFORE_ALL, type BookedPage, type BookedPosition } from '../../sql/stores/booked-generations.ts';
import type { GenerationSink } from '../projection/event-projection.ts';
import { feedRows, type RowPage } from './feed-rows.ts';
import { EVENTS_LOST, FEED_WARNINGS } from './feed-warnings.ts';
import type { ProgressFile } from './progress-file.ts';

/** Progress of the feed among the shared rows of generations. */
export interface FeedProgress extends BookedPosition {
  /** See BookedPage. */
  readonly history: string;
}

/** The shared rows of generations. */
export interface BookedRows {
  after(place: BookedPosition, limit: number): Promise<BookedPage>;
  /** See the function of that name. */
  resetFutureBookings(): Promise<void>;
}

export interface SharedRowFeedOptions {
  readonly projection: GenerationSink;
  readonly rows: BookedRows;
  readonly file: Pick<ProgressFile<FeedProgress>, 'read' | 'write'>;
  /** Whether the file of events does not exist. */
  readonly isFileMissing: boolean;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Interval of passes, milliseconds. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_500;

/** Progress before the first pass. */
export const BEGINNING: FeedProgress = { ...BEFORE_ALL, history: '' };

/** The rows could not be read because the database does not answer. Not logged here: requests log it. */
export class RowsUnavailable extends Error {}

/**
 * Feeds events from the shared rows of generations, in periodic passes: each gateway counts what all of them have
 * settled. Feeding a row again has no effect.
 */
export class SharedRowFeed {
  readonly #options: SharedRowFeedOptions;
  readonly #closing = new AbortController();
  readonly #failures: OutageLog;
  #progress: FeedProgress;
  /** The next pass starts from the beginning. */
  #mustRestart = false;
  #isRefilling: boolean;
  #pass: Promise<void> | undefined;
  #run: Promise<void> = Promise.resolve();

  private constructor(options: SharedRowFeedOptions, progress: FeedProgress, isRefilling: boolean) {
    this.#isRefilling = isRefilling;
    this.#options = options;
    this.#failures = new OutageLog(options.warn, FEED_WARNINGS);
    this.#progress = progress;
  }

  /** Reads the progress of earlier runs. */
  static async open(options: SharedRowFeedOptions): Promise<SharedRowFeed> {
    const noted = options.file.read();
    if (noted === undefined || !options.isFileMissing) {
      return new SharedRowFeed(options, noted ?? BEGINNING, false);
    }
    if (noted.settledAtMs !== BEFORE_ALL.settledAtMs) options.warn(EVENTS_LOST);
    await options.file.write(BEGINNING);
    return new SharedRowFeed(options, BEGINNING, true);
  }

  /** Whether events lack rows that are being fed: a pass from the beginning is due or under way. */
  get isRefilling(): boolean {
    return this.#isRefilling;
  }

  start(): void {
    this.#run = this.#work();
  }

  /** Feeds all rows again. Rejects when that fails; later passes retry it. */
  async feedAll(): Promise<void> {
    await this.#restart();
    do await this.#runPass();
    while (this.#mustRestart && !this.#closing.signal.aborted);
  }

  /** The file of events was created: feeds all rows again, unless the feed is at its beginning. */
  fileCreated(): void {
    if (this.#progress.settledAtMs === BEFORE_ALL.settledAtMs) return;
    // If the file cannot be written, this process still knows.
    this.#restart().catch(() => {});
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#run;
    await this.#pass?.catch(() => {});
  }

  async #restart(): Promise<void> {
    this.#mustRestart = true;
    this.#isRefilling = true;
    await this.#options.file.write(BEGINNING);
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    const { everyMs = EVERY_MS } = this.#options;
    while (!signal.aborted) {
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#runPass();
        this.#failures.worked();
      } catch (error) {
        if (!signal.aborted && !(error instanceof RowsUnavailable)) this.#failures.failed(error);
      }
    }
  }

  /** Runs one pass; a call during a pass joins it. */
  #runPass(): Promise<void> {
    this.#pass ??= this.#feed().finally(() => {
      this.#pass = undefined;
    });
    return this.#pass;
  }

  async #feed(): Promise<void> {
    const { projection, warn, file } = this.#options;
    if (this.#mustRestart) this.#progress = BEGINNING;
    this.#mustRestart = false;
    await feedRows<FeedProgress>({
      behind: this.#progress,
      read: (behind, limit) => this.#read(behind, limit),
      projection,
      reached: async (progress) => {
        if (this.#mustRestart) return;
        this.#progress = progress;
        await file.write(progress);
      },
      warn,
      signal: this.#closing.signal,
    });
    this.#isRefilling = this.#mustRestart;
  }

  async #read(behind: FeedProgress, limit: number) {
    const page = await bookedPage(this.#options.rows, behind, limit);
    if (page.restarted !== undefined) this.#progress = page.restarted;
    // A gateway that joins others, or whose database was restored, has everything to read.
    if (behind.settledAtMs === BEFORE_ALL.settledAtMs && page.generations.length > 0)
      this.#isRefilling = true;
    return page;
  }
}

export interface SharedPage extends RowPage<FeedProgress> {
  /** Set if the rows are of another history than the position: the page is the first of all. */
  readonly restarted: FeedProgress | undefined;
}

/** Rows after a position. Rejects with RowsUnavailable when the database does not answer. */
export async function bookedPage(rows: BookedRows, behind: FeedProgress, limit: number): Promise<SharedPage> {
  try {
    let page = await rows.after(behind, limit);
    const isOther = page.history !== behind.history;
    if (isOther) {
      await rows.resetFutureBookings();
      page = await rows.after(BEFORE_ALL, limit);
    }
    const { history, generations, end } = page;
    return {
      generations,
      end: end && { ...end, history },
      restarted: isOther ? { ...BEFORE_ALL, history } : undefined,
    };
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    throw new RowsUnavailable('the rows of generations cannot be read', { cause: error });
  }
}

/** Whether a value that was stored is the progress of a feed. */
export function isFeedProgress(value: unknown): value is FeedProgress {
  return (
    isJsonObject(value) &&
    typeof value.history === 'string' &&
    typeof value.bookedIn === 'string' &&
    /^\d{1,20}$/.test(value.bookedIn) &&
    Number.isSafeInteger(value.settledAtMs) &&
    typeof value.id === 'string'
  );
}
