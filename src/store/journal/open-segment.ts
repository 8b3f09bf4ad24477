import type { JournalPosition } from '../../ports/journal.ts';
import { bytesOfFrame, writeFrame } from './frame.ts';
import { type JournalFile, type JournalFiles, writeAll } from './journal-files.ts';
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

/** The segment that takes records. */
export class OpenSegment {
  readonly number: number;
  readonly #seed: number;
  readonly #file: JournalFile;
  #synced = SEGMENT_HEADER_BYTES;
  #written = SEGMENT_HEADER_BYTES;
  #canSync = true;

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
    let at = 0;
    const positions = records.map((record) => {
      at = writeFrame(batch, at, { record, synced: this.#synced, seed: this.#seed });
      return { segment: this.number, offset: this.#written + at };
    });
    return writeAll(this.#file, batch, this.#written).then(() => {
      this.#written += batch.length;
      return positions;
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

/** Size of records in a segment. */
export function bytesOfFrames(records: readonly Uint8Array[]): number {
  return records.reduce((sum, record) => sum + bytesOfFrame(record), 0);
}
