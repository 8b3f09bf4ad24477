import * as zlib from 'node:zlib';

const POLYNOMIAL = 0xedb88320;

/** CRC of each byte value. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0);
  return remainder;
});

function crc32ByTable(bytes: Uint8Array, before = 0): number {
  let sum = before ^ 0xffffffff;
  // By index: an iterator takes ten times as long.
  for (let place = 0; place < bytes.length; place++) {
    sum = (sum >>> 8) ^ (REMAINDERS[(sum ^ (bytes[place] ?? 0)) & 0xff] ?? 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/**
 * CRC-32 as ZIP and AWS compute it; `before` is the checksum of the preceding bytes. Uses Node's own, which is many
 * times faster, where it exists: Node 22.0 lacks it.
 */
export const crc32: (bytes: Uint8Array, before?: number) => number =
  (zlib as Partial<typeof zlib>).crc32 ?? crc32ByTable;
