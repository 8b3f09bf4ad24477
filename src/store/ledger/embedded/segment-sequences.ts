import type { JournalPosition } from '../../../ports/journal.ts';

/** Which records stand in which segment of the journal: all that must be known to let segments go. */
export class SegmentSequences {
  /** The greatest sequence of a segment. */
  readonly #greatest = new Map<number, number>();

  note({ segment }: JournalPosition, sequence: number): void {
    const greatest = this.#greatest.get(segment);
    if (greatest === undefined || sequence > greatest) this.#greatest.set(segment, sequence);
  }

  /** The first segment that has a record beyond a sequence; undefined when none has. */
  firstBeyond(sequence: number): number | undefined {
    const beyond = [...this.#greatest].flatMap(([segment, greatest]) => (greatest > sequence ? segment : []));
    return beyond.length === 0 ? undefined : Math.min(...beyond);
  }

  /** Segments before this one are gone. */
  forgetBefore(first: number): void {
    for (const segment of [...this.#greatest.keys()]) if (segment < first) this.#greatest.delete(segment);
  }
}
