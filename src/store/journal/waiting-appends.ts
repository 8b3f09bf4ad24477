import type { Append } from '../../ports/money/journal.ts';
import { bytesOfFrame } from './frame.ts';

/** Upper bound of one write, unless a single record is larger: bounds the latency of an append. */
const MAX_BATCH_BYTES = 1024 * 1024;

export class WaitingAppends {
  #appends: Append[] = [];
  #bytes = 0;

  /** Bytes that the appends take in a segment. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#appends.length === 0;
  }

  add(append: Append): void {
    this.#appends.push(append);
    this.#bytes += bytesOfFrame(append.record);
  }

  /** Removes and returns the appends of the next write. */
  takeBatch(): Append[] {
    if (this.#bytes <= MAX_BATCH_BYTES) return this.#takeAll();
    let count = 0;
    let bytes = 0;
    for (const { record } of this.#appends) {
      const grown = bytes + bytesOfFrame(record);
      if (count > 0 && grown > MAX_BATCH_BYTES) break;
      count++;
      bytes = grown;
    }
    this.#bytes -= bytes;
    return this.#appends.splice(0, count);
  }

  #takeAll(): Append[] {
    const all = this.#appends;
    this.#appends = [];
    this.#bytes = 0;
    return all;
  }
}
