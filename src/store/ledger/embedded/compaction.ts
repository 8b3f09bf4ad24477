import type { Journal } from '../../../ports/journal.ts';
import type { LedgerMark } from '../../../ports/ledger-mark.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import type { Books } from '../books/books.ts';
import type { AnyProjector } from '../projection/projector.ts';
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
  readonly projectors: readonly AnyProjector[];
  readonly published: PublishedSnapshot;
  readonly mark: LedgerMark;
  /** What the mark says; undefined when that is not true any more. */
  readonly marked: number | undefined;
  /** A snapshot is taken when records of so many bytes have been written since the last one. */
  readonly everyBytes: number;
  /** With more bytes than that nothing is kept any longer that a projection can find elsewhere. */
  readonly maxBytes: number;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Whatever was written: a start must not have more than this to replay. */
const EVERY_MS = 300_000;

/**
 * Keeps the journal short: takes snapshots of the books and lets the segments go that neither the snapshot nor a projection
 * needs any more.
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

  /** Records of so many bytes have been written. The first ones are worth a snapshot: from then on a loss is noticed. */
  note(bytes: number): void {
    const isFirst = this.#bytes === 0 && this.#published.sequence === 0;
    this.#bytes += bytes;
    if (isFirst || this.#bytes >= this.#options.everyBytes) void this.compact();
  }

  /** Takes a snapshot and lets segments go. Never rejects: what fails is told once and tried again later. */
  compact(): Promise<void> {
    this.#run ??= this.#compact().finally(() => {
      this.#run = undefined;
    });
    return this.#run;
  }

  /** Lets segments go that are not needed any more. */
  async release(): Promise<void> {
    const { segments, projectors, journal } = this.#options;
    const { sequence, segment } = this.#published;
    const done = Math.min(sequence, ...projectors.map(({ neededFrom }) => neededFrom - 1));
    const first = Math.min(segment, segments.firstBeyond(done) ?? segment);
    await journal.release({ segment: first, offset: 0 });
    segments.forgetBefore(first);
  }

  /**
   * Tells the mark of the snapshot on the disk: of nothing later, because that may be lost without being damage. Never
   * rejects: what fails is told once and tried again with the next snapshot.
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
        this.#options.warn('the database could not be told how far the ledger has come', { error });
      }
      this.#isMarkFailing = true;
    }
  }

  /** Takes a last snapshot, if there is anything new and the disk works. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#run;
    const { journal, writer } = this.#options;
    if (this.#hasNews() && journal.isWritable && writer.isKeepingUp) await this.compact();
  }

  /** A segment behind the current one may be there only because a projection was late. */
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
      if (!this.#isFailing) this.#options.warn('no snapshot of the ledger could be taken', { error });
      this.#isFailing = true;
    }
  }

  async #letGo(): Promise<void> {
    const { journal, maxBytes, projectors } = this.#options;
    if (journal.size.bytes <= maxBytes) return;
    // What cannot be noted stays in the journal.
    await Promise.allSettled(projectors.map((projector) => projector.letGo()));
  }

  /** The journal has everything first: a snapshot must not know of a settlement that is in no record. */
  async #publish(): Promise<void> {
    const { books: current, files, journal, writer, projectors } = this.#options;
    const books = current.snapshot();
    // Records that come later stand in this segment or in later ones.
    const { segment } = journal.end;
    await writer.flushed();
    await writer.sync();
    await this.#letGo();
    const positions = projectors.map(({ name, neededFrom }) => ({
      name,
      sequence: Math.min(neededFrom - 1, books.sequence),
    }));
    await writeSnapshotFile(files, { books, segment, positions });
    this.#published = { sequence: books.sequence, segment };
  }
}
