import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject } from '../../../kit/json/json.ts';
import type { Appended, EventBundle, EventStore } from '../../../ports/events/events.ts';
import type { ImportedUsage } from '../../../ports/events/imported-usage.ts';
import { ImportFolder } from '../../directory/import-folder.ts';
import { OutageLog } from '../../outage-log.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { openEventBundle, readBundleSlices } from '../duckdb/bundle/event-bundle.ts';
import { eventsOfSlice } from '../duckdb/bundle/usage-slices.ts';
import { ProgressFile } from './progress-file.ts';

/** Slices that the events have. */
interface TakenSlices {
  readonly taken: readonly string[];
}

export interface ImportFeedOptions {
  /** The data directory. */
  readonly directory: string;
  /** Name of the file in it that says what the events have. */
  readonly fileName: string;
  readonly imports: ImportedUsage;
  readonly events: Pick<EventStore, 'addBundle' | 'sizes'>;
  /** Whether the file of events does not exist. */
  readonly isFileMissing: boolean;
  /** Epoch milliseconds. */
  now(): number;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Slices of one bundle: few enough for memory. */
const SLICES_PER_BUNDLE = 25;

/**
 * Delay before a pass, milliseconds: short-lived commands are not held up, and the slices of an import are taken
 * together. Within the five seconds that analytics of several gateways may be behind.
 */
const WAIT_MS = 2_000;

const WARNINGS = {
  begins: 'imported usage cannot be brought into the events; it waits in the database',
  ends: 'imported usage is brought into the events again',
};

/** The database does not answer. Not logged here: requests log it. */
class ImportsUnavailable extends Error {}

/**
 * Keeps imported usage in the database, and feeds events from there what they lack: after their file was lost, and
 * what other gateways have imported.
 */
export class ImportFeed {
  readonly #options: ImportFeedOptions;
  readonly #file: ProgressFile<TakenSlices>;
  readonly #closing = new AbortController();
  readonly #failures: OutageLog;
  readonly #taken: Set<string>;
  /** Counts losses of the events' file: a pass that began before one must not note what it has fed. */
  #losses = 0;
  /** Settles once bundles given by now are taken in: passes wait, so that they do not feed the same slices. */
  #takenIn: Promise<unknown> = Promise.resolve();
  #isFirstPass = true;
  #isFeeding = false;
  #isDue = true;
  #pass: Promise<void> | undefined;
  #run: Promise<void> | undefined;

  private constructor(options: ImportFeedOptions) {
    this.#options = options;
    this.#failures = new OutageLog(options.warn, WARNINGS);
    this.#file = new ProgressFile(join(options.directory, options.fileName), isTaken);
    this.#taken = new Set(this.#file.read()?.taken);
  }

  /** Reads what earlier runs left. */
  static async open(options: ImportFeedOptions): Promise<ImportFeed> {
    const feed = new ImportFeed(options);
    if (options.isFileMissing) await feed.#forget();
    return feed;
  }

  /** Whether events lack imported usage that is being fed. */
  get isRefilling(): boolean {
    return this.#isFeeding;
  }

  start(): void {
    this.#wake();
  }

  /** Another gateway may have imported usage: a pass follows. */
  lookAgain(): void {
    this.#isDue = true;
    this.#wake();
  }

  /** Keeps a bundle and adds its events. */
  takeIn(bundle: EventBundle): Promise<Appended> {
    const takenIn = this.#takenIn.then(() => this.#takeIn(bundle));
    this.#takenIn = takenIn.catch(() => {});
    return takenIn;
  }

  async #takeIn({ file }: EventBundle): Promise<Appended> {
    const { imports, events, warn, now } = this.#options;
    const slices = await readBundleSlices(file);
    for (const slice of slices) await imports.add(slice, now());
    const dropped = await imports.dropOldest();
    if (dropped > 0) {
      warn('the oldest imported usage is no longer kept for the case that events are lost', {
        slices: dropped,
      });
    }
    // Creates the file if necessary, which counts as a loss.
    await events.sizes();
    const losses = this.#losses;
    const appended = await events.addBundle({ file });
    if (losses === this.#losses) await this.#note(slices.map(({ id }) => id));
    return appended;
  }

  /** Feeds all slices again. */
  async feedAll(): Promise<void> {
    await this.#forget();
    do await this.#runPass();
    while (this.#isDue && !this.#closing.signal.aborted);
  }

  /** The events have no imported usage. */
  eventsLost(): void {
    // If the file cannot be written, this process still knows.
    this.#forget()
      .catch(() => {})
      .finally(() => this.#wake());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#run;
    await this.#pass?.catch(() => {});
  }

  /** Notes durably that the events have no slice. */
  async #forget(): Promise<void> {
    this.#losses++;
    this.#isDue = true;
    if (this.#taken.size === 0) return;
    this.#isFeeding = true;
    this.#taken.clear();
    await this.#file.write({ taken: [] });
  }

  #wake(): void {
    if (this.#closing.signal.aborted) return;
    this.#run ??= this.#work().finally(() => {
      this.#run = undefined;
    });
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && this.#isDue) {
      await delay(WAIT_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#runPass();
        this.#failures.worked();
      } catch (error) {
        this.#isDue = true;
        if (!signal.aborted && !(error instanceof ImportsUnavailable)) this.#failures.failed(error);
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
    this.#isDue = false;
    await this.#takenIn;
    const ids = await this.#ask((imports) => imports.ids());
    const missing = ids.filter((id) => !this.#taken.has(id));
    // Later passes find what another gateway has just imported, which is no refill.
    if (this.#isFirstPass) this.#isFeeding = missing.length > 0;
    this.#isFirstPass = false;
    const losses = this.#losses;
    for (let begin = 0; begin < missing.length; begin += SLICES_PER_BUNDLE) {
      this.#closing.signal.throwIfAborted();
      const some = missing.slice(begin, begin + SLICES_PER_BUNDLE);
      await this.#addSlices(some);
      // The file was lost meanwhile: the next pass feeds everything.
      if (losses !== this.#losses) return;
      await this.#note(some);
    }
    this.#isFeeding = false;
  }

  /** By a bundle: ids are then known whatever the time of their events. */
  async #addSlices(ids: readonly string[]): Promise<void> {
    const { events, directory } = this.#options;
    const { file, remove } = new ImportFolder(directory).open();
    const bundle = openEventBundle(file, { keepsSlices: false });
    try {
      for (const id of ids) {
        const slice = await this.#ask((imports) => imports.read(id));
        if (slice !== undefined) await bundle.add(eventsOfSlice(slice));
      }
      await bundle.close();
      await events.addBundle({ file });
    } finally {
      await bundle.discard();
      remove();
    }
  }

  async #ask<Result>(question: (imports: ImportedUsage) => Promise<Result>): Promise<Result> {
    try {
      return await question(this.#options.imports);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      throw new ImportsUnavailable('imported usage cannot be read', { cause: error });
    }
  }

  async #note(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#taken.add(id);
    await this.#file.write({ taken: [...this.#taken] });
  }
}

function isTaken(value: unknown): value is TakenSlices {
  return (
    isJsonObject(value) && Array.isArray(value.taken) && value.taken.every((id) => typeof id === 'string')
  );
}
