import { isAscii } from 'node:buffer';
import { endsWhole } from './ends-whole.ts';

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
