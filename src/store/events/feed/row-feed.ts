import { isJsonObject } from '../../../kit/json/json.ts';
import type { OrderedGenerations } from '../../../ports/following/ordered-generations.ts';
import type { RowPlace } from '../../../ports/following/settled-rows.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import { OutageLog } from '../../outage-log.ts';
import type { EventItem, EventProjection } from '../projection/event-projection.ts';
import { answered, feedBatch, RowsUnavailable, readBatch } from './feed-rows.ts';
import { EVENTS_LOST, FEED_WARNINGS } from './feed-warnings.ts';
import type { ProgressFile } from './progress-file.ts';
import { RecentLoss } from './recent-loss.ts';

/** How far a feed has come among the rows of generations. */
export interface FeedProgress {
  /** New rows are fed from here on. */
  readonly place: RowPlace | null;
  /** Rows before `place` that the events lack: all behind another place; null = none. */
  readonly refill: { readonly behind: RowPlace | null } | null;
}

export interface RowFeedOptions {
  readonly projection: EventProjection;
  readonly rows: OrderedGenerations;
  readonly file: Pick<ProgressFile<FeedProgress>, 'read' | 'write'>;
  /** Whether the file of events does not exist. */
  readonly isFileMissing: boolean;
  /**
   * How long rows gather that `rowsAdded` reports, milliseconds; absent = rows may come without a report, and passes
   * look for them.
   */
  readonly gatherMs?: number | undefined;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Delay before the first pass and after one that failed, and interval of passes that look for rows, milliseconds. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_500;

/** Generations per commit, which costs the same for one as for many. More do not gather. */
const BATCH_ROWS = 5_000;

/**
 * How long the file may be behind the place of new rows, milliseconds: a process that is killed feeds them again, and a
 * write takes two syncs of the disk.
 */
const NOTE_AFTER_MS = 60_000;

/**
 * Feeds events from the rows of generations, in passes: new rows first, so that they are counted soon however
 * many earlier ones the events lack. Feeding a row again has no effect.
 */
export class RowFeed {
  readonly #options: RowFeedOptions;
  readonly #closing = new AbortController();
  readonly #failures: OutageLog;
  readonly #loss = new RecentLoss();
  #progress: FeedProgress;
  /** Whether nothing is known of earlier runs, or the place is not valid any more: the next pass looks for rows. */
  #mustBegin: boolean;
  /** Whether there may be rows behind the place. */
  #hasNew = true;
  /** All that was added since the place was reached, so that it need not be read; undefined = rows must be read. */
  #added: EventItem[] | undefined;
  #waiting = 0;
  /** When the file was written, on the monotonic clock. */
  #notedAt = Number.NEGATIVE_INFINITY;
  #following: Promise<void> | undefined;
  #refilling: Promise<void> | undefined;
  #isStarted = false;
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> | undefined;

  private constructor(options: RowFeedOptions, progress: FeedProgress | undefined) {
    this.#options = options;
    this.#failures = new OutageLog(options.warn, FEED_WARNINGS);
    this.#mustBegin = progress === undefined;
    this.#progress = progress ?? { place: null, refill: null };
  }

  /** Reads the progress of earlier runs. */
  static async open(options: RowFeedOptions): Promise<RowFeed> {
    const noted = options.file.read();
    const feed = new RowFeed(options, noted);
    // If that fails, the first pass does it.
    if (noted === undefined) await feed.#begin().catch(() => {});
    else if (options.isFileMissing) {
      if (noted.refill?.behind !== null) options.warn(EVENTS_LOST);
      await feed.#note(refillAll());
    }
    return feed;
  }

  /** Where new rows begin. */
  get place(): RowPlace | null {
    return this.#progress.place;
  }

  /** Whether events lack rows that are being fed, or did a moment ago. */
  get isRefilling(): boolean {
    return this.#progress.refill !== null || this.#loss.isRecent;
  }

  /** Reported rows that are not events yet. */
  get waiting(): number {
    return this.#waiting;
  }

  start(): void {
    this.#isStarted = true;
    this.#wake(this.#everyMs);
  }

  rowsAdded(generations: readonly StoredGeneration[]): void {
    this.#keep(generations);
    this.hasMore(generations.length);
  }

