import { isAscii } from 'node:buffer';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Turns bytes into text as TextDecoder does, without its mark at the beginning. Chunks of a stream nearly always end with
 * the character that ends a line, and then nothing need be remembered of them: a decoder that does costs three times as
 * much a chunk, and kilobytes of memory while it waits.
 */
export class Utf8Text {
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  #hasBegun = false;

  /** The text of a chunk, as far as its characters are whole. */
  push(chunk: Uint8Array): string {
    const isWhole = endsWhole(chunk);
    if (isWhole && this.#decoder === undefined) return this.#whole(chunk);
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: this.#hasBegun });
    const text = this.#decoder.decode(chunk, { stream: true });
    if (isWhole) this.#forget();
    return text;
  }

  /** What is left of a character that was cut off. */
  end(): string {
    return this.#decoder?.decode() ?? '';
  }

  #whole(chunk: Uint8Array): string {
    const isMarked = !this.#hasBegun && BYTE_ORDER_MARK.every((byte, index) => chunk[index] === byte);
    this.#forget();
    const bytes = isMarked ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk;
    if (bytes instanceof Buffer) return bytes.toString('utf8');
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  }

  #forget(): void {
    this.#hasBegun = true;
    this.#decoder = undefined;
  }
}

/** For whole texts only: one that comes in pieces leaves a decoder with a memory of them. */
const WHOLE = new TextDecoder('utf-8', { fatal: true });

/** The text of bytes, without a mark at the beginning. Throws a TypeError where they are not valid UTF-8. */
export function validUtf8(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : WHOLE.decode(bytes);
}

/**
 * The same for bytes that come in pieces. A decoder that remembers takes seven times as long for ASCII as one that does not,
 * so it gets only the pieces that have anything else in them.
 */
export class ValidUtf8 {
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  #hasBegun = false;
  /** The last piece may have ended inside a character. */
  #isAmidst = false;

  /** The text of a piece, as far as its characters are whole. Throws a TypeError. */
  push(piece: Buffer): string {
    if (piece.length === 0) return '';
    if (!this.#isAmidst && isAscii(piece)) {
      this.#hasBegun = true;
      return piece.toString('latin1');
    }
    this.#decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: this.#hasBegun });
    this.#isAmidst = !endsWhole(piece);
    return this.#decoder.decode(piece, { stream: true });
  }

  /** Throws a TypeError where the last character is not whole. */
  end(): string {
    return this.#decoder?.decode() ?? '';
  }
}

/** Bytes below this one are characters by themselves. */
const FIRST_OF_MANY = 0x80;

/** Whether bytes of UTF-8, up to a place in them, end with a character of one byte: so with a whole one, whatever follows. */
export function endsWhole(bytes: Uint8Array, to = bytes.length): boolean {
  const last = bytes[to - 1];
  return last !== undefined && last < FIRST_OF_MANY;
}
