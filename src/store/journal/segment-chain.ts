import type { Journal, JournalPosition } from '../../ports/money/journal.ts';
import type { JournalFiles } from './journal-files.ts';
import { bytesOfFrames, OpenSegment } from './open-segment.ts';
import type { JournalContent, StoredSegment } from './read-journal.ts';
import { nameOfSegment, SEGMENT_HEADER_BYTES, type SegmentEnds } from './segment.ts';

/** The segments of a journal: full or abandoned ones, and the current one that takes records, if any. */
export class SegmentChain {
  readonly #files: JournalFiles;
  readonly #segmentBytes: number;
  /** Oldest first. */
  readonly #past: StoredSegment[];
  /** The last segment with records or found at the start; the next one continues its number. */
  #previous: { readonly number: number; readonly ends: SegmentEnds };
  #current: OpenSegment | undefined;

  constructor(
    files: JournalFiles,
    segmentBytes: number,
    { segments, next }: Pick<JournalContent, 'segments' | 'next'>,
  ) {
    this.#files = files;
    this.#segmentBytes = segmentBytes;
    this.#past = [...segments];
    this.#previous = segments.at(-1) ?? { number: next - 1, ends: { synced: 0, written: 0 } };
  }

  get size(): Journal['size'] {
    const current = this.#current;
    return {
      segments: this.#past.length + (current === undefined ? 0 : 1),
      bytes: this.#past.reduce((sum, { bytes }) => sum + bytes, current?.ends.written ?? 0),
    };
  }

  /** The end of the last record, or where the first one of an empty segment begins. */
  get end(): JournalPosition {
    const last = this.#current ?? this.#past.at(-1);
    if (last === undefined) return { segment: this.#previous.number + 1, offset: SEGMENT_HEADER_BYTES };
    return { segment: last.number, offset: last.ends.written };
  }

  /** Where the records of each segment end, oldest first. */
  get ends(): readonly JournalPosition[] {
    const past = this.#past.map(({ number, ends }) => ({ segment: number, offset: ends.written }));
    return this.#current === undefined ? past : [...past, this.end];
  }

  /** The current segment, created if necessary. */
  async open(): Promise<OpenSegment> {
    if (this.#current !== undefined) return this.#current;
    const { number, ends } = this.#previous;
    this.#current = await OpenSegment.create(this.#files, { number: number + 1, previous: ends });
    return this.#current;
  }

  /**
   * Writes records in one write, into a new segment if they do not fit, and returns their end positions. After a
   * failure `abandon` must follow.
   */
  write(records: readonly Uint8Array[]): Promise<readonly JournalPosition[]> {
    const current = this.#current;
    if (current !== undefined && !this.#isFullFor(bytesOfFrames(records))) return current.write(records);
    return this.#writeIntoNext(records);
  }

  /** `write` and then `sync` in one operation of the disk where the current segment can; else undefined. */
  writeDurably(records: readonly Uint8Array[]): Promise<readonly JournalPosition[]> | undefined {
    const current = this.#current;
    if (current === undefined || this.#isFullFor(bytesOfFrames(records))) return undefined;
    return current.writeDurably(records);
  }

  async #writeIntoNext(records: readonly Uint8Array[]): Promise<readonly JournalPosition[]> {
    if (this.#current !== undefined) await this.#finish(this.#current);
    const segment = await this.open();
    return await segment.write(records);
  }

  /** Makes all written records durable. After a failure `abandon` must follow. */
  sync(): Promise<void> {
    return this.#current?.sync() ?? Promise.resolve();
  }

  /** Gives up the current segment after a failure. True when all that was written is on the disk. */
  async abandon(): Promise<boolean> {
    const current = this.#current;
    if (current === undefined) return true;
    const isSynced = await current.abandon();
    this.#retire(current);
    return isSynced;
  }

  /** Removes segments oldest first, each durably before the next, so that no gap can arise. */
  async remove(upTo: JournalPosition): Promise<void> {
    for (;;) {
      const [oldest, next] = this.#past;
      if (oldest === undefined || !endsBy(oldest, upTo)) return;
      // The last one stays: the next segment continues its number.
      if (next === undefined && this.#current === undefined) return;
      await this.#files.remove(nameOfSegment(oldest.number));
      await this.#files.sync();
      this.#past.shift();
    }
  }

  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    // Best effort: appends with `power` are synced already.
    await current?.sync().catch(() => {});
    await current?.close();
  }

  #isFullFor(bytes: number): boolean {
    const current = this.#current;
    if (current === undefined || current.isEmpty) return false;
    return current.ends.written + bytes > this.#segmentBytes;
  }

  /** Synced before the next segment exists: a durable record implies that all records before it are durable. */
  async #finish(current: OpenSegment): Promise<void> {
    await current.sync();
    await current.close();
    this.#retire(current);
  }

  #retire(segment: OpenSegment): void {
    this.#current = undefined;
    // It has no positions, so the next segment takes its number and file.
    if (segment.isEmpty) return;
    const { number, ends } = segment;
    this.#previous = { number, ends };
    this.#past.push({ number, bytes: ends.written, ends });
  }
}

function endsBy({ number, ends }: StoredSegment, upTo: JournalPosition): boolean {
  return number < upTo.segment || (number === upTo.segment && ends.written <= upTo.offset);
}
