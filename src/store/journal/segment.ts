import { crc32 } from '../../kit/crypto/crc32.ts';

/** How far a segment goes, in bytes from its beginning. */
export interface SegmentEnds {
  /** The disk has everything before this: what cannot be read there is damage. */
  readonly synced: number;
  /** The end of its last record. Between `synced` and here a power loss may have taken records. */
  readonly written: number;
}

/**
 * The beginning of a segment file: magic (8 bytes), version, number, ends of the segment before (4 each), checksum of all
 * that (4). Numbers are big-endian. A segment tells how its predecessor ended, because that one may have been given up
 * with half a record at its end, on a disk that let nothing be changed any more.
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

/** The bytes with which a segment begins. */
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

/** Whether all that a segment has is a part of a header, or one that is damaged: there is no record in it. */
export function isTornHeader(segment: Buffer): boolean {
  if (segment.length < SEGMENT_HEADER_BYTES) return true;
  return segment.length === SEGMENT_HEADER_BYTES && !isHeaderIntact(segment);
}

function isHeaderIntact(bytes: Buffer): boolean {
  return bytes.readUInt32BE(CHECKED_BYTES) === crc32(bytes.subarray(0, CHECKED_BYTES));
}

/** What the checksums of a segment's records go on from, so that the records of no other segment pass for its own. */
export function seedOf(header: SegmentHeader): number {
  return renderSegmentHeader(header).readUInt32BE(CHECKED_BYTES);
}

/** The file of a segment. Names sort as numbers do. */
export function nameOfSegment(number: number): string {
  return `${String(number).padStart(10, '0')}.journal`;
}

/** The number in a file's name; undefined for other files. */
export function numberOfSegment(name: string): number | undefined {
  const digits = /^(\d{10})\.journal$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
