import { afterThis } from '../../kit/loop/turns.ts';
import {
  type Append,
  type Durability,
  type Journal,
  type JournalEntry,
  type JournalPosition,
  JournalUnavailable,
} from '../../ports/money/journal.ts';
import { OutageLog } from '../outage-log.ts';
import { DiskReserve } from './disk-reserve.ts';
import type { DiskWatch } from './disk-watch.ts';
import { bytesOfFrame, MAX_RECORD_BYTES } from './frame.ts';
import type { JournalFiles } from './journal-files.ts';
import { type JournalContent, readSegment } from './read-journal.ts';
import { SegmentChain } from './segment-chain.ts';
import { WaitingAppends } from './waiting-appends.ts';

export interface JournalLimits {
  /** A segment that would grow beyond this is closed, and a new one begins. */
  readonly segmentBytes: number;
  /** Room reserved on the disk for work that is under way when the disk is full. */
  readonly reservedBytes: number;
  /** Limit for appends that wait for the disk; more are refused. */
  readonly maxWaitingBytes: number;
  /** How long appends with `power` gather before a sync, if the last sync served several, milliseconds; 0 = never. */
  readonly gatherMs: number;
}

/**
 * `strained`: a write failed and the disk reserve was released for work under way. `broken`: nothing can be written
 * until `#mend` succeeds.
 */
type Condition = 'ready' | 'strained' | 'broken';

/** A written record that waits for a sync. */
interface WrittenAppend {
  readonly append: Append;
  readonly position: JournalPosition;
}

/** How often a journal tries to become ready again. */
const MEND_EVERY_MS = 250;

/** How long the disk must work until the end of its failure is logged. */
const STEADY_MS = 1_000;

/**
 * Group commit: appends of one turn of the event loop, and those that arrive while the disk is busy, are written
 * together. Appends with `power` share a sync. It starts at once, or `gatherMs` later if the last one served several,
 * because a sync is expensive and more appends are likely. One loop does all writing, syncing and mending.
 *
 * A segment in which a write or sync failed is abandoned, and a new one begins. After a failed sync the waiting
 * appends are refused although their records are written: it is unknown whether the disk has them, and another sync
 * would not tell. The caller appends them again.
 */
