import { isAscii } from 'node:buffer';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Decodes a stream of bytes as TextDecoder does, without a byte order mark. Chunks of a stream nearly always end with a
 * whole character (a line end), and then no streaming decoder is needed: one costs three times as much a chunk, and
 * kilobytes of memory while it waits.
 */
export class Utf8Text {
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  #hasBegun = false;

  /** The text of a chunk up to its last whole character. */
  push(chunk: Uint8Array): string {
    const isWhole = endsWhole(chunk);
    if (isWhole && this.#decoder === undefined) return this.#whole(chunk);
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: this.#hasBegun });
    const text = this.#decoder.decode(chunk, { stream: true });
    if (isWhole) this.#forget();
    return text;
  }

  /** The replacement for a character that was cut off, if any. */
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

/** For whole texts only: it has no state between calls. */
const WHOLE = new TextDecoder('utf-8', { fatal: true });

/** Decodes whole text, without a byte order mark. Throws a TypeError if it is not valid UTF-8. */
export function validUtf8(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : WHOLE.decode(bytes);
}

/**
 * Decodes text as `validUtf8`, but in pieces. A streaming decoder takes seven times as long for ASCII, so it
 * gets only pieces with other characters.
 */
export class ValidUtf8 {
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  #hasBegun = false;
  /** Whether the last piece may have ended inside a character. */
  #isInsideCharacter = false;

  /** The text of a piece up to its last whole character. Throws a TypeError. */
  push(piece: Buffer): string {
    if (piece.length === 0) return '';
    if (!this.#isInsideCharacter && isAscii(piece)) {
      this.#hasBegun = true;
      return piece.toString('latin1');
    }
    this.#decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: this.#hasBegun });
    this.#isInsideCharacter = !endsWhole(piece);
    return this.#decoder.decode(piece, { stream: true });
  }

  /** Throws a TypeError if the last character is incomplete. */
  end(): string {
    return this.#decoder?.decode() ?? '';
  }
}

/** Bytes below this one are whole characters. */
const FIRST_MULTI_BYTE = 0x80;

/** Whether UTF-8 up to index `to` ends with a character of one byte, and so with a whole character. */
export function endsWhole(bytes: Uint8Array, to = bytes.length): boolean {
  const last = bytes[to - 1];
  return last !== undefined && last < FIRST_MULTI_BYTE;
}
