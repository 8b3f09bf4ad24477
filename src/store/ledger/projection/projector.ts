import { setTimeout as delay } from 'node:timers/promises';
import type { StoredGeneration } from '../../../ports/generations.ts';
import type { Journal } from '../../../ports/journal.ts';
import { OutageLog } from '../../outage-log.ts';
import { decodeRecord, generationOfRecord, recordHeadOf, type SettleRecord } from '../records/records.ts';
import { addInHalves } from './add-in-halves.ts';

/** The part of a generation that a projection needs. */
export interface Projected {
  readonly id: string;
}

/** A view made from settled generations: rows to look up, events to count. */
export interface Projection<Item extends Projected = StoredGeneration> {
  readonly name: string;
  /** Extracts what it needs: many generations may wait in memory, and each is large. */
  of(generation: StoredGeneration): Item;
  /**
   * Adds generations, all or none; known ones are skipped. Rejects with GenerationRefused when one of them can never
   * be added; any other error is retried.
   */
  add(items: readonly Item[]): Promise<void>;
}

/** A projection that needs whole generations. */
export function wholeGenerations(name: string, add: Projection['add']): Projection {
  return { name, of: (generation) => generation, add };
}

export interface ProjectorOptions<Item extends Projected> {
  readonly projection: Projection<Item>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Maximum of generations in memory; the rest is read from the journal later. */
  readonly maxPending?: number | undefined;
  /** How long generations gather, milliseconds: a commit costs the same for one as for many. */
  readonly gatherMs?: number | undefined;
  /** Size of a batch. A full batch does not wait for `gatherMs`. */
  readonly maxBatch?: number | undefined;
  /**
   * Notes durably that generations settled since a moment must be read from their rows. With it the journal need not be
   * kept until the projection works again.
   */
  readonly deferToRows?: ((sinceMs: number) => Promise<void>) | undefined;
}

interface Pending<Item> {
  readonly id: string;
  readonly sequence: number;
  readonly atMs: number;
  /** Undefined until its record is durable. */
  item: Item | undefined;
}

const MAX_PENDING = 10_000;

const GATHER_MS = 250;

const MAX_BATCH = 500;

/** Pause between batches, so that other work gets its turn, milliseconds. */
const PAUSE_MS = 1;

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/** Polling interval of `caughtUp`, milliseconds. */
const LOOK_MS = 50;

/**
 * Hands settled generations to a projection in the background, in the order of settlement, once their records are
 * durable. After a restart generations may be handed over again.
 */
