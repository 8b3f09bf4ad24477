import type { JournalPosition } from '../../ports/money/journal.ts';
import { bytesOfFrame, writeFrame } from './frame.ts';
import { type JournalFile, type JournalFiles, writeAll, writeAllBy } from './journal-files.ts';
import {
  nameOfSegment,
  renderSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentEnds,
  type SegmentHeader,
  seedOf,
} from './segment.ts';

/** File name of a new segment until its header is durable. */
const DRAFT = 'draft';

/** Records that are not on the disk are kept up to this size, so that one write can take them along. */
const MAX_TAIL_BYTES = 64 * 1024;

const NO_TAIL: readonly Buffer[] = [];

export class OpenSegment {
  readonly number: number;
  readonly #seed: number;
  readonly #file: JournalFile;
  #synced = SEGMENT_HEADER_BYTES;
  #written = SEGMENT_HEADER_BYTES;
  #canSync = true;
  /** What was written and is not known to be on the disk; undefined = too much to be kept. */
  #tail: readonly Buffer[] | undefined = NO_TAIL;

  private constructor(header: SegmentHeader, file: JournalFile) {
    this.number = header.number;
    this.#seed = seedOf(header);
    this.#file = file;
  }

  /** Creates the segment. After a crash its file has an intact header or does not exist. */
  static async create(files: JournalFiles, header: SegmentHeader): Promise<OpenSegment> {
    const file = await files.open(DRAFT, 'create');
    try {
      await writeAll(file, renderSegmentHeader(header), 0);
      await file.sync();
      await files.rename(DRAFT, nameOfSegment(header.number));
      await files.sync();
      return new OpenSegment(header, file);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
  }

  get ends(): SegmentEnds {
    return { synced: this.#synced, written: this.#written };
  }

  get isEmpty(): boolean {
    return this.#written === SEGMENT_HEADER_BYTES;
  }

  /** Writes records in one write and returns their end positions. After a failure only `abandon` may follow. */
  write(records: readonly Uint8Array[]): Promise<readonly JournalPosition[]> {
    const batch = Buffer.allocUnsafe(bytesOfFrames(records));
    const positions = this.#render(records, batch, 0);
    return writeAllBy('write', this.#file, batch, this.#written, () => {
      this.#written += batch.length;
      this.#tail = this.#isTailFull ? undefined : [...(this.#tail ?? NO_TAIL), batch];
      return positions;
    });
  }

  /** True if `writeDurably` would write too much again. */
  get #isTailFull(): boolean {
    return this.#tail === undefined || this.#written - this.#synced > MAX_TAIL_BYTES;
  }

  /**
   * `write` and then `sync` in one operation of the disk: what is not on the disk yet is written again with
   * the records. Undefined if that is too much.
   */
  writeDurably(records: readonly Uint8Array[]): Promise<readonly JournalPosition[]> | undefined {
    const tail = this.#tail;
    if (tail === undefined) return undefined;
    const again = this.#written - this.#synced;
    const batch = Buffer.allocUnsafe(again + bytesOfFrames(records));
    let at = 0;
    for (const bytes of tail) at += bytes.copy(batch, at);
    const positions = this.#render(records, batch, again);
    this.#canSync = false;
    return writeAllBy('writeDurably', this.#file, batch, this.#synced, () => {
      this.#canSync = true;
      this.#written = this.#synced + batch.length;
      this.#synced = this.#written;
      this.#tail = NO_TAIL;
      return positions;
    });
  }

  /** Writes frames into a buffer, whose beginning is at the end of the segment. Returns where they end. */
  #render(records: readonly Uint8Array[], batch: Buffer, from: number): readonly JournalPosition[] {
    let at = from;
    return records.map((record) => {
      at = writeFrame(batch, at, { record, synced: this.#synced, seed: this.#seed });
      return { segment: this.number, offset: this.#written + at - from };
    });
  }

  /** After a failure only `abandon` may follow: a second sync would succeed even if the system dropped the data. */
  sync(): Promise<void> {
    if (this.#synced === this.#written) return Promise.resolve();
    const written = this.#written;
    this.#canSync = false;
    return this.#file.sync().then(() => {
      this.#canSync = true;
      this.#synced = written;
      this.#tail = NO_TAIL;
    });
  }

  /**
   * Truncates a half-written record and syncs the rest, as far as the disk allows. The next segment's header records
   * where this one ends anyway. True when all that was written is on the disk.
   */
  async abandon(): Promise<boolean> {
    await this.#file.truncate(this.#written).catch(() => {});
    const isSynced = this.#canSync && (await this.sync().then(yes, no));
    await this.close();
    return isSynced;
  }

  async close(): Promise<void> {
    await this.#file.close().catch(() => {});
  }
}

const yes = () => true;
const no = () => false;

export function bytesOfFrames(records: readonly Uint8Array[]): number {
  return records.reduce((sum, record) => sum + bytesOfFrame(record), 0);
}