export class SegmentedJournal implements Journal {
  readonly disk: DiskWatch;
  readonly #files: JournalFiles;
  readonly #maxWaitingBytes: number;
  readonly #gatherMs: number;
  readonly #reserve: DiskReserve;
  readonly #chain: SegmentChain;
  readonly #outage: OutageLog;
  readonly #waiting = new WaitingAppends();
  #unsynced: WrittenAppend[] = [];
  /** Appends that the last sync served. */
  #syncedTogether = 0;
  #isSyncDue = false;
  #gathering: NodeJS.Timeout | undefined;
  #condition: Condition = 'broken';
  #cause: unknown;
  #isRunning = false;
  /** Called when the loop has nothing to do any more. */
  #whenIdle: (() => void)[] = [];
  #isMendDue = true;
  #mendTimer: NodeJS.Timeout | undefined;
  #releases: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(
    files: JournalFiles,
    limits: JournalLimits,
    stored: Pick<JournalContent, 'segments' | 'next'> & { readonly disk: DiskWatch },
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void,
  ) {
    this.disk = stored.disk;
    this.#files = files;
    this.#maxWaitingBytes = limits.maxWaitingBytes;
    this.#gatherMs = limits.gatherMs;
    this.#reserve = new DiskReserve(files, limits.reservedBytes);
    this.#chain = new SegmentChain(files, limits.segmentBytes, stored);
    this.#outage = new OutageLog(warn, {
      begins: 'the ledger cannot be written; no paid work is begun until it can',
      ends: 'the ledger can be written again',
      place: { path: files.pathOf('') },
      steadyMs: STEADY_MS,
    });
  }

  /** Makes it ready; if the disk does not allow that, retries in the background. */
  start(): Promise<void> {
    return this.#untilIdle();
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
    return new Promise((written, refused) => this.enqueue({ record, durability, written, refused }));
  }

  enqueue(append: Append): void {
    const refusal = this.#refusalOf(append.record);
    if (refusal !== undefined) {
      append.refused(refusal);
      return;
    }
    this.#waiting.add(append);
    this.#work();
  }

  async *read(): AsyncGenerator<readonly JournalEntry[], void, void> {
    const released = this.#releases;
    let endReading = () => {};
    this.#releases = new Promise((resolve) => {
      endReading = resolve;
    });
    try {
      await released;
      for (const end of this.#chain.ends) yield* readSegment(this.#files, end);
    } finally {
      endReading();
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
    if (this.#gathering !== undefined) this.#gathered();
    await this.#untilIdle();
    await this.#releases;
    await this.#chain.close();
    this.disk.close();
    this.#outage.close();
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

  /** Starts the loop unless it runs: appends of the same turn go into one batch. */
  #work(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    afterThis(this.#run);
  }

  #untilIdle(): Promise<void> {
    this.#work();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  readonly #run = (): void => void this.#loop();

  async #loop(): Promise<void> {
    for (;;) {
      if (this.#isMendDue) await this.#mend();
      if (!this.#waiting.isEmpty) await this.#commit(this.#waiting.takeBatch());
      if (this.#isSyncDue) await this.#sync();
      if (!this.#isMendDue && this.#waiting.isEmpty && !this.#isSyncDue) break;
      await new Promise<void>(afterThis);
    }
    this.#isRunning = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Writes a batch and acknowledges it. Never rejects. */
  #commit(batch: readonly Append[]): Promise<void> {
    if (this.#condition === 'broken') return this.#refuse(batch, this.#cause);
    const records = batch.map(({ record }) => record);
    const again = (error: unknown) => this.#commitAgain(batch, records, error);
    const durable = this.#mayWriteDurably(batch) ? this.#chain.writeDurably(records) : undefined;
    return durable === undefined
      ? this.#chain.write(records).then((positions) => this.#acknowledgeWritten(batch, positions), again)
      : durable.then((positions) => this.#acknowledgeDurable(batch, positions), again);
  }

  /**
   * Whether a batch may wait for the disk as a whole, without a sync of its own: all its appends want that, and no more
   * are likely to come.
   */
  #mayWriteDurably(batch: readonly Append[]): boolean {
    const isGathering = this.#gathering !== undefined || this.#unsynced.length > 0;
    const isAlone = this.#syncedTogether < 2 || this.#gatherMs === 0 || this.#isClosed;
    return !isGathering && isAlone && batch.every(({ durability }) => durability === 'power');
  }

  #acknowledgeDurable(batch: readonly Append[], positions: readonly JournalPosition[]): void {
    this.#syncedTogether = batch.length;
    for (const [index, append] of batch.entries()) append.written(positions[index] as JournalPosition);
  }

  /** After a failure: once more, into a new segment and with the room of the disk reserve. */
  async #commitAgain(
    batch: readonly Append[],
    records: readonly Uint8Array[],
    failure: unknown,
  ): Promise<void> {
    try {
      await this.#fail('strained', failure);
      if (!(await this.#reserve.release())) throw failure;
      this.#acknowledgeWritten(batch, await this.#chain.write(records));
    } catch (error) {
      await this.#refuse(batch, error);
    }
  }

  async #refuse(batch: readonly Append[], cause: unknown): Promise<void> {
    await this.#fail('broken', cause);
    for (const append of batch) append.refused(this.#unavailable());
  }

  /** Acknowledges appends with `process`; the others wait for a sync. */
  #acknowledgeWritten(batch: readonly Append[], positions: readonly JournalPosition[]): void {
    for (const [index, position] of positions.entries()) {
      const append = batch[index];
      if (append?.durability === 'process') append.written(position);
      else if (append !== undefined) this.#unsynced.push({ append, position });
    }
    if (this.#unsynced.length === 0 || this.#isSyncDue || this.#gathering !== undefined) return;
    if (this.#syncedTogether < 2 || this.#gatherMs === 0 || this.#isClosed) this.#isSyncDue = true;
    else this.#gathering = setTimeout(() => this.#gathered(), this.#gatherMs);
  }

  #gathered(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#isSyncDue = true;
    this.#work();
  }

  /** Syncs what was written, and acknowledges it. Never rejects. */
  #sync(): Promise<void> {
    this.#isSyncDue = false;
    return this.#chain.sync().then(
      () => {
        this.#syncedTogether = this.#unsynced.length;
        this.#acknowledgeSynced();
      },
      (error) => this.#fail('broken', error),
    );
  }

  #acknowledgeSynced(): void {
    const synced = this.#unsynced;
    this.#unsynced = [];
    for (const { append, position } of synced) append.written(position);
  }

  async #fail(condition: Condition, cause: unknown): Promise<void> {
    this.#condition = condition;
    this.#cause = cause;
    this.#outage.failed(cause);
    this.#mendLater();
    if (await this.#chain.abandon()) this.#acknowledgeSynced();
    const lost = this.#unsynced;
    this.#unsynced = [];
    for (const { append } of lost) append.refused(this.#unavailable());
  }

  #mendLater(): void {
    if (this.#isClosed || this.#mendTimer !== undefined) return;
    this.#mendTimer = setTimeout(() => {
      this.#mendTimer = undefined;
      this.#isMendDue = true;
      this.#work();
    }, MEND_EVERY_MS).unref();
  }

  /** Fills the reserve first: a disk with room for it has room for records too. */
  async #mend(): Promise<void> {
    this.#isMendDue = false;
    try {
      await this.#reserve.fill();
      await this.#chain.open();
      this.#condition = 'ready';
      this.#outage.worked();
    } catch (error) {
      this.#cause = error;
      this.#outage.failed(error);
      this.#mendLater();
    }
  }
}
