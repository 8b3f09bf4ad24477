import { setTimeout as delay } from 'node:timers/promises';
import type { StoredGeneration } from '../../../ports/generations.ts';
import type { Journal } from '../../../ports/journal.ts';
import { decodeRecord, generationOfRecord, recordHeadOf, type SettleRecord } from '../records/records.ts';
import { addInHalves } from './add-in-halves.ts';

/** What a projection keeps of a generation. */
export interface Projected {
  readonly id: string;
}

/** Something that is made of settled generations: rows to look them up, events to count. */
export interface Projection<Item extends Projected = StoredGeneration> {
  readonly name: string;
  /** All that it needs of a generation: many may wait, and a generation is large. */
  of(generation: StoredGeneration): Item;
  /**
   * Takes generations in, all or none. One that it has already changes nothing. Rejects with GenerationRefused where one of
   * them can never be taken in; anything else may pass.
   */
  add(items: readonly Item[]): Promise<void>;
}

/** A projection that needs the whole of a generation. */
export function wholeGenerations(name: string, add: Projection['add']): Projection {
  return { name, of: (generation) => generation, add };
}

export interface ProjectorOptions<Item extends Projected> {
  readonly projection: Projection<Item>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Generations that are kept in memory; what goes beyond is read from the journal again. */
  readonly maxPending?: number | undefined;
  /** How long settled generations gather, milliseconds: a commit costs as much for one of them as for many. */
  readonly gatherMs?: number | undefined;
  /** Generations that are handed over at once. So many do not gather any longer. */
  readonly maxBatch?: number | undefined;
  /**
   * Takes note, for good, that generations settled since a moment are to be found elsewhere. With it the journal need not be
   * kept for ever.
   */
  readonly owe?: ((sinceMs: number) => Promise<void>) | undefined;
}

interface Pending<Item> {
  readonly id: string;
  readonly sequence: number;
  readonly atMs: number;
  /** Undefined until its record is safe. */
  item: Item | undefined;
}

const MAX_PENDING = 10_000;

const GATHER_MS = 250;

const MAX_BATCH = 500;

/** Between batches everybody else has a turn, milliseconds. */
const PAUSE_MS = 1;

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/** How often it is looked at whether everything is handed over, milliseconds. */
const LOOK_MS = 50;

/**
 * Hands settled generations to a projection, in the background and in the order in which they were settled, once their
 * records are safe. Whatever may have been handed over already is handed over again after a restart.
 */
