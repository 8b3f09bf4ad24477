import type { PartKind } from '../../ir/events.ts';

/** A part of an output item that is being read. */
export interface PartSlot {
  /** Position in the representation, and the one the upstream counts with. */
  readonly part: number;
  readonly index: number;
  readonly kind: PartKind;
  text: string;
  annotations: number;
  open: boolean;
}

/** The parts of one item. Summaries are counted apart from everything else. */
export class PartSlots {
  /** In the order of their start. */
  readonly all: PartSlot[] = [];
  readonly #summaries = new Map<number, PartSlot>();
  readonly #others = new Map<number, PartSlot>();
  #summaryCount = 0;

  /** The last part that stood at an index of the upstream's. */
  last(kind: PartKind, index: number): PartSlot | undefined {
    return this.#groupOf(kind).get(index);
  }

  begin(kind: PartKind, index: number): PartSlot {
    const part = kind === 'summary' ? this.#summaryCount++ : this.all.length - this.#summaryCount;
    const slot: PartSlot = { part, index, kind, text: '', annotations: 0, open: true };
    this.all.push(slot);
    this.#groupOf(kind).set(index, slot);
    return slot;
  }

  #groupOf(kind: PartKind): Map<number, PartSlot> {
    return kind === 'summary' ? this.#summaries : this.#others;
  }
}
