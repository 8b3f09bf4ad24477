import type { Journal } from '../../../ports/money/journal.ts';
import type { LedgerMark } from '../../../ports/money/ledger-mark.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import { causeFields } from '../../outage-log.ts';
import type { Books } from '../books/books.ts';
import type { Projector } from '../projection/projector.ts';
import type { RecordWriter } from '../records/record-writer.ts';
import { writeSnapshotFile } from '../snapshot/snapshot-file.ts';
import type { SegmentSequences } from './segment-sequences.ts';

/** The snapshot that is on the disk. */
export interface PublishedSnapshot {
  readonly sequence: number;
  readonly segment: number;
}

export interface CompactionOptions {
  readonly books: Books;
  readonly journal: Journal;
  readonly files: JournalFiles;
  readonly writer: RecordWriter;
  readonly segments: SegmentSequences;
  readonly rows: Pick<Projector, 'neededFrom'>;
  readonly published: PublishedSnapshot;
  readonly mark: LedgerMark;
  /** Sequence in the mark; undefined when the mark is wrong because a loss was accepted. */
  readonly marked: number | undefined;
  /** Bytes of records after which the next snapshot is taken. */
  readonly everyBytes: number;
  /** Whether a backup is being made, which needs all segments until its end. */
  isHeld(): boolean;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Snapshots are taken at least this often, to bound the replay at a start. */
const EVERY_MS = 300_000;

/**
 * Keeps the journal short: takes snapshots of the books, and removes segments that neither the snapshot nor
 * rows that are to be made need.
 */
export class Compaction {
  readonly #options: CompactionOptions;
  readonly #timer: NodeJS.Timeout;
  #published: PublishedSnapshot;
  #marked: number | undefined;
  #bytes = 0;
  #run: Promise<void> | undefined;
  #isFailing = false;
  #isMarkFailing = false;

  constructor(options: CompactionOptions) {
    this.#options = options;
    this.#published = options.published;
    this.#marked = options.marked;
    this.#timer = setInterval(() => {
      if (this.#hasNews()) void this.compact();
    }, EVERY_MS).unref();
  }

  /** Counts written bytes. The very first records cause a snapshot, because only its mark lets a loss be noticed. */
  note(bytes: number): void {
    const isFirst = this.#bytes === 0 && this.#published.sequence === 0;
    this.#bytes += bytes;
    if (isFirst || this.#bytes >= this.#options.everyBytes) void this.compact();
  }

  /** Takes a snapshot and removes segments. Never rejects: a failure is logged once and retried later. */
  compact(): Promise<void> {
    this.#run ??= this.#compact().finally(() => {
      this.#run = undefined;
    });
    return this.#run;
  }

  /** Removes segments that are no longer needed, unless a backup needs them. */
  async release(): Promise<void> {
    const { segments, rows, journal, isHeld } = this.#options;
    if (isHeld()) return;
    const { sequence, segment } = this.#published;
    const done = Math.min(sequence, rows.neededFrom - 1);
    const first = Math.min(segment, segments.firstBeyond(done) ?? segment);
    await journal.release({ segment: first, offset: 0 });
    segments.forgetBefore(first);
  }

  /**
   * Writes the mark: the sequence of the published snapshot, because later records may be lost legitimately. Never
   * rejects: a failure is logged once and retried with the next snapshot.
   */
  async keepMark(): Promise<void> {
    if (!this.#isMarkBehind()) return;
    const { sequence } = this.#published;
    try {
      await this.#options.mark.write(sequence);
      this.#marked = sequence;
      this.#isMarkFailing = false;
    } catch (error) {
      if (!this.#isMarkFailing) {
        this.#options.warn(
          'the mark of the ledger cannot be written to the database; a lost journal would not be noticed',
          causeFields(error),
        );
      }
      this.#isMarkFailing = true;
    }
  }

  /** Takes a last snapshot, if there are new records and the disk works. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#run;
    const { journal, writer } = this.#options;
    if (this.#hasNews() && journal.isWritable && writer.isKeepingUp) await this.compact();
  }

  /** More than one segment may mean that rows were late and segments can be removed now. */
  #hasNews(): boolean {
    return this.#bytes > 0 || this.#isMarkBehind() || this.#options.journal.size.segments > 1;
  }

  #isMarkBehind(): boolean {
    return this.#marked === undefined || this.#marked < this.#published.sequence;
  }

  async #compact(): Promise<void> {
    this.#bytes = 0;
    try {
      await this.#publish();
      await this.keepMark();
      await this.release();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.warn('no snapshot of the ledger could be taken', causeFields(error));
      this.#isFailing = true;
    }
  }

  /** Waits for the journal first: a snapshot must not contain a settlement without a durable record. */
  async #publish(): Promise<void> {
    const { books: current, files, journal, writer, rows } = this.#options;
    const books = current.snapshot();
    // Records after the snapshot are in this segment or in later ones.
    const { segment } = journal.end;
    await writer.flushed();
    await writer.sync();
    const rowsTo = Math.min(rows.neededFrom - 1, books.sequence);
    await writeSnapshotFile(files, { books, segment, rowsTo });
    this.#published = { sequence: books.sequence, segment };
  }
}
