import { crc32 } from '../crypto/crc32.ts';
import { BrokenFrames, type Frame, type FrameReader, FrameTooLarge } from './frames.ts';

export const AWS_EVENT_TYPE = 'application/vnd.amazon.eventstream';

/**
 * A message: total length and length of its headers (4 bytes each, big-endian), checksum of these two, headers,
 * payload, checksum of all that.
 */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MIN_MESSAGE_BYTES = PRELUDE_BYTES + CHECKSUM_BYTES;

/** Limits of one message's headers: the bytes that AWS allows, and many times the number that it sends. */
const MAX_HEADERS = { bytes: 128 * 1024, count: 100 };

const NOTHING = new Uint8Array(0);

/**
 * Cuts the binary event stream of AWS into frames: `event` is the name of the event or of the exception, `data` the
 * payload, which may be empty. An error without a payload gets one that holds its message. Checks every checksum.
 */
export class AwsEventReader implements FrameReader {
  readonly #maxFrameBytes: number;
  /** Bytes that are not read yet, in pieces: joined once a message is whole, so that small pieces cost linear time. */
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Length of the incomplete message; undefined until its prelude has arrived. */
  #total: number | undefined;
  /** Checksum of that message so far: computed as chunks arrive, so that a large message takes no long turn. */
  #sum = 0;

  constructor(maxFrameBytes = 8 * 1024 * 1024) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Uint8Array): Frame[] {
    if (chunk.length > 0) this.#pieces.push(chunk);
    this.#sumUp(chunk, this.#length);
    this.#length += chunk.length;
    const frames: Frame[] = [];
    while (this.#length >= (this.#total ?? PRELUDE_BYTES)) {
      const bytes = this.#joined();
      if (this.#total === undefined) {
        this.#total = this.#totalOf(bytes);
        this.#sumUp(bytes, 0);
        continue;
      }
      frames.push(readMessage(bytes.subarray(0, this.#total), this.#sum));
      this.#keep(bytes.subarray(this.#total));
      this.#total = undefined;
      this.#sum = 0;
    }
    return frames;
  }

  /** Drops an incomplete message: the decoder notices that the end is missing. */
  end(): Frame[] {
    this.#keep(NOTHING);
    return [];
  }

  /** Adds bytes to the checksum; `place` is their offset in the message. */
  #sumUp(bytes: Uint8Array, place: number): void {
    const end = (this.#total ?? 0) - CHECKSUM_BYTES - place;
    if (end > 0) this.#sum = crc32(bytes.subarray(0, end), this.#sum);
  }

  #joined(): Uint8Array {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const bytes = new Uint8Array(this.#length);
    let offset = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, offset);
      offset += piece.length;
    }
    this.#pieces = [bytes];
    return bytes;
  }

  #keep(rest: Uint8Array): void {
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  /** The message length in a prelude, after its checksum was verified. */
  #totalOf(bytes: Uint8Array): number {
    const view = viewOf(bytes);
    if (view.getUint32(8) !== crc32(bytes.subarray(0, 8))) {
      throw new BrokenFrames("the checksum of an event's lengths is wrong");
    }
    const total = view.getUint32(0);
    const headers = view.getUint32(4);
    if (total < MIN_MESSAGE_BYTES + headers) throw new BrokenFrames('the lengths of an event contradict');
    if (headers > MAX_HEADERS.bytes) {
      throw new BrokenFrames(`the headers of an event are larger than ${MAX_HEADERS.bytes} bytes`);
    }
    if (total > this.#maxFrameBytes) throw new FrameTooLarge(this.#maxFrameBytes);
    return total;
  }
}

/** A whole message as a frame. `sum`: the checksum of all but its own. */
function readMessage(bytes: Uint8Array, sum: number): Frame {
  const view = viewOf(bytes);
  const payloadEnd = bytes.length - CHECKSUM_BYTES;
  if (view.getUint32(payloadEnd) !== sum) {
    throw new BrokenFrames('the checksum of an event is wrong');
  }
  const headersEnd = PRELUDE_BYTES + view.getUint32(4);
  const headers = readHeaders(bytes.subarray(PRELUDE_BYTES, headersEnd));
  const payload = textOf(bytes.subarray(headersEnd, payloadEnd));
  switch (headers.get(':message-type')) {
    case 'error': {
      const message = headers.get(':error-message') ?? '';
      return frameOf(headers.get(':error-code'), payload === '' ? JSON.stringify({ message }) : payload);
    }
    case 'exception':
      return frameOf(headers.get(':exception-type'), payload === '' ? '{}' : payload);
    default:
      return frameOf(headers.get(':event-type'), payload);
  }
}

function frameOf(event: string | undefined, data: string): Frame {
  return event === undefined ? { data } : { event, data };
}

/** Types of header values that have a length of their own in front, and the one of them that is text. */
const SIZED_TYPES: ReadonlySet<number> = new Set([6, 7]);
const TEXT_TYPE = 7;

/** Bytes of the other types, by their number: true, false, byte, short, integer, long, timestamp, UUID. */
const FIXED_SIZES: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
]);

/** The headers that are text; all others are skipped over. */
function readHeaders(bytes: Uint8Array): Map<string, string> {
  const headers = new Map<string, string>();
  const cursor = new Cursor(bytes);
  for (let count = 1; !cursor.isAtEnd; count++) {
    if (count > MAX_HEADERS.count) {
      throw new BrokenFrames(`an event has more than ${MAX_HEADERS.count} headers`);
    }
    const name = textOf(cursor.take(cursor.byte()));
    const type = cursor.byte();
    const size = SIZED_TYPES.has(type) ? cursor.byte() * 256 + cursor.byte() : FIXED_SIZES.get(type);
    if (size === undefined) throw new BrokenFrames('an event has a header of an unknown type');
    const value = cursor.take(size);
    if (type === TEXT_TYPE) headers.set(name, textOf(value));
  }
  return headers;
}

/** Reads bytes in order and throws at the end. */
class Cursor {
  #offset = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.#offset >= this.bytes.length;
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  take(size: number): Uint8Array {
    const end = this.#offset + size;
    if (end > this.bytes.length) throw new BrokenFrames('a header of an event is cut off');
    const taken = this.bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Not for streams: keeps no state between texts. */
const UTF_8 = new TextDecoder();

function textOf(bytes: Uint8Array): string {
  return UTF_8.decode(bytes);
}