export class Projector<Item extends Projected = StoredGeneration> {
  readonly #options: ProjectorOptions<Item>;
  /** By id, in the order in which they were settled or, after a replay, stood in the journal. */
  readonly #pending = new Map<string, Pending<Item>>();
  readonly #maxPending: number;
  readonly #gatherMs: number;
  readonly #maxBatch: number;
  #journal: Pick<Journal, 'read'> | undefined;
  #written = 0;
  /** From this record on generations were left out of memory: the journal has them. */
  #missedFrom = Number.POSITIVE_INFINITY;
  /** When the earliest of those was settled. */
  #missedSinceMs = Number.POSITIVE_INFINITY;
  /** The last record that was expected. */
  #latest = 0;
  /** The records from here on are being read from the journal. */
  #readingFrom = Number.POSITIVE_INFINITY;
  /** Ids of those that were refused and told since the last success. */
  readonly #refused = new Set<string>();
  #retryMs = FIRST_RETRY_MS;
  #isFailing = false;
  #gathering: NodeJS.Timeout | undefined;
  #run: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: ProjectorOptions<Item>) {
    this.#options = options;
    this.#maxPending = options.maxPending ?? MAX_PENDING;
    this.#gatherMs = options.gatherMs ?? GATHER_MS;
    this.#maxBatch = options.maxBatch ?? MAX_BATCH;
  }

  get name(): string {
    return this.#options.projection.name;
  }

  /** The first record that it still needs the journal for. After a replay records may be pending in another order. */
  get neededFrom(): number {
    let first = Math.min(this.#missedFrom, this.#readingFrom);
    for (const { sequence } of this.#pending.values()) if (sequence < first) first = sequence;
    return first;
  }

  /** Generations that it has not handed over yet, of those that are in memory. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Begins to hand over. What was given before has waited. */
  start(journal: Pick<Journal, 'read'>): void {
    this.#journal = journal;
    if (this.#hasWork()) this.#wake();
  }

  /** A generation was settled; its record is not safe yet. */
  expect(record: SettleRecord): void {
    this.#latest = Math.max(this.#latest, record.sequence);
    const { generationId: id, sequence, atMs } = record;
    if (!this.#pending.has(id)) this.#pending.set(id, { id, sequence, atMs, item: undefined });
  }

  /** The record of an expected generation is safe. */
  take(record: SettleRecord): void {
    const pending = this.#pending.get(record.generationId);
    if (pending === undefined || pending.item !== undefined) return;
    const item = this.#itemOf(record);
    if (item === undefined) {
      this.#pending.delete(record.generationId);
      return;
    }
    pending.item = item;
    this.#written += 1;
    if (this.#written > this.#maxPending) {
      this.#remove(pending);
      this.#miss(record.sequence, record.atMs);
    }
    this.#wake();
  }

  /** A generation that is settled and safe, and that the projection does not have yet. */
  recent(id: string): Item | undefined {
    return this.#pending.get(id)?.item;
  }

  /** Resolves once all that was settled and safe by now is handed over, without waiting for more to gather. */
  async caughtUp(): Promise<void> {
    const target = this.#latest;
    while (this.neededFrom <= target && this.#hasWork() && !this.#closing.signal.aborted) await this.#start();
  }

  /** Resolves once all that was settled by now is handed over. */
  async drained(): Promise<void> {
    while ((this.#run !== undefined || this.#hasWork()) && !this.#closing.signal.aborted) await this.#start();
  }

  /** Resolves once all that was expected by now is handed over, however long that takes. */
  async reached(): Promise<void> {
    const target = this.#latest;
    const { signal } = this.#closing;
    while (this.neededFrom <= target && !signal.aborted) {
      await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Needs the journal no more for what was settled by now, where that can be found elsewhere. */
  async letGo(): Promise<void> {
    const { owe } = this.#options;
    if (owe === undefined) return;
    const [from, sinceMs] = [this.#missedFrom, this.#missedSinceMs];
    const written = [...this.#pending.values()].filter(({ item }) => item !== undefined);
    this.#missedFrom = Number.POSITIVE_INFINITY;
    this.#missedSinceMs = Number.POSITIVE_INFINITY;
    const earliestMs = written.reduce((earliest, { atMs }) => Math.min(earliest, atMs), sinceMs);
    try {
      if (earliestMs !== Number.POSITIVE_INFINITY) await owe(earliestMs);
    } catch (error) {
      this.#miss(from, sinceMs);
      throw error;
    }
    for (const pending of written) this.#remove(pending);
  }

  /** Hands over again all that the journal has. Rejects when that fails. */
  async rebuild(): Promise<void> {
    await this.#readFrom(0);
  }

  async close(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#closing.abort();
    await this.#run;
  }

  #wake(): void {
    if (this.#journal === undefined || this.#run !== undefined || this.#closing.signal.aborted) return;
    if (this.#written >= this.#maxBatch) void this.#start();
    else this.#gathering ??= setTimeout(() => void this.#start(), this.#gatherMs).unref();
  }

  #start(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#run ??= this.#work().finally(() => {
      this.#run = undefined;
      if (this.#hasWork()) this.#wake();
    });
    return this.#run;
  }

  #hasWork(): boolean {
    const [first] = this.#pending.values();
    return first?.item !== undefined || this.#missedFrom !== Number.POSITIVE_INFINITY;
  }

  /** Ends when what is left is to gather: whoever went on at once would hand over few at a time, for as long as any come. */
  async #work(): Promise<void> {
    while (this.#hasWork() && !this.#closing.signal.aborted) {
      try {
        const batch = this.#nextBatch();
        if (batch.length > 0) {
          await this.#add(batch);
          for (const item of batch) this.#remove(item);
        } else await this.#readMissed();
        this.#succeed();
        if (this.#written < this.#maxBatch && this.#missedFrom === Number.POSITIVE_INFINITY) return;
      } catch (error) {
        if (!this.#closing.signal.aborted) await this.#fail(error);
      }
    }
  }

  /** Those at the beginning whose records are safe. */
  #nextBatch(): Item[] {
    const batch: Item[] = [];
    for (const { item } of this.#pending.values()) {
      if (item === undefined || batch.length === this.#maxBatch) break;
      batch.push(item);
    }
    return batch;
  }

  #remove({ id }: Projected): void {
    if (this.#pending.delete(id)) this.#written -= 1;
  }

  #miss(sequence: number, atMs: number): void {
    this.#missedFrom = Math.min(this.#missedFrom, sequence);
    this.#missedSinceMs = Math.min(this.#missedSinceMs, atMs);
  }

  /** What is left out while this runs is missed anew. */
  async #readMissed(): Promise<void> {
    const [from, sinceMs] = [this.#missedFrom, this.#missedSinceMs];
    this.#readingFrom = from;
    this.#missedFrom = Number.POSITIVE_INFINITY;
    this.#missedSinceMs = Number.POSITIVE_INFINITY;
    try {
      await this.#readFrom(from);
    } catch (error) {
      this.#miss(from, sinceMs);
      throw error;
    } finally {
      this.#readingFrom = Number.POSITIVE_INFINITY;
    }
  }

  async #readFrom(from: number): Promise<void> {
    for await (const entries of this.#journal?.read() ?? []) {
      const items: Item[] = [];
      for (const { record: bytes } of entries) {
        const { kind, sequence } = recordHeadOf(bytes);
        if (kind !== 'settle' || sequence < from) continue;
        const record = decodeRecord(bytes);
        // A record may be there although the disk did not say so, and then its time will come.
        if (record.kind === 'settle' && !this.#isAwaited(record.generationId)) {
          const item = this.#itemOf(record);
          if (item !== undefined) items.push(item);
        }
      }
      await this.#addAll(items);
    }
  }

  /** Undefined, and told, for a generation that the projection can make nothing of. */
  #itemOf(record: SettleRecord): Item | undefined {
    try {
      return this.#options.projection.of(generationOfRecord(record));
    } catch (error) {
      this.#leaveOut(record.generationId, error);
      return undefined;
    }
  }

  /** Whether a generation is expected whose record is not known to be safe. */
  #isAwaited(id: string): boolean {
    const pending = this.#pending.get(id);
    return pending !== undefined && pending.item === undefined;
  }

  async #addAll(items: readonly Item[]): Promise<void> {
    for (let begin = 0; begin < items.length; begin += this.#maxBatch) {
      await this.#add(items.slice(begin, begin + this.#maxBatch));
    }
  }

  async #add(batch: readonly Item[]): Promise<void> {
    await addInHalves(
      batch,
      async (items) => {
        this.#closing.signal.throwIfAborted();
        await this.#options.projection.add(items);
        await delay(PAUSE_MS);
      },
      ({ id }, refusal) => this.#leaveOut(id, refusal),
    );
  }

  #leaveOut(id: string, error: unknown): void {
    if (this.#refused.has(id)) return;
    this.#refused.add(id);
    this.#options.warn(
      `the generation ${id} can never be in the projection ${this.name} and is left out; its charge is in the ledger`,
      { generation_id: id, error },
    );
  }

  #succeed(): void {
    if (this.#isFailing) this.#options.warn(`the projection ${this.name} can be written again`);
    this.#isFailing = false;
    this.#refused.clear();
    this.#retryMs = FIRST_RETRY_MS;
  }

  async #fail(error: unknown): Promise<void> {
    if (!this.#isFailing) {
      this.#isFailing = true;
      this.#options.warn(
        `the projection ${this.name} cannot be written; what was settled waits in the journal`,
        { error },
      );
    }
    await delay(this.#retryMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
  }
}

/** A projector, whatever its projection keeps of generations. */
export type AnyProjector = Omit<Projector, 'recent'>;
