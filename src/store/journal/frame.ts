import { crc32 } from '../../kit/crypto/crc32.ts';

/**
 * A record in a segment: mark (1 byte), length of the record (3), the segment's `synced` end when the frame was
 * written (4), checksum of these and the record (4), the record. Numbers are big-endian.
 */
export interface JournalFrame {
  readonly record: Uint8Array;
  /** Everything before this offset was on the disk when the frame was written. */
  readonly synced: number;
  readonly end: number;
}

const FRAME_HEADER_BYTES = 12;

/** A greater length in a frame means damage. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024;

/** Neither ASCII nor zero, so that JSON and zero-filled blocks do not look like frames. */
const MARK = 0xd7;

const CHECKED_BYTES = 8;

export function bytesOfFrame(record: Uint8Array): number {
  return FRAME_HEADER_BYTES + record.length;
}

/** Writes a frame and returns where it ends. */
export function writeFrame(
  into: Buffer,
  at: number,
  { record, synced, seed }: { readonly record: Uint8Array; readonly synced: number; readonly seed: number },
): number {
  into.writeUInt32BE(MARK * 0x1000000 + record.length, at);
  into.writeUInt32BE(synced, at + 4);
  into.writeUInt32BE(checksum(into, at, record, seed), at + CHECKED_BYTES);
  into.set(record, at + FRAME_HEADER_BYTES);
  return at + FRAME_HEADER_BYTES + record.length;
}

/** The frame at an offset of a segment; undefined if there is no intact one. */
export function readJournalFrame(segment: Buffer, at: number, seed: number): JournalFrame | undefined {
  const begin = at + FRAME_HEADER_BYTES;
  if (begin > segment.length || segment[at] !== MARK) return undefined;
  const length = segment.readUIntBE(at + 1, 3);
  const end = begin + length;
  if (length === 0 || length > MAX_RECORD_BYTES || end > segment.length) return undefined;
  const record = segment.subarray(begin, end);
  if (segment.readUInt32BE(at + CHECKED_BYTES) !== checksum(segment, at, record, seed)) return undefined;
  return { record, synced: segment.readUInt32BE(at + 4), end };
}

/**
 * Whether the unreadable frame at `place` was on the disk once: a later frame's `synced` says so. If not, it was being
 * written when the machine stopped. Intact frames may follow it all the same, because disks reorder writes.
 */
export function wasSynced(segment: Buffer, place: number, seed: number): boolean {
  let at = segment.indexOf(MARK, place + 1);
  while (at !== -1 && at + FRAME_HEADER_BYTES <= segment.length) {
    const synced = segment.readUInt32BE(at + 4);
    // The cheap test first: few offsets that are no frames pass it.
    if (synced > place && synced <= at && readJournalFrame(segment, at, seed) !== undefined) return true;
    at = segment.indexOf(MARK, at + 1);
  }
  return false;
}

function checksum(bytes: Buffer, at: number, record: Uint8Array, seed: number): number {
  return crc32(record, crc32(bytes.subarray(at, at + CHECKED_BYTES), seed));
}
