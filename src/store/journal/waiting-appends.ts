import type { Append } from '../../ports/journal.ts';
import { bytesOfFrame } from './frame.ts';

/** One write is not greater, unless one record is: who waits for it should not wait for much else. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Appends in the order in which they came. */
export class WaitingAppends {
  #appends: Append[] = [];
  #bytes = 0;

  /** What they will take in a segment. */
  get bytes(): number {
    return this.#bytes;
  }

  get areThere(): boolean {
    return this.#appends.length > 0;
  }

  add(append: Append): void {
    this.#appends.push(append);
    this.#bytes += bytesOfFrame(append.record);
  }

  /** Takes as many as are written at once. */
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
