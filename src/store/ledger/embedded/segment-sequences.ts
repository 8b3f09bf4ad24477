import type { JournalPosition } from '../../../ports/money/journal.ts';

/** Tracks which records are in which segment, to find the segments that can be removed. */
export class SegmentSequences {
  readonly #greatest = new Map<number, number>();

  note({ segment }: JournalPosition, sequence: number): void {
    const greatest = this.#greatest.get(segment);
    if (greatest === undefined || sequence > greatest) this.#greatest.set(segment, sequence);
  }

  /** The first segment with a record after a sequence; undefined when there is none. */
  firstBeyond(sequence: number): number | undefined {
    const beyond = [...this.#greatest].flatMap(([segment, greatest]) => (greatest > sequence ? segment : []));
    return beyond.length === 0 ? undefined : Math.min(...beyond);
  }

  /** Call when the segments before this one are removed. */
  forgetBefore(first: number): void {
    for (const segment of [...this.#greatest.keys()]) if (segment < first) this.#greatest.delete(segment);
  }
}
