import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject } from '../../../kit/json/json.ts';
import type { EventStore } from '../../../ports/events/events.ts';
import { type ClassificationStore, tagsOf } from '../../../ports/following/classifiers.ts';
import { OutageLog } from '../../outage-log.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { ProgressFile } from './progress-file.ts';

/** Where the storage of classifications and the events have come to. */
interface TagProgress {
  readonly behind: number;
}

export interface TagFeedOptions {
  readonly directory: string;
  /** Name of the file in it that says which tags the events have. */
  readonly fileName: string;
  readonly classifications: Pick<ClassificationStore, 'behind' | 'end'>;
  readonly events: Pick<EventStore, 'addTags'>;
  /** Whether the file of events does not exist. */
  readonly isFileMissing: boolean;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Delay before a pass, milliseconds. */
  readonly waitMs?: number;
}

const CLASSIFICATIONS_AT_ONCE = 500;

/** So that what is written in short order is fed together. */
const WAIT_MS = 200;

/** Delay before a pass after one that failed, milliseconds. */
const RETRY_MS = 2_000;

const WARNINGS = {
  begins: 'tags of classifiers cannot be brought into the events; they wait in the database',
  ends: 'tags of classifiers are brought into the events again',
};

/** Feeds events the tags that are in the database: new ones, and all of them after events were lost. */
export class TagFeed {
  readonly #options: TagFeedOptions;
  readonly #file: ProgressFile<TagProgress>;
  readonly #closing = new AbortController();
  readonly #failures: OutageLog;
  #behind: number;
  /** Counts losses of events: a pass that began before one must not note what it has fed. */
  #losses = 0;
  #isRefilling = false;
  #isDue = true;
  #pass: Promise<void> | undefined;
  #run: Promise<void> | undefined;

  constructor(options: TagFeedOptions) {
    this.#options = options;
    this.#failures = new OutageLog(options.warn, WARNINGS);
    this.#file = new ProgressFile(join(options.directory, options.fileName), isProgress);
    this.#behind = this.#file.read()?.behind ?? 0;
    if (options.isFileMissing) this.#forget();
  }

  /** Whether events lack tags that they had. */
  get isRefilling(): boolean {
    return this.#isRefilling;
  }

  start(): void {
    this.#wake();
  }

  /** There may be new classifications: a pass follows. */
  lookAgain(): void {
    this.#isDue = true;
    this.#wake();
  }

  /** The events have no tags. */
  eventsLost(): void {
    this.#forget();
    this.#wake();
  }

  async feedAll(): Promise<void> {
    this.#forget();
    do await this.#runPass();
    while (this.#isDue && !this.#closing.signal.aborted);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#run;
    await this.#pass?.catch(() => {});
  }

  #forget(): void {
    this.#losses++;
    this.#isDue = true;
    if (this.#behind === 0) return;
    this.#isRefilling = true;
    this.#behind = 0;
    // If the file cannot be written, this process still knows.
    this.#file.write({ behind: 0 }).catch(() => {});
  }

  #wake(): void {
    if (this.#closing.signal.aborted) return;
    this.#run ??= this.#work().finally(() => {
      this.#run = undefined;
      if (this.#isDue) this.#wake();
    });
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    let waitMs = this.#options.waitMs ?? WAIT_MS;
    while (!signal.aborted && this.#isDue) {
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#runPass();
        this.#failures.worked();
      } catch (error) {
        this.#isDue = true;
        waitMs = RETRY_MS;
        // The database logs its outages itself.
        if (!signal.aborted && !(error instanceof DatabaseUnavailable)) this.#failures.failed(error);
      }
    }
  }

  #runPass(): Promise<void> {
    this.#pass ??= this.#feed().finally(() => {
      this.#pass = undefined;
    });
    return this.#pass;
  }

  async #feed(): Promise<void> {
    const { classifications, events } = this.#options;
    this.#isDue = false;
    // A database that was put back from a backup gives places again.
    if (this.#behind > 0 && (await classifications.end()) < this.#behind) this.#behind = 0;
    for (;;) {
      this.#closing.signal.throwIfAborted();
      const losses = this.#losses;
      const page = await classifications.behind(this.#behind, CLASSIFICATIONS_AT_ONCE);
      if (page.classifications.length === 0) break;
      await events.addTags(page.classifications.flatMap(tagsOf));
      // Lost meanwhile: the next pass feeds everything.
      if (losses !== this.#losses) return;
      this.#behind = page.place;
      await this.#file.write({ behind: page.place });
    }
    this.#isRefilling = false;
  }
}

function isProgress(value: unknown): value is TagProgress {
  return isJsonObject(value) && Number.isSafeInteger(value.behind);
}
