import type { Durability, JournalPosition } from '../../ports/journal.ts';
import { bytesOfFrame } from './frame.ts';

/** An append that waits for the disk. */
export interface WaitingAppend {
  readonly record: Uint8Array;
  readonly durability: Durability;
  resolve(position: JournalPosition): void;
  reject(error: Error): void;
}

/** One write is not greater, unless one record is: who waits for it should not wait for much else. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Appends in the order in which they came. */
export class WaitingAppends {
  #appends: WaitingAppend[] = [];
  #bytes = 0;

  /** What they will take in a segment. */
  get bytes(): number {
    return this.#bytes;
  }

  get areThere(): boolean {
    return this.#appends.length > 0;
  }

  add(append: WaitingAppend): void {
    this.#appends.push(append);
    this.#bytes += bytesOfFrame(append.record);
  }

  /** Takes as many as are written at once. */
  takeBatch(): WaitingAppend[] {
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

  #takeAll(): WaitingAppend[] {
    const all = this.#appends;
    this.#appends = [];
    this.#bytes = 0;
    return all;
  }
}
