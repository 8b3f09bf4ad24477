import { type Amount, NOTHING } from '../../../ir/amount.ts';
import { isInTime } from '../../../kit/loop/is-in-time.ts';
import type { Nanos } from '../../../kit/money.ts';
import type { GenerationStore } from '../../../ports/generations/generations.ts';
import type { DiskWaits, Durability, Journal } from '../../../ports/money/journal.ts';
import {
  type AccountStatement,
  type Admitting,
  type BalanceLeft,
  type FinalCharge,
  type ForgettableScope,
  type Headroom,
  type Ledger,
  type LedgerReport,
  LedgerUnavailable,
  type NewGeneration,
  type ReserveOutcome,
  type RunningGeneration,
  type Scope,
  type Spending,
  type TopUpOutcome,
  type Use,
} from '../../../ports/money/ledger.ts';
import { writeOffsIn } from '../../../ports/money/write-offs.ts';
import type { Books } from '../books/books.ts';
import { runningIn } from '../books/open-generation.ts';
import { WriteOffs } from '../books/write-offs.ts';
import type { Projector } from '../projection/projector.ts';
import type { PendingWrite } from '../records/pending-write.ts';
import type { RecordWriter } from '../records/record-writer.ts';
import type { SettleRecord } from '../records/records.ts';
import { isStuck } from '../records/stuck-disk.ts';
import { cappedUse } from '../settlement/capped-use.ts';
import { ALREADY_RECORDED, RecentCharges } from '../settlement/recent-charges.ts';

export interface EmbeddedLedgerOptions {
  readonly books: Books;
  readonly journal: Journal;
  readonly writer: RecordWriter;
  readonly rows: Pick<Projector, 'expect' | 'waiting' | 'drain' | 'rebuild'>;
  /** Rows that are not events yet. */
  unfedRows(): number;
  readonly generations: Pick<GenerationStore, 'count'>;
  /** Durability of settlements. */
  durability(): Durability;
  /** How long settlements and grants wait for a failing disk, and reservations for a slow one, milliseconds. */
  readonly patienceMs: number;
  /** Bytes of unfinished records that were dropped when the journal was opened. */
  readonly tornTailBytes: number;
  /** Generations settled by the reconciler. */
  reconciled(): number;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** How long `verify` waits for rows that are being made, milliseconds. */
const ROWS_PATIENCE_MS = 1_000;

/**
 * The ledger of a gateway without a shared database. Books in memory decide synchronously; each decision is written to
 * the journal before the call resolves.
 */
export class EmbeddedLedger implements Ledger {
  readonly #options: EmbeddedLedgerOptions;
  readonly #books: Books;
  readonly #writer: RecordWriter;
  readonly #charges = new RecentCharges();
  readonly #writeOffs = new WriteOffs();
  #isClosed = false;

  constructor(options: EmbeddedLedgerOptions) {
    this.#options = options;
    this.#books = options.books;
    this.#writer = options.writer;
  }

