import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationStore, SettledPosition } from '../../../ports/generations.ts';
import { OutageLog } from '../../outage-log.ts';
import type { GenerationSink } from '../projection/event-projection.ts';
import { feedRows } from './feed-rows.ts';
import { EVENTS_LOST, FEED_WARNINGS } from './feed-warnings.ts';
import type { ProgressFile } from './progress-file.ts';
import { RecentLoss } from './recent-loss.ts';

/** Rows that the events lack: all generations after a position; null = none. */
export interface MissingRows {
  readonly behind: SettledPosition | null;
}

export interface RowRefillOptions {
  readonly projection: GenerationSink;
  readonly rows: Pick<GenerationStore, 'settledAfter'>;
  readonly file: Pick<ProgressFile<MissingRows>, 'read' | 'write'>;
  /** Whether the file of events does not exist. */
  readonly isFileMissing: boolean;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Delay before a pass and before a retry, so that short-lived commands are not held up, milliseconds. */
  readonly waitMs?: number;
}

const WAIT_MS = 2_000;

/** The position before all rows. */
export const BEFORE_ALL: SettledPosition = { settledAtMs: Number.MIN_SAFE_INTEGER, id: '' };

/**
 * Feeds events from rows when the journal no longer has their records: after the file of events was lost or
 * unavailable for too long, or on request. Works in the background and continues after a restart.
 */
export class RowRefill {
  readonly #options: RowRefillOptions;
  readonly #closing = new AbortController();
  readonly #failures: OutageLog;
  /** Content of the progress file; undefined while there were never any events. */
  #noted: MissingRows | undefined;
  #behind: SettledPosition | null;
  /** Whether rows are older than this process or were noted as missing. New ones come from the journal in any case. */
  readonly #loss = new RecentLoss();
  #isBehind: boolean;
  /** Rows that fell due during the current pass and may have been skipped by it. */
  #next: SettledPosition | null = null;
  #rowsCaughtUp: () => Promise<void> = async () => {};
  #pass: Promise<void> | undefined;
  #run: Promise<void> | undefined;

  private constructor(options: RowRefillOptions, noted: MissingRows | undefined, isBehind: boolean) {
    this.#options = options;
    this.#isBehind = isBehind;
    this.#failures = new OutageLog(options.warn, FEED_WARNINGS);
    this.#noted = noted;
    this.#behind = noted === undefined ? BEFORE_ALL : noted.behind;
  }

  /** Reads what earlier runs left. */
  static async open(options: RowRefillOptions): Promise<RowRefill> {
    const noted = options.file.read();
    if (noted === undefined) {
      const [first] = await options.rows.settledAfter(BEFORE_ALL, 1);
      return new RowRefill(options, noted, first !== undefined);
    }
    if (!options.isFileMissing) return new RowRefill(options, noted, noted.behind !== null);
    if (noted.behind?.settledAtMs !== BEFORE_ALL.settledAtMs) options.warn(EVENTS_LOST);
    const all = { behind: BEFORE_ALL };
    await options.file.write(all);
    return new RowRefill(options, all, true);
  }

  /** Whether events lack rows that are being fed, or did a moment ago. */
  get isRefilling(): boolean {
    return this.#isBehind || this.#loss.isRecent;
  }

  /** Starts. `rowsCaughtUp` resolves once everything settled by then has its row. */
  start(rowsCaughtUp: () => Promise<void>): void {
    this.#rowsCaughtUp = rowsCaughtUp;
    this.#wake();
  }

  /** Notes durably that generations settled since a moment must be fed from their rows. */
  async deferToRows(sinceMs: number): Promise<void> {
    await this.#addMissing({ settledAtMs: sinceMs, id: '' });
    this.#wake();
  }

  /** Feeds all rows again. Rejects when that fails; later passes retry it. */
  async feedAll(): Promise<void> {
    await this.#addMissing(BEFORE_ALL);
    try {
      while (this.#behind !== null) await this.#runPass();
    } finally {
      this.#wake();
    }
  }

  /** The storage has lost its events: feeds all rows again. */
  eventsLost(): void {
    this.#loss.note();
    this.#isBehind = true;
    this.fileCreated();
  }

  /** The file of events was created: feeds all rows again, unless it is the first or the feed is at its beginning. */
  fileCreated(): void {
    if (this.#noted === undefined || this.#behind?.settledAtMs === BEFORE_ALL.settledAtMs) return;
    // If the file cannot be written, this process still knows.
    this.#addMissing(BEFORE_ALL)
      .catch(() => {})
      .finally(() => this.#wake());
  }

  /** Notes that events exist, so that a missing file counts as lost from now on. */
  async eventsWritten(): Promise<void> {
    if (this.#noted === undefined && this.#behind === null) await this.#note();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#run;
    await this.#pass?.catch(() => {});
  }

  async #addMissing(place: SettledPosition): Promise<void> {
    this.#isBehind = true;
    if (this.#pass === undefined) this.#behind = earlier(this.#behind, place);
    else this.#next = earlier(this.#next, place);
    await this.#note();
  }

  async #note(): Promise<void> {
    this.#noted = { behind: earlier(this.#behind, this.#next) };
    await this.#options.file.write(this.#noted);
  }

  #wake(): void {
    if (this.#closing.signal.aborted) return;
    this.#run ??= this.#work().finally(() => {
      this.#run = undefined;
    });
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    const { waitMs = WAIT_MS } = this.#options;
    while (this.#behind !== null && !signal.aborted) {
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#runPass();
        this.#failures.worked();
      } catch (error) {
        if (!signal.aborted) this.#failures.failed(error);
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
    const { rows, projection, warn } = this.#options;
    const { signal } = this.#closing;
    await this.#rowsCaughtUp();
    signal.throwIfAborted();
    await feedRows<SettledPosition>({
      behind: this.#behind ?? BEFORE_ALL,
      read: async (behind, limit) => {
        const generations = await rows.settledAfter(behind, limit);
        const last = generations.at(-1);
        return { generations, end: last && { settledAtMs: last.settledAtMs, id: last.id } };
      },
      projection,
      reached: async (place) => {
        this.#behind = place;
        await this.#note();
      },
      warn,
      signal,
    });
    this.#behind = this.#next;
    this.#next = null;
    this.#isBehind = this.#behind !== null;
    if (this.#noted !== undefined) await this.#note();
  }
}

function earlier(one: SettledPosition | null, other: SettledPosition | null): SettledPosition | null {
  if (one === null || other === null) return one ?? other;
  return one.settledAtMs <= other.settledAtMs ? one : other;
}
