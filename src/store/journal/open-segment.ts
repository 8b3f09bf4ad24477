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

/** How the file of a segment is called until its header is safely on the disk. */
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

  /** Makes the segment. Whenever that is cut short, there is a file with a whole header or none of that name. */
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

  /** Writes records in one go and returns where they end. After a failure only `abandon` may follow. */
  async write(records: readonly Uint8Array[]): Promise<JournalPosition[]> {
    const batch = Buffer.allocUnsafe(bytesOfFrames(records));
    let at = 0;
    const positions = records.map((record) => {
      at = writeFrame(batch, at, { record, synced: this.#synced, seed: this.#seed });
      return { segment: this.number, offset: this.#written + at };
    });
    await writeAll(this.#file, batch, this.#written);
    this.#written += batch.length;
    return positions;
  }

  /** After a failure only `abandon` may follow: a second try succeeds even if the system has dropped what was written. */
  async sync(): Promise<void> {
    if (this.#synced === this.#written) return;
    const written = this.#written;
    this.#canSync = false;
    await this.#file.sync();
    this.#canSync = true;
    this.#synced = written;
  }

  /**
   * Takes away what was half written and makes the rest last, as far as the disk lets us. The next segment's header tells
   * how far this one goes anyway. True when the disk has all that was written.
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

/** What records take in a segment. */
export function bytesOfFrames(records: readonly Uint8Array[]): number {
  return records.reduce((sum, record) => sum + bytesOfFrame(record), 0);
}
