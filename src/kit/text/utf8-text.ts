import { endsWhole } from './ends-whole.ts';

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
