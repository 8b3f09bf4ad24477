export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Base64 characters of a JPEG that are decoded to find its size: few at first, more if camera data precede it. */
const FIRST_READ_CHARACTERS = 8_192;
const MAX_READ_CHARACTERS = 700_000;

/** Base64 characters that hold the size in all other formats. */
const HEAD_CHARACTERS = 64;

/** The size in the header of a PNG, JPEG, GIF or WebP; undefined if it cannot be read. */
export function pixelSizeOf(base64: string): PixelSize | undefined {
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64');
  const size = head.subarray(0, 2).equals(JPEG)
    ? (sizeOfJpeg(base64.slice(0, FIRST_READ_CHARACTERS)) ?? sizeOfJpeg(base64.slice(0, MAX_READ_CHARACTERS)))
    : head.length < MIN_HEAD_BYTES
      ? undefined
      : sizeIn(head);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

const JPEG = Buffer.from([0xff, 0xd8]);

/** Shorter headers are not parsed. */
const MIN_HEAD_BYTES = 30;

function sizeIn(head: Buffer): PixelSize | undefined {
  const text = head.toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n') && text.startsWith('IHDR', 12)) {
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  }
  if (text.startsWith('GIF8')) return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
  return text.startsWith('RIFF') && text.startsWith('WEBP', 8)
    ? sizeOfWebp(head, text.slice(12, 16))
    : undefined;
}

function sizeOfWebp(head: Buffer, form: string): PixelSize | undefined {
  if (form === 'VP8X') return { width: 1 + head.readUIntLE(24, 3), height: 1 + head.readUIntLE(27, 3) };
  if (form === 'VP8 ') {
    return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
  }
  if (form !== 'VP8L') return undefined;
  const bits = head.readUInt32LE(21);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

/** Markers without a length: padding, restarts, start of image. */
const BARE_MARKERS: ReadonlySet<number> = new Set([
  0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8,
]);

/** Markers in the range of frame headers that are not frame headers. */
const NO_FRAMES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

/** Walks the segments up to the first frame header. */
function sizeOfJpeg(base64: string): PixelSize | undefined {
  const bytes = Buffer.from(base64, 'base64');
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) at += 1;
    else if (BARE_MARKERS.has(marker)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    } else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}
