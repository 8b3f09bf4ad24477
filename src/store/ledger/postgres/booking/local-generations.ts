import { type Amount, atLeast, NOTHING } from '../../../../ir/amount.ts';
import type { JournalEntry } from '../../../../ports/money/journal.ts';
import type { Limits } from '../../../../ports/money/ledger.ts';
import { EndedGenerations, NONE_ENDED } from '../../books/ended-generations.ts';
import type { OpenGeneration } from '../../books/open-generation.ts';
import { decodeRecord, type LedgerRecord } from '../../records/records.ts';
import type { JournalledEnd } from './book-ends.ts';
import { type BookedEnds, isBooked } from './booked-ends.ts';

export interface LocalGeneration extends OpenGeneration {
  /** No limit, budget or balance applied when it was accepted: its use is charged in full, whatever is reserved. */
  readonly isUnlimited: boolean;
  /** Id of the slice that pays for it; undefined = a reservation of its own, or none. */
  readonly slice: string | undefined;
}

/** Limits of a settlement whose accept record was lost. The balance of its account still applies. */
const NO_LIMITS: Limits = { key: [], workspace: [] };

/**
 * The unfinished generations of this gateway: open ones, ended ones that are not booked yet, and the journal segment
 * in which each begins. Rebuilt from the journal at a start.
 */
export class LocalGenerations {
  readonly #open = new Map<string, LocalGeneration>();
  readonly #unbooked = new Map<string, JournalledEnd>();
  /** Segment in which the records of each unfinished generation begin. */
  readonly #segments = new Map<string, number>();
  readonly #ended = new EndedGenerations(NONE_ENDED);
  #sequence = 0;

  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  get lastSequence(): number {
    return this.#sequence;
  }

  /**
   * Forgets ends that the database has booked, and continues sequences after all that it knows: a journal that was
   * deleted or lost its end must not reuse a sequence that counts as booked.
   */
  continueAfter(booked: BookedEnds): void {
    this.booked([...this.#unbooked.values()].filter(({ sequence }) => isBooked(booked, sequence)));
    if (booked.bookedTo > this.#sequence) this.#sequence = booked.bookedTo;
  }

  /** Applies a record of the journal at a start. */
  replay({ record: bytes, position }: JournalEntry): void {
    const record = decodeRecord(bytes);
    if (record.sequence > this.#sequence) this.#sequence = record.sequence;
    if (!('generationId' in record) || this.#ended.has(record.generationId)) return;
    // Without one of these the generation is booked already, and its earlier records were removed.
    const isSelfContained = record.kind === 'accept' || record.kind === 'settle';
    if (isSelfContained && !this.isUnfinished(record.generationId)) {
      this.#segments.set(record.generationId, position.segment);
    }
    this.apply(record);
  }

  /** Registers a generation before its reservation; its records will be in this segment or a later one. */
  begin(generationId: string, segment: number): void {
    if (this.knows(generationId)) {
      throw new RangeError(`generation ${generationId} has been accepted before`);
    }
    this.#segments.set(generationId, segment);
  }

  /** Unregisters a generation whose reservation failed. */
  drop(generationId: string): void {
    this.#segments.delete(generationId);
  }

  apply(record: LedgerRecord): void {
    switch (record.kind) {
      case 'accept': {
        const { generationId, scopes, limits, reserved, isUnlimited = false, slice, row, atMs } = record;
        const opened = { generationId, scopes, limits, reserved, isUnlimited, slice, row, checkpoint: null };
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
        const { limits = NO_LIMITS, reserved = NOTHING, slice } = this.#open.get(generationId) ?? {};
        this.#end({ generationId, sequence, scopes, limits, reserved, slice, settled: record });
        return;
      }
      case 'void': {
        const { generationId, sequence } = record;
        const generation = this.#open.get(generationId);
        if (generation === undefined) return;
        const { scopes, limits, reserved, slice } = generation;
        this.#end({ generationId, sequence, scopes, limits, reserved, slice, settled: undefined });
        return;
      }
      case 'grant':
      case 'forget':
        return;
    }
  }

  raise(generationId: string, reserved: Amount): void {
    const generation = this.#open.get(generationId);
    if (generation === undefined) return;
    this.#open.set(generationId, { ...generation, reserved: atLeast(generation.reserved, reserved) });
  }

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

  /** Whether a generation is being accepted, open, or not booked yet. */
  isUnfinished(generationId: string): boolean {
    return this.#segments.has(generationId);
  }

  /** Ids of the slices that unfinished generations are paid from. */
  slices(): Set<string> {
    const used = new Set<string>();
    for (const generations of [this.#open, this.#unbooked]) {
      for (const { slice } of generations.values()) if (slice !== undefined) used.add(slice);
    }
    return used;
  }

  knows(generationId: string): boolean {
    return this.isUnfinished(generationId) || this.#ended.has(generationId);
  }

  /** The first segment that must stay; undefined when none must. */
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
