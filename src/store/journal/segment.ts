import { crc32 } from '../../kit/crypto/crc32.ts';

/** Ends of a segment, in bytes from its beginning. */
export interface SegmentEnds {
  /** Everything before this is on the disk: an unreadable record there is damage. */
  readonly synced: number;
  /** End of its last record. A power loss may have removed records between `synced` and here. */
  readonly written: number;
}

/**
 * The beginning of a segment file: magic (8 bytes), version, number, both ends of the previous segment (4 each),
 * checksum of all that (4). Numbers are big-endian. A segment records the ends of its predecessor, because that one
 * may have been abandoned with half a record at its end, on a disk that allowed no more changes.
 */
export interface SegmentHeader {
  readonly number: number;
  readonly previous: SegmentEnds;
}

/** Where the first record of a segment begins. */
export const SEGMENT_HEADER_BYTES = 28;

const MAGIC = Buffer.from('sbxjrnl\n', 'latin1');
const VERSION = 1;
const CHECKED_BYTES = SEGMENT_HEADER_BYTES - 4;

export function renderSegmentHeader({ number, previous }: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32BE(VERSION, 8);
  bytes.writeUInt32BE(number, 12);
  bytes.writeUInt32BE(previous.synced, 16);
  bytes.writeUInt32BE(previous.written, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return bytes;
}

/** The header at the beginning of `bytes`, or what is wrong with it. */
export function parseSegmentHeader(bytes: Buffer): SegmentHeader | string {
  if (bytes.length < SEGMENT_HEADER_BYTES) return 'ends within its header';
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return 'is not a journal segment';
  if (!isHeaderIntact(bytes)) return 'has a damaged header';
  const version = bytes.readUInt32BE(8);
  if (version !== VERSION)
    return `is in version ${version} of the format; this release reads version ${VERSION}`;
  return {
    number: bytes.readUInt32BE(12),
    previous: { synced: bytes.readUInt32BE(16), written: bytes.readUInt32BE(20) },
  };
}

/** Whether a segment consists of an incomplete or damaged header only, and so has no records. */
export function isTornHeader(segment: Buffer): boolean {
  if (segment.length < SEGMENT_HEADER_BYTES) return true;
  return segment.length === SEGMENT_HEADER_BYTES && !isHeaderIntact(segment);
}

function isHeaderIntact(bytes: Buffer): boolean {
  return bytes.readUInt32BE(CHECKED_BYTES) === crc32(bytes.subarray(0, CHECKED_BYTES));
}

/** Seed of the checksums of a segment's records, so that records of another segment do not pass for its own. */
export function seedOf(header: SegmentHeader): number {
  return renderSegmentHeader(header).readUInt32BE(CHECKED_BYTES);
}

/** File name of a segment. Names sort like numbers. */
export function nameOfSegment(number: number): string {
  return `${String(number).padStart(10, '0')}.journal`;
}

/** The number in a file's name; undefined for other files. */
export function numberOfSegment(name: string): number | undefined {
  const digits = /^(\d{10})\.journal$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
