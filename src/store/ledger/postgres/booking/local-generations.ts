import { type Amount, atLeast } from '../../../../ir/amount.ts';
import type { JournalEntry } from '../../../../ports/journal.ts';
import type { Limits } from '../../../../ports/ledger.ts';
import { EndedGenerations, NONE_ENDED } from '../../books/ended-generations.ts';
import type { OpenGeneration } from '../../books/open-generation.ts';
import { decodeRecord, type LedgerRecord } from '../../records/records.ts';
import type { JournalledEnd } from './book-ends.ts';
import { type BookedEnds, isBooked } from './booked-ends.ts';

/** An open generation of this gateway. */
export interface LocalGeneration extends OpenGeneration {
  /** No limit, budget or balance covered it when money was reserved: what it used is charged, however little is reserved. */
  readonly isUnlimited: boolean;
}

/** What is known of the limits of a settlement whose beginning was lost. The balance of its account holds all the same. */
const NO_LIMITS: Limits = { key: [], workspace: [] };

/**
 * The generations of this gateway: those that are open, those that ended and are not booked yet, and in which segment of
 * the journal each of them begins. Made anew from the journal at a start.
 */
export class LocalGenerations {
  readonly #open = new Map<string, LocalGeneration>();
  readonly #unbooked = new Map<string, JournalledEnd>();
  /** Where the records of those that are not done with begin. */
  readonly #segments = new Map<string, number>();
  readonly #ended = new EndedGenerations(NONE_ENDED);
  #sequence = 0;

  /** The number of the next record. */
  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  /** The number of the last record. */
  get lastSequence(): number {
    return this.#sequence;
  }

  /**
   * Forgets the ends that the database has booked, so that they are not sent again, and goes on counting behind all that it
   * knows of: a journal that was deleted or lost its end never gives a number again that counts as booked.
   */
  adopt(booked: BookedEnds): void {
    this.booked([...this.#unbooked.values()].filter(({ sequence }) => isBooked(booked, sequence)));
    if (booked.bookedTo > this.#sequence) this.#sequence = booked.bookedTo;
  }

  /** Takes a record that was read back. */
  replay({ record: bytes, position }: JournalEntry): void {
    const record = decodeRecord(bytes);
    if (record.sequence > this.#sequence) this.#sequence = record.sequence;
    if (!('generationId' in record) || this.#ended.has(record.generationId)) return;
    // Others say nothing by themselves: what they belong to was booked, and its beginning is gone.
    const isTelling = record.kind === 'accept' || record.kind === 'settle';
    if (isTelling && !this.isUnfinished(record.generationId)) {
      this.#segments.set(record.generationId, position.segment);
    }
    this.apply(record);
  }

  /** Is about to be reserved for; whatever is written of it stands in this segment or a later one. */
  begin(generationId: string, segment: number): void {
    if (this.knows(generationId)) {
      throw new RangeError(`generation ${generationId} has been accepted before`);
    }
    this.#segments.set(generationId, segment);
  }

  /** Came to nothing. */
  drop(generationId: string): void {
    this.#segments.delete(generationId);
  }

  /** Makes the change that a record says. */
  apply(record: LedgerRecord): void {
    switch (record.kind) {
      case 'accept': {
        const { generationId, scopes, limits, reserved, isUnlimited = false, row, atMs } = record;
        const opened = { generationId, scopes, limits, reserved, isUnlimited, row, checkpoint: null };
        this.#open.set(generationId, { ...opened, acceptedAtMs: atMs });
        return;
      }
      case 'top-up':
        this.raise(record.generationId, record.reserved);
        return;
      case 'checkpoint': {
        const { generationId, spent, atMs, row, sequence } = record;
        const generation = this.#open.get(generationId);
        if (generation === undefined || sequence <= (generation.checkpoint?.sequence ?? 0)) return;
        this.#open.set(generationId, { ...generation, checkpoint: { spent, atMs, row, sequence } });
        return;
      }
      case 'settle': {
        const { generationId, sequence, scopes } = record;
        const limits = this.#open.get(generationId)?.limits ?? NO_LIMITS;
        this.#end({ generationId, sequence, scopes, limits, settled: record });
        return;
      }
      case 'void': {
        const { generationId, sequence } = record;
        const generation = this.#open.get(generationId);
        if (generation === undefined) return;
        const { scopes, limits } = generation;
        this.#end({ generationId, sequence, scopes, limits, settled: undefined });
        return;
      }
      case 'grant':
      case 'forget':
        return;
    }
  }

  /** More is reserved now. */
  raise(generationId: string, reserved: Amount): void {
    const generation = this.#open.get(generationId);
    if (generation === undefined) return;
    this.#open.set(generationId, { ...generation, reserved: atLeast(generation.reserved, reserved) });
  }

  /** These are in the database. */
  booked(ends: readonly JournalledEnd[]): void {
    for (const { generationId } of ends) {
      this.#unbooked.delete(generationId);
      this.#segments.delete(generationId);
    }
  }

  get open(): ReadonlyMap<string, LocalGeneration> {
    return this.#open;
  }

  /** Oldest first. */
  get unbooked(): ReadonlyMap<string, JournalledEnd> {
    return this.#unbooked;
  }

  /** Whether a generation is being reserved for, open or not booked yet. */
  isUnfinished(generationId: string): boolean {
    return this.#segments.has(generationId);
  }

  /** Whether an id is taken. */
  knows(generationId: string): boolean {
    return this.isUnfinished(generationId) || this.#ended.has(generationId);
  }

  /** The first segment that is still needed; undefined when none is. */
  get firstSegment(): number | undefined {
    let first: number | undefined;
    for (const segment of this.#segments.values()) {
      if (first === undefined || segment < first) first = segment;
    }
    return first;
  }

  #end(end: JournalledEnd): void {
    this.#open.delete(end.generationId);
    this.#ended.add(end.generationId);
    this.#unbooked.set(end.generationId, end);
  }
}
