/** A line by its number from 1: its text, or why it cannot be read. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly problem: string };

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Cuts bytes into lines of UTF-8. Pure and synchronous; pieces may be cut anywhere. Skips empty lines. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** Bytes of the incomplete line. */
  #pieces: Buffer[] = [];
  #length = 0;
  #number = 0;

  /** `maxBytes`: longer lines are reported, not kept. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(piece: Buffer): Generator<Line> {
    let begin = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, begin)) {
      const line = this.#complete(piece.subarray(begin, end));
      begin = end + 1;
      if (line !== undefined) yield line;
    }
    this.#keep(piece.subarray(begin));
  }

  /** The last line, if no newline ends it. */
  *end(): Generator<Line> {
    if (this.#length === 0) return;
    const line = this.#complete(Buffer.alloc(0));
    if (line !== undefined) yield line;
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#maxBytes + 1) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #complete(piece: Buffer): Line | undefined {
    let bytes = piece;
    if (this.#length > 0) {
      this.#keep(piece);
      bytes = Buffer.concat(this.#pieces);
    }
    const length = Math.max(this.#length, bytes.length);
    this.#pieces = [];
    this.#length = 0;
    this.#number += 1;
    return this.#lineOf(bytes, length);
  }

  #lineOf(bytes: Buffer, length: number): Line | undefined {
    const number = this.#number;
    const endsWithReturn = bytes[bytes.length - 1] === CARRIAGE_RETURN;
    if (length - (endsWithReturn ? 1 : 0) > this.#maxBytes) {
      return { number, problem: `is longer than ${this.#maxBytes} bytes` };
    }
    const begin = number === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    const content = bytes.subarray(begin, endsWithReturn ? -1 : undefined);
    if (content.length === 0) return undefined;
    try {
      const text = this.#decoder.decode(content);
      return text.trim() === '' ? undefined : { number, text };
    } catch {
      return { number, problem: 'is not valid UTF-8' };
    }
  }
}
