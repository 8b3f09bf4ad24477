import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationStore, StoredGeneration } from '../../../ports/generations/generations.ts';
import type { Journal } from '../../../ports/money/journal.ts';
import { OutageLog } from '../../outage-log.ts';
import { decodeRecord, generationOfRecord, recordHeadOf, type SettleRecord } from '../records/records.ts';
import { addInHalves } from './add-in-halves.ts';

export interface ProjectorOptions {
  /** Where the rows are kept. */
  readonly rows: Pick<GenerationStore, 'add'>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Maximum of generations in memory; the rest is read from the journal later. */
  readonly maxPending?: number | undefined;
  /** How long generations gather, milliseconds: a commit costs the same for one as for many. */
  readonly gatherMs?: number | undefined;
  /** Size of a batch. A full batch does not wait for `gatherMs`. */
  readonly maxBatch?: number | undefined;
}

interface Pending {
  readonly id: string;
  readonly sequence: number;
  /** Undefined until its record is durable. */
  generation: StoredGeneration | undefined;
}

const MAX_PENDING = 10_000;

const GATHER_MS = 250;

const MAX_BATCH = 500;

/** Pause between batches, so that other work gets its turn, milliseconds. */
const PAUSE_MS = 1;

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * Makes the rows of settled generations in the background, in the order of settlement, once their records are durable.
 * After a restart generations may be added again.
 */
export class Projector {
  readonly #options: ProjectorOptions;
  /** By id, in the order of settlement or, after a replay, of the journal. */
  readonly #pending = new Map<string, Pending>();
  readonly #maxPending: number;
  readonly #gatherMs: number;
  readonly #maxBatch: number;
  #journal: Pick<Journal, 'read'> | undefined;
  #written = 0;
  /** First record that did not fit into memory and must be read from the journal. */
  #missedFrom = Number.POSITIVE_INFINITY;
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

  constructor(options: ProjectorOptions) {
    this.#options = options;
    this.#maxPending = options.maxPending ?? MAX_PENDING;
    this.#gatherMs = options.gatherMs ?? GATHER_MS;
    this.#maxBatch = options.maxBatch ?? MAX_BATCH;
    this.#outage = new OutageLog(options.warn, {
      begins: 'rows of generations cannot be written; what was settled waits in the journal',
      ends: 'rows of generations can be written again',
    });
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
    const { generationId: id, sequence } = record;
    if (!this.#pending.has(id)) this.#pending.set(id, { id, sequence, generation: undefined });
  }

  /** The record of an expected generation is durable. */
  confirm(record: SettleRecord): void {
    const pending = this.#pending.get(record.generationId);
    if (pending === undefined || pending.generation !== undefined) return;
    pending.generation = generationOfRecord(record);
    this.#written += 1;
    if (this.#written > this.#maxPending) {
      this.#remove(pending);
      this.#miss(record.sequence);
    }
    this.#wake();
  }

  /** A durably settled generation that has no row yet. */
  recent(id: string): StoredGeneration | undefined {
    return this.#pending.get(id)?.generation;
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
    return first?.generation !== undefined || this.#missedFrom !== Number.POSITIVE_INFINITY;
  }

  /** Ends when less than a batch is left, which then gathers: going on at once would hand over few at a time. */
  async #work(): Promise<void> {
    while (this.#hasWork() && !this.#closing.signal.aborted) {
      try {
        const batch = this.#nextBatch();
        if (batch.length > 0) {
          await this.#add(batch);
          for (const generation of batch) this.#remove(generation);
        } else await this.#readMissed();
        this.#succeed();
        if (this.#written < this.#maxBatch && this.#missedFrom === Number.POSITIVE_INFINITY) return;
      } catch (error) {
        if (!this.#closing.signal.aborted) await this.#fail(error);
      }
    }
  }

  /** The first pending generations whose records are durable. */
  #nextBatch(): StoredGeneration[] {
    const batch: StoredGeneration[] = [];
    for (const { generation } of this.#pending.values()) {
      if (generation === undefined || batch.length === this.#maxBatch) break;
      batch.push(generation);
    }
    return batch;
  }

  #remove({ id }: StoredGeneration | Pending): void {
    if (this.#pending.delete(id)) this.#written -= 1;
  }

  #miss(sequence: number): void {
    this.#missedFrom = Math.min(this.#missedFrom, sequence);
  }

  /** Generations that do not fit into memory while this runs are noted for the next read. */
  async #readMissed(): Promise<void> {
    const from = this.#missedFrom;
    this.#readingFrom = from;
    this.#missedFrom = Number.POSITIVE_INFINITY;
    try {
      await this.#readFrom(from);
    } catch (error) {
      this.#miss(from);
      throw error;
    } finally {
      this.#readingFrom = Number.POSITIVE_INFINITY;
    }
  }

  async #readFrom(from: number): Promise<void> {
    for await (const entries of this.#journal?.read() ?? []) {
      const generations: StoredGeneration[] = [];
      for (const { record: bytes } of entries) {
        const { kind, sequence } = recordHeadOf(bytes);
        if (kind !== 'settle' || sequence < from) continue;
        const record = decodeRecord(bytes);
        // An awaited record may be in the journal before it is acknowledged: `confirm` will handle it.
        if (record.kind === 'settle' && !this.#isAwaited(record.generationId)) {
          generations.push(generationOfRecord(record));
        }
      }
      await this.#addAll(generations);
    }
  }

  /** Whether a generation is expected and its record not acknowledged yet. */
  #isAwaited(id: string): boolean {
    const pending = this.#pending.get(id);
    return pending !== undefined && pending.generation === undefined;
  }

  async #addAll(generations: readonly StoredGeneration[]): Promise<void> {
    for (let begin = 0; begin < generations.length; begin += this.#maxBatch) {
      await this.#add(generations.slice(begin, begin + this.#maxBatch));
    }
  }

  async #add(batch: readonly StoredGeneration[]): Promise<void> {
    await addInHalves(
      batch,
      async (some) => {
        this.#closing.signal.throwIfAborted();
        await this.#options.rows.add(some);
        await delay(PAUSE_MS);
      },
      ({ id }, refusal) => this.#leaveOut(id, refusal),
    );
  }

  #leaveOut(id: string, error: unknown): void {
    if (this.#refused.has(id)) return;
    this.#refused.add(id);
    this.#options.warn(
      `the generation ${id} can never have a row and is left out; its charge is in the ledger`,
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