export class Projector<Item extends Projected = StoredGeneration> {
  readonly #options: ProjectorOptions<Item>;
  /** By id, in the order of settlement or, after a replay, of the journal. */
  readonly #pending = new Map<string, Pending<Item>>();
  readonly #maxPending: number;
  readonly #gatherMs: number;
  readonly #maxBatch: number;
  #journal: Pick<Journal, 'read'> | undefined;
  #written = 0;
  /** First record that did not fit into memory and must be read from the journal. */
  #missedFrom = Number.POSITIVE_INFINITY;
  /** Earliest settlement time of those. */
  #missedSinceMs = Number.POSITIVE_INFINITY;
  /** The last record that was expected. */
  #latest = 0;
  /** First record of the current read of the journal. */
  #readingFrom = Number.POSITIVE_INFINITY;
  /** Refused ids that were logged since the last success. */
  readonly #refused = new Set<string>();
  #retryMs = FIRST_RETRY_MS;
  readonly #outage: OutageLog;
  #gathering: NodeJS.Timeout | undefined;
  #run: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: ProjectorOptions<Item>) {
    this.#options = options;
    this.#maxPending = options.maxPending ?? MAX_PENDING;
    this.#gatherMs = options.gatherMs ?? GATHER_MS;
    this.#maxBatch = options.maxBatch ?? MAX_BATCH;
    this.#outage = new OutageLog(options.warn, {
      begins: `the projection ${this.name} cannot be written; what was settled waits in the journal`,
      ends: `the projection ${this.name} can be written again`,
    });
  }

  get name(): string {
    return this.#options.projection.name;
  }

  /** The first record that must stay in the journal. After a replay pending records may be out of order. */
  get neededFrom(): number {
    let first = Math.min(this.#missedFrom, this.#readingFrom);
    for (const { sequence } of this.#pending.values()) if (sequence < first) first = sequence;
    return first;
  }

  /** Generations in memory that are not handed over yet. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Begins to hand over, including what was given before. */
  start(journal: Pick<Journal, 'read'>): void {
    this.#journal = journal;
    if (this.#hasWork()) this.#wake();
  }

  /** A generation was settled; its record is not durable yet. */
  expect(record: SettleRecord): void {
    this.#latest = Math.max(this.#latest, record.sequence);
    const { generationId: id, sequence, atMs } = record;
    if (!this.#pending.has(id)) this.#pending.set(id, { id, sequence, atMs, item: undefined });
  }

  /** The record of an expected generation is durable. */
  confirm(record: SettleRecord): void {
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

  /** A durably settled generation that the projection does not have yet. */
  recent(id: string): Item | undefined {
    return this.#pending.get(id)?.item;
  }

  /** Hands over at once everything that is durable by now. */
  async catchUp(): Promise<void> {
    const target = this.#latest;
    while (this.neededFrom <= target && this.#hasWork() && !this.#closing.signal.aborted) await this.#start();
  }

  /** Hands over at once until nothing is left. */
  async drain(): Promise<void> {
    while ((this.#run !== undefined || this.#hasWork()) && !this.#closing.signal.aborted) await this.#start();
  }

  /** Resolves once everything expected by now is handed over, without hurrying it. */
  async caughtUp(): Promise<void> {
    const target = this.#latest;
    const { signal } = this.#closing;
    while (this.neededFrom <= target && !signal.aborted) {
      await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Gives up the need for the journal, if `deferToRows` is given: what was settled by now is read from rows later. */
  async releaseJournal(): Promise<void> {
    const { deferToRows } = this.#options;
    if (deferToRows === undefined) return;
    const [from, sinceMs] = [this.#missedFrom, this.#missedSinceMs];
    const written = [...this.#pending.values()].filter(({ item }) => item !== undefined);
    this.#missedFrom = Number.POSITIVE_INFINITY;
    this.#missedSinceMs = Number.POSITIVE_INFINITY;
    const earliestMs = written.reduce((earliest, { atMs }) => Math.min(earliest, atMs), sinceMs);
    try {
      if (earliestMs !== Number.POSITIVE_INFINITY) await deferToRows(earliestMs);
    } catch (error) {
      this.#miss(from, sinceMs);
      throw error;
    }
    for (const pending of written) this.#remove(pending);
  }

  /** Hands over everything in the journal again. Rejects when that fails. */
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

  /** Ends when less than a batch is left, which then gathers: going on at once would hand over few at a time. */
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

  /** The first pending generations whose records are durable. */
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

  /** Generations that do not fit into memory while this runs are noted for the next read. */
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
        // An awaited record may be in the journal before it is acknowledged: `confirm` will handle it.
        if (record.kind === 'settle' && !this.#isAwaited(record.generationId)) {
          const item = this.#itemOf(record);
          if (item !== undefined) items.push(item);
        }
      }
      await this.#addAll(items);
    }
  }

  /** Undefined, after a warning, for a generation that the projection cannot process. */
  #itemOf(record: SettleRecord): Item | undefined {
    try {
      return this.#options.projection.of(generationOfRecord(record));
    } catch (error) {
      this.#leaveOut(record.generationId, error);
      return undefined;
    }
  }

  /** Whether a generation is expected and its record not acknowledged yet. */
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
    this.#outage.worked();
    this.#refused.clear();
    this.#retryMs = FIRST_RETRY_MS;
  }

  async #fail(error: unknown): Promise<void> {
    this.#outage.failed(error);
    await delay(this.#retryMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
  }
}

/** A projector of any item type. */
export type AnyProjector = Omit<Projector, 'recent'>;
