import { isLineBreak } from '../characters.ts';
import type { SectionProblem } from '../fields.ts';
import { cannotBeInHead } from './request-head.ts';

export const END_OF_HEAD = '\r\n\r\n';

/** Line breaks before a request: some clients send one. Without a limit they would keep a connection open for ever. */
const MAX_LINE_BREAK_BYTES = 32;

/** A whole head: its lines with their line breaks, and the index of the first byte after it. */
export interface CollectedHead {
  readonly text: string;
  readonly end: number;
}

/** Collects the bytes of a request head, which may come in pieces, until its end. */
export class HeadCollector {
  /** A head whose end has not come. */
  #partial: Buffer | undefined;
  /** Bytes of line breaks since the last request. */
  #lineBreakBytes = 0;

  get hasBegun(): boolean {
    return this.#partial !== undefined;
  }

  /** Reads bytes from an index on. Undefined: the head has not come to its end. */
  collect(bytes: Buffer, from: number, maxBytes: number): CollectedHead | SectionProblem | undefined {
    const before = this.#partial;
    const start = before === undefined ? afterLineBreaks(bytes, from) : from;
    this.#lineBreakBytes += start - from;
    if (this.#lineBreakBytes > MAX_LINE_BREAK_BYTES) return 'malformed';
    if (start === bytes.length) return undefined;
    const known = before?.length ?? 0;
    const unread = start === 0 ? bytes : bytes.subarray(start);
    const head = before === undefined ? unread : Buffer.concat([before, unread]);
    const length = head.indexOf(END_OF_HEAD, Math.max(0, known - END_OF_HEAD.length + 1), 'latin1');
    if ((length === -1 ? head.length : length) > maxBytes) return 'too-large';
    if (length === -1) {
      // Checks the new bytes with the one before them: a line break may come in two pieces.
      if (cannotBeInHead(head.toString('latin1', Math.max(0, known - 1)))) return 'malformed';
      this.#partial = head;
      return undefined;
    }
    this.#partial = undefined;
    this.#lineBreakBytes = 0;
    return { text: head.toString('latin1', 0, length + 2), end: start + length + END_OF_HEAD.length - known };
  }

  clear(): void {
    this.#partial = undefined;
  }
}

/** The index after line breaks before a request, which are ignored (RFC 9112, 2.2). */
export function afterLineBreaks(bytes: Buffer, from: number): number {
  let at = from;
  while (isLineBreak(bytes[at])) at++;
  return at;
}