  get lag(): Readonly<Record<string, number>> {
    const { rows, unfedRows } = this.#options;
    return { journal: this.#writer.waiting, generations: rows.waiting, events: rows.waiting + unfedRows() };
  }

  get openReservations(): number {
    return this.#books.open.size;
  }

  get reconciled(): number {
    return this.#options.reconciled();
  }

  get isAvailable(): boolean {
    const { journal } = this.#options;
    return !this.#isClosed && journal.isWritable && !isStuck(journal.disk) && this.#writer.isKeepingUp;
  }

  get disk(): DiskWaits {
    return this.#options.journal.disk;
  }

  get admitting(): Admitting {
    return this.isAvailable ? 'all' : 'none';
  }

  get writtenOff(): WriteOffs['sums'] {
    return this.#writeOffs.sums;
  }

  get clockAheadMs(): null {
    return null;
  }

  get slices(): null {
    return null;
  }

  async reserve(
    generation: NewGeneration,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<ReserveOutcome> {
    this.#assertAvailable();
    const standings = this.#books.standings(generation);
    const amount = size(this.#books.headroom(generation, standings));
    const { generationId, scopes, limits, atMs, row } = generation;
    const outcome =
      amount === null
        ? this.#tooLittle(generation)
        : this.#books.reserve({ generationId, scopes, limits, atMs, row, amount }, standings);
    if (!outcome.ok) return { ok: false, refusal: outcome.refusal };
    const { record } = outcome;
    if (await this.#isWritten(this.#writer.write(record, 'process'))) {
      return { ok: true, reserved: record.reserved };
    }
    void this.void(generationId, atMs);
    throw unavailable();
  }

  async topUp(
    generationId: string,
    size: (headroom: Headroom) => Amount | null,
    atMs: number,
  ): Promise<TopUpOutcome> {
    if (!this.isAvailable) return { ok: false, refusal: null };
    const outcome = this.#books.topUp(generationId, size, atMs);
    if (!outcome.ok) return { ok: false, refusal: outcome.reason === 'limit' ? outcome.refusal : null };
    const isWritten = await this.#isWritten(this.#writer.write(outcome.record, 'process'));
    return isWritten ? { ok: true, more: outcome.more } : { ok: false, refusal: null };
  }

  async checkpoint(generationId: string, use: Use): Promise<void> {
    if (!this.isAvailable) return;
    const outcome = this.#books.checkpoint(generationId, use);
    if (outcome.ok) await this.#isWritten(this.#writer.write(outcome.record, 'process'));
  }

  settle(generationId: string, use: Use): Promise<FinalCharge> {
    const outcome = this.#books.settle(generationId, cappedUse(generationId, use, this.#options.warn));
    if (outcome.ok) this.#recordSettled(outcome.record);
    const known = this.#charges.get(generationId);
    if (known === undefined) {
      const message = `generation ${generationId} cannot be settled: it was never accepted, or ended long ago`;
      return Promise.reject(new RangeError(message));
    }
    return known.writing.isWrittenWithin(this.#options.patienceMs).then((isWritten) => {
      if (isWritten) return known.charge;
      throw unavailable();
    });
  }

  async void(generationId: string, atMs: number): Promise<void> {
    const outcome = this.#books.void(generationId, atMs);
    if (!outcome.ok) return;
    const writing = this.#writer.write(outcome.record, 'process');
    this.#charges.add(generationId, {
      charge: { charge: NOTHING, writtenOffNanos: 0n },
      writing: ALREADY_RECORDED,
    });
    await this.#isWritten(writing);
  }

  async grant(accountId: string, leftNanos: Nanos | null, atMs: number): Promise<void> {
    this.#assertAvailable();
    const { record } = this.#books.grant(accountId, leftNanos, atMs);
    const writing = this.#writer.write(record, 'power');
    if (!(await writing.isWrittenWithin(this.#options.patienceMs))) throw unavailable();
  }

  async forget(scope: ForgettableScope, id: string, atMs: number): Promise<void> {
    const { record } = this.#books.forget(scope, id, atMs);
    // The next start forgets again what no longer exists, so a failure here does no harm.
    await this.#isWritten(this.#writer.write(record, 'process'));
  }

  async spendingOf(scope: Scope, ids: readonly string[], atMs: number): Promise<Spending[]> {
    return ids.map((id) => this.#books.spendingOf(scope, id, atMs));
  }

  async runningOf(accountId: string): Promise<readonly RunningGeneration[]> {
    return runningIn(this.#books.open.values(), accountId);
  }

  async statementOf(accountId: string): Promise<AccountStatement> {
    return this.#books.statementOf(accountId);
  }

  async balancesLeft(limit: number): Promise<readonly BalanceLeft[]> {
    return this.#books.balancesLeft().slice(0, limit);
  }

  async verify(): Promise<LedgerReport> {
    const { rows, generations, journal, tornTailBytes } = this.#options;
    await isInTime(rows.drain(), ROWS_PATIENCE_MS);
    const count = await generations.count();
    return {
      accounts: this.#books.verify(),
      openReservations: this.openReservations,
      generations: count,
      journal: { ...journal.size, tornTailBytes },
    };
  }

  async rebuild(): Promise<number> {
    const { rows, generations } = this.#options;
    await rows.rebuild();
    return generations.count();
  }

  /** Refuses new reservations. Open generations may still be settled. */
  close(): void {
    this.#isClosed = true;
  }

  #recordSettled(record: SettleRecord): void {
    this.#options.rows.expect(record);
    const writing = this.#writer.write(record, this.#options.durability());
    const { generationId, charge, writtenOffNanos } = record;
    this.#writeOffs.add(writeOffsIn(record));
    this.#charges.add(generationId, { charge: { charge, writtenOffNanos }, writing });
  }

  #tooLittle(generation: NewGeneration): Extract<ReserveOutcome, { ok: false }> {
    const refusal = this.#books.tightestLimit(generation);
    if (refusal === undefined) throw new RangeError('no limit applies, but `size` found too little');
    return { ok: false, refusal };
  }

  #isWritten(writing: PendingWrite): Promise<boolean> {
    return writing.firstTrySucceedsWithin(this.#options.patienceMs);
  }

  #assertAvailable(): void {
    if (!this.isAvailable) throw unavailable();
  }
}

function unavailable(): LedgerUnavailable {
  return new LedgerUnavailable(
    'the ledger cannot be written at the moment; it goes on by itself once its disk works',
  );
}
