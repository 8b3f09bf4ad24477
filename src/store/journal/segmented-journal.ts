import {
  type Durability,
  type Journal,
  type JournalEntry,
  type JournalPosition,
  JournalUnavailable,
} from '../../ports/journal.ts';
import { bytesOfFrame, MAX_RECORD_BYTES } from './frame.ts';
import type { JournalFiles } from './journal-files.ts';
import type { JournalContent } from './read-journal.ts';
import { readSegment } from './read-segment.ts';
import { Reserve } from './reserve.ts';
import { SegmentChain, type Written } from './segment-chain.ts';
import { type WaitingAppend, WaitingAppends } from './waiting-appends.ts';

/** Sizes of a journal. */
export interface JournalLimits {
  /** A segment that would grow beyond this is followed by a new one. */
  readonly segmentBytes: number;
  /** Room kept on the disk for work that is under way when the disk is full. */
  readonly reservedBytes: number;
  /** What may wait for the disk; more is refused. */
  readonly maxWaitingBytes: number;
}

/**
 * `ready`: all is well. `strained`: a write failed and the reserve was given up for what is under way. `broken`: nothing can
 * be written until it is mended.
 */
type Condition = 'ready' | 'strained' | 'broken';

/** How often a journal tries to become ready again. */
const MEND_EVERY_MS = 250;

/**
 * Appends gather while the disk is busy and are written together, then synced together if anybody waits for `power`. All
 * writing and mending is done in turn by one loop.
 *
 * A segment in which something failed is given up, and a new one goes on. When a sync failed, those who waited for it are
 * rejected although their records are written: nobody can tell whether the disk has them, and another sync would not
 * either. To append them again is up to whoever did.
 */
export class SegmentedJournal implements Journal {
  readonly #files: JournalFiles;
  readonly #maxWaitingBytes: number;
  readonly #reserve: Reserve;
  readonly #chain: SegmentChain;
  readonly #waiting = new WaitingAppends();
  #condition: Condition = 'broken';
  /** What failed last. */
  #cause: unknown;
  #isRunning = false;
  /** The loop as it runs or ran last. */
  #run: Promise<void> = Promise.resolve();
  #isMendDue = true;
  #mendTimer: NodeJS.Timeout | undefined;
  #releases: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(files: JournalFiles, limits: JournalLimits, stored: Pick<JournalContent, 'segments' | 'next'>) {
    this.#files = files;
    this.#maxWaitingBytes = limits.maxWaitingBytes;
    this.#reserve = new Reserve(files, limits.reservedBytes);
    this.#chain = new SegmentChain(files, limits.segmentBytes, stored);
  }

  /** Makes it ready, if the disk lets it; otherwise it goes on trying. */
  start(): Promise<void> {
    return this.#work();
  }

  get isWritable(): boolean {
    return this.#condition === 'ready';
  }

  get size(): Journal['size'] {
    return this.#chain.size;
  }

  get end(): JournalPosition {
    return this.#chain.end;
  }

  append(record: Uint8Array, durability: Durability): Promise<JournalPosition> {
    const refusal = this.#refusalOf(record);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#waiting.add({ record, durability, resolve, reject });
      void this.#work();
    });
  }

  async *read(): AsyncGenerator<readonly JournalEntry[], void, void> {
    const released = this.#releases;
    let letGo = () => {};
    this.#releases = new Promise((resolve) => {
      letGo = resolve;
    });
    try {
      await released;
      for (const end of this.#chain.ends) yield* readSegment(this.#files, end);
    } finally {
      letGo();
    }
  }

  release(upTo: JournalPosition): Promise<void> {
    const released = this.#releases.then(() => this.#chain.remove(upTo));
    this.#releases = released.catch(() => {});
    return released;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#mendTimer);
    await this.#work();
    await this.#releases;
    await this.#chain.close();
  }

  #refusalOf(record: Uint8Array): Error | undefined {
    if (record.length === 0 || record.length > MAX_RECORD_BYTES) {
      return new RangeError(`a record has 1 to ${MAX_RECORD_BYTES} bytes, not ${record.length}`);
    }
    if (this.#isClosed) return new JournalUnavailable('the journal is closed');
    if (this.#condition === 'broken') return this.#unavailable();
    if (this.#waiting.bytes + bytesOfFrame(record) > this.#maxWaitingBytes) {
      return new JournalUnavailable('the disk does not keep up with the journal; try again later');
    }
    return undefined;
  }

  #unavailable(): JournalUnavailable {
    const { code = 'unknown' } = (this.#cause ?? {}) as NodeJS.ErrnoException;
    const directory = this.#files.pathOf('');
    return new JournalUnavailable(
      `the journal cannot be written (${code}); it goes on by itself once the disk of ${directory} has room and works`,
      this.#cause,
    );
  }

  /** Does what there is to do; one at a time. Never rejects. */
  #work(): Promise<void> {
    if (!this.#isRunning) {
      this.#isRunning = true;
      this.#run = this.#loop();
    }
    return this.#run;
  }

  async #loop(): Promise<void> {
    // Those who append in the same turn go into the same batch.
    await Promise.resolve();
    while (this.#isMendDue || this.#waiting.areThere) {
      if (this.#isMendDue) await this.#mend();
      if (this.#waiting.areThere) await this.#commit(this.#waiting.takeBatch());
    }
    this.#isRunning = false;
  }

  async #commit(batch: readonly WaitingAppend[]): Promise<void> {
    try {
      const { segment, positions } = await this.#write(batch.map(({ record }) => record));
      settle(batch, positions, 'process');
      if (!batch.some(({ durability }) => durability === 'power')) return;
      await segment.sync();
      settle(batch, positions, 'power');
    } catch (error) {
      await this.#fail('broken', error);
      // Those who have their answer do not hear this.
      for (const append of batch) append.reject(this.#unavailable());
    }
  }

  /** Writes records; if that fails, once more into a new segment and in the room of the reserve. */
  async #write(records: readonly Uint8Array[]): Promise<Written> {
    if (this.#condition === 'broken') throw this.#cause;
    try {
      return await this.#chain.write(records);
    } catch (error) {
      await this.#fail('strained', error);
      if (!(await this.#reserve.giveBack())) throw error;
      return await this.#chain.write(records);
    }
  }

  async #fail(condition: Condition, cause: unknown): Promise<void> {
    this.#condition = condition;
    this.#cause = cause;
    this.#mendLater();
    await this.#chain.abandon();
  }

  #mendLater(): void {
    if (this.#isClosed || this.#mendTimer !== undefined) return;
    this.#mendTimer = setTimeout(() => {
      this.#mendTimer = undefined;
      this.#isMendDue = true;
      void this.#work();
    }, MEND_EVERY_MS).unref();
  }

  /** The reserve first: a disk that has room for it has room for records too. */
  async #mend(): Promise<void> {
    this.#isMendDue = false;
    try {
      await this.#reserve.fill();
      await this.#chain.open();
      this.#condition = 'ready';
    } catch (error) {
      this.#cause = error;
      this.#mendLater();
    }
  }
}

/** Tells those who wait for no more than `durability` that they have it. */
function settle(
  batch: readonly WaitingAppend[],
  positions: readonly JournalPosition[],
  durability: Durability,
): void {
  for (const [index, position] of positions.entries()) {
    const append = batch[index];
    if (append?.durability === durability) append.resolve(position);
  }
}