  /** There are rows that this process has not added. */
  hasMore(count: number): void {
    this.#waiting += count;
    this.#hasNew = true;
    if (this.#waiting < BATCH_ROWS) this.#wake(this.#options.gatherMs ?? 0);
    else this.#wakeNow();
  }

  /** Feeds at once what was added by now. Earlier rows that the events lack are not waited for. */
  async catchUp(): Promise<void> {
    await this.#following?.catch(() => {});
    if (this.#hasNew) await this.#follow();
  }

  /** Feeds all rows again. Rejects when that fails; later passes retry it. */
  async feedAll(): Promise<void> {
    await this.#note(refillAll());
    this.#wake(this.#everyMs);
    while (this.#progress.refill !== null && !this.#closing.signal.aborted) await this.#refill();
    await this.catchUp();
  }

  /** The storage has lost its events: feeds all rows again, unless none were fed. */
  eventsLost(): void {
    if (this.#progress.place === null) return;
    this.#loss.note();
    // If the file cannot be written, this process still knows.
    this.#note(refillAll())
      .catch(() => {})
      .finally(() => this.#wake(this.#everyMs));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await Promise.allSettled([this.#pass, this.#following, this.#refilling]);
    // Otherwise the next start feeds the last rows again.
    if (this.#notedAt !== Number.NEGATIVE_INFINITY) await this.#note({}).catch(() => {});
  }

  get #everyMs(): number {
    return this.#options.everyMs ?? EVERY_MS;
  }

  /** Begins a pass after a while, unless one is under way or will begin. */
  #wake(afterMs: number): void {
    if (!this.#isStarted || this.#closing.signal.aborted || this.#pass !== undefined) return;
    this.#timer ??= setTimeout(() => this.#wakeNow(), afterMs).unref();
  }

  #wakeNow(): void {
    if (!this.#isStarted || this.#closing.signal.aborted || this.#pass !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pass = this.#feed().then((isFed) => {
      this.#pass = undefined;
      const { gatherMs = this.#everyMs } = this.#options;
      if (!isFed || this.#progress.refill !== null) this.#wake(this.#everyMs);
      else if (this.#waiting >= BATCH_ROWS) this.#wakeNow();
      else if (this.#hasNew || this.#options.gatherMs === undefined) this.#wake(gatherMs);
    });
  }

  /** A pass. False if it failed. */
  async #feed(): Promise<boolean> {
    try {
      await this.#followIfNew();
      while (this.#progress.refill !== null) {
        await this.#refill();
        await this.#followIfNew();
      }
      this.#failures.worked();
      return true;
    } catch (error) {
      if (!this.#closing.signal.aborted && !(error instanceof RowsUnavailable)) this.#failures.failed(error);
      return false;
    }
  }

  async #followIfNew(): Promise<void> {
    if (this.#hasNew || this.#options.gatherMs === undefined) await this.#follow();
  }

  /** Feeds new rows. A call meanwhile joins it. */
  #follow(): Promise<void> {
    this.#following ??= this.#feedNew().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  async #feedNew(): Promise<void> {
    this.#hasNew = false;
    const feeding = this.#feeding();
    try {
      if (this.#mustBegin) await this.#begin();
      if (await this.#feedAdded()) return;
      for (let isLast = false; !isLast; ) {
        const batch = await readBatch(feeding, this.#progress.place, BATCH_ROWS);
        if (batch === undefined) {
          this.#mustBegin = true;
          await this.#begin();
          continue;
        }
        if (batch.items.length > 0) await feedBatch(feeding, batch.items);
        this.#waiting = Math.max(0, this.#waiting - batch.items.length);
        await this.#reached(batch.place);
        isLast = batch.isLast;
      }
      // Rows that were reported, and known before.
      if (!this.#hasNew) this.#waiting = 0;
    } catch (error) {
      this.#hasNew = true;
      this.#added = undefined;
      throw error;
    }
  }

  /** Feeds what is in memory. False if rows must be read. */
  async #feedAdded(): Promise<boolean> {
    const items = this.#added;
    this.#added = [];
    if (items === undefined || items.length === 0) return false;
    const end = await answered(this.#options.rows.endOf(this.#progress.place, items));
    if (end === undefined) return false;
    await feedBatch(this.#feeding(), items);
    this.#waiting = Math.max(0, this.#waiting - items.length);
    await this.#reached(end);
    return true;
  }

  #keep(generations: readonly StoredGeneration[]): void {
    if (this.#added === undefined) return;
    try {
      const items = generations.map((generation) => this.#options.projection.of(generation));
      if (this.#added.length < BATCH_ROWS) this.#added.push(...items);
      else this.#added = undefined;
    } catch {
      // Reading the rows finds the one that cannot be an event, and leaves it out.
      this.#added = undefined;
    }
  }

  /** Feeds one batch of the rows that the events lack. A call meanwhile joins it. */
  #refill(): Promise<void> {
    this.#refilling ??= this.#feedLacking().finally(() => {
      this.#refilling = undefined;
    });
    return this.#refilling;
  }

  async #feedLacking(): Promise<void> {
    const { refill } = this.#progress;
    if (refill === null) return;
    const feeding = this.#feeding();
    const batch = await readBatch(feeding, refill.behind, BATCH_ROWS);
    if (batch !== undefined && batch.items.length > 0) await feedBatch(feeding, batch.items);
    // Another loss meanwhile: everything is fed once more.
    if (this.#progress.refill !== refill) return;
    if (batch === undefined) await this.#note({ refill: { behind: null } });
    else await this.#note({ refill: batch.isLast ? null : { behind: batch.place } });
  }

  /** Begins at the end of the rows, and refills all that there are. */
  async #begin(): Promise<void> {
    const place = await answered(this.#options.rows.end());
    this.#mustBegin = false;
    if (place === null) this.#progress = { place, refill: null };
    else await this.#note({ place, ...refillAll() });
  }

  async #reached(place: RowPlace | null): Promise<void> {
    if (place === this.#progress.place) return;
    if (performance.now() - this.#notedAt >= NOTE_AFTER_MS) await this.#note({ place });
    else this.#progress = { ...this.#progress, place };
  }

  async #note(changed: Partial<FeedProgress>): Promise<void> {
    this.#progress = { ...this.#progress, ...changed };
    await this.#options.file.write(this.#progress);
    this.#notedAt = performance.now();
  }

  #feeding() {
    const { rows, projection, warn } = this.#options;
    return { rows, projection, warn, signal: this.#closing.signal };
  }
}

/** Another object each time, so that a batch that was under way does not end this refill. */
function refillAll(): Pick<FeedProgress, 'refill'> {
  return { refill: { behind: null } };
}

/** Whether a value that was stored is the progress of a feed. */
export function isFeedProgress(value: unknown): value is FeedProgress {
  if (!isJsonObject(value) || !isPlace(value.place)) return false;
  const { refill } = value;
  return refill === null || (isJsonObject(refill) && isPlace(refill.behind));
}

function isPlace(value: unknown): value is RowPlace | null {
  return value === null || typeof value === 'string';
}
