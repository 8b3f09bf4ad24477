import { type Amount, assertAmount, NOTHING, plus } from '../../../ir/amount.ts';
import type { Nanos } from '../../../kit/money.ts';
import type { RecentGenerations, StoredGeneration } from '../../../ports/generations/generations.ts';
import type { DiskWaits } from '../../../ports/money/journal.ts';
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
  type SliceFigures,
  type Spending,
  type TopUpOutcome,
  type Use,
} from '../../../ports/money/ledger.ts';
import { writeOffsIn } from '../../../ports/money/write-offs.ts';
import { runningIn } from '../books/open-generation.ts';
import { type WriteOffs, writtenOffBy } from '../books/write-offs.ts';
import type { PendingWrite } from '../records/pending-write.ts';
import { generationOfRecord, type SettleRecord, type VoidRecord } from '../records/records.ts';
import { isStuck } from '../records/stuck-disk.ts';
import { cappedUse } from '../settlement/capped-use.ts';
import { ALREADY_RECORDED, RecentCharges } from '../settlement/recent-charges.ts';
import { JournalTakenOver } from './booking/book-ends.ts';
import type { BookedEnds } from './booking/booked-ends.ts';
import type { LocalGeneration, LocalGenerations } from './booking/local-generations.ts';
import { sweepStrays } from './booking/stray-reservations.ts';
import { ledgerErrorOf, orLedgerUnavailable, withoutDatabase, withoutDisk } from './ledger-unavailable.ts';
import type { PostgresLedgerOptions } from './postgres-ledger-options.ts';
import type { Reserved } from './reserving/reserver.ts';
import { balancesIn, statementIn, totalsIn } from './tallies/account-statements.ts';
import { forgetIn, grantIn, spendingIn } from './tallies/spending-and-grants.ts';

/**
 * The ledger of gateways that share a database. The database decides reservations. Checkpoints and settlements are
 * written to the gateway's own journal (outbox) first, so that they survive an outage of the database.
 */
export class PostgresLedger implements Ledger, RecentGenerations {
  readonly #options: PostgresLedgerOptions;
  readonly #generations: LocalGenerations;
  readonly #charges = new RecentCharges();
  readonly #settling = new Map<string, Promise<FinalCharge>>();
  /** The ends that the database has booked are known. */
  #isJournalAdopted = false;
  /** A copy of the data directory runs under this gateway's id. */
  #isTakenOver = false;
  #isClosed = false;

  constructor(options: PostgresLedgerOptions) {
    this.#options = options;
    this.#generations = options.generations;
  }

  get lag(): Readonly<Record<string, number>> {
    const { writer, booker } = this.#options;
    return { journal: writer.waiting, database: this.#generations.unbooked.size, refused: booker.refused };
  }

  get openReservations(): number {
    return this.#generations.open.size;
  }

  get slices(): SliceFigures {
    return this.#options.slices.figures;
  }

  get reconciled(): number {
    return this.#options.reconciled();
  }

  get isAvailable(): boolean {
    return this.#isRecording && this.#options.isUp();
  }

  /** The journal takes new generations. */
  get #isRecording(): boolean {
    const { journal, writer } = this.#options;
    return (
      this.#isJournalAdopted &&
      !this.#isTakenOver &&
      !this.#isClosed &&
      journal.isWritable &&
      !isStuck(journal.disk) &&
      writer.isKeepingUp
    );
  }

  get disk(): DiskWaits {
    return this.#options.journal.disk;
  }

  /** Limits need the database, and clocks that agree on their windows. */
  get admitting(): Admitting {
    if (!this.#isRecording) return 'none';
    return this.#options.isUp() && !this.#options.clockWatch.isFarOff ? 'all' : 'unlimited';
  }

  get writtenOff(): WriteOffs['sums'] {
    return this.#options.writeOffs.sums;
  }

  get clockAheadMs(): number | null {
    return this.#options.clockWatch.aheadMs;
  }

  async reserve(
    generation: NewGeneration,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<ReserveOutcome> {
    this.#assertRecording();
    const { generationId } = generation;
    this.#generations.begin(generationId, this.#options.journal.end.segment);
    let isAccepted = false;
    try {
      const reserved = await this.#options.reserver.reserve(generation, size);
      const { outcome } = reserved;
      if (outcome.ok) {
        isAccepted = true;
        await this.#accept(generation, outcome.reserved, reserved);
      }
      return outcome;
    } catch (error) {
      throw ledgerErrorOf(error);
    } finally {
      // If the database has reserved all the same, a sweep releases it.
      if (!isAccepted) this.#generations.drop(generationId);
    }
  }

  async topUp(
    generationId: string,
    size: (headroom: Headroom) => Amount | null,
    atMs: number,
  ): Promise<TopUpOutcome> {
    const generation = this.#generations.open.get(generationId);
    if (generation === undefined || !this.isAvailable) return NOT_TOPPED_UP;
    const outcome = await this.#options.reserver.reserveMore(generation, size);
    if (outcome.ok) this.#raise(generationId, outcome.more, atMs);
    return outcome;
  }

  async checkpoint(generationId: string, { used, row, atMs }: Use): Promise<void> {
    if (!this.#generations.open.has(generationId) || !this.#options.writer.isKeepingUp) return;
    const sequence = this.#generations.nextSequence();
    const record = { kind: 'checkpoint', sequence, atMs, generationId, spent: used, row } as const;
    this.#generations.apply(record);
    await this.#isWritten(this.#options.writer.write(record, 'process'));
  }

  settle(generationId: string, use: Use): Promise<FinalCharge> {
    const settling = this.#settling.get(generationId);
    if (settling !== undefined) return settling;
    const generation = this.#generations.open.get(generationId);
    if (generation === undefined) return this.#settledBefore(generationId);
    const capped = cappedUse(generationId, use, this.#options.warn);
    const settled = this.#settleOpen(generation, capped).finally(() => this.#settling.delete(generationId));
    this.#settling.set(generationId, settled);
    return settled;
  }

  async void(generationId: string, atMs: number): Promise<void> {
    if (!this.#generations.open.has(generationId) || this.#settling.has(generationId)) return;
    const sequence = this.#generations.nextSequence();
    const record = { kind: 'void', sequence, atMs, generationId } as const;
    this.#end(record);
    this.#charges.add(generationId, {
      charge: { charge: NOTHING, writtenOffNanos: 0n },
      writing: ALREADY_RECORDED,
    });
    await this.#isWritten(this.#options.writer.write(record, 'process'));
  }

  async grant(accountId: string, leftNanos: Nanos | null, atMs: number): Promise<void> {
    this.#assertNotTakenOver();
    await orLedgerUnavailable(this.#options.booker.flush());
    await orLedgerUnavailable(this.#options.slices.returnAccount(accountId));
    await orLedgerUnavailable(grantIn(this.#options.database, accountId, leftNanos, atMs));
  }

  async forget(scope: ForgettableScope, id: string): Promise<void> {
    await this.#caughtUp();
    await orLedgerUnavailable(forgetIn(this.#options.database, scope, id));
  }

  async spendingOf(scope: Scope, ids: readonly string[]): Promise<Spending[]> {
    await this.#caughtUp();
    const { database, databaseClock } = this.#options;
    return orLedgerUnavailable(spendingIn(database, scope, ids, databaseClock));
  }

  async runningOf(accountId: string): Promise<readonly RunningGeneration[]> {
    return runningIn(this.#generations.open.values(), accountId);
  }

  async statementOf(accountId: string): Promise<AccountStatement> {
    await this.#caughtUp();
    return orLedgerUnavailable(statementIn(this.#options.database, accountId));
  }

  balancesLeft(limit: number): Promise<readonly BalanceLeft[]> {
    return orLedgerUnavailable(balancesIn(this.#options.database, limit));
  }

  async verify(): Promise<LedgerReport> {
    await this.#caughtUp();
    const { background, journal, tornTailBytes } = this.#options;
    return {
      ...(await orLedgerUnavailable(totalsIn(background))),
      journal: { ...journal.size, tornTailBytes },
    };
  }

  /** Rows are booked in the same transaction as the money, so there is nothing to rebuild. */
  async rebuild(): Promise<number> {
    await orLedgerUnavailable(this.#options.booker.flush());
    return (await orLedgerUnavailable(totalsIn(this.#options.background))).generations;
  }

  recent(id: string): StoredGeneration | undefined {
    const settled = this.#generations.unbooked.get(id)?.settled;
    return settled && generationOfRecord(settled);
  }

  /** Shows other gateways that this one lives. Rejects with DatabaseUnavailable. */
  async beat(): Promise<void> {
    await this.#options.heartbeat.beat();
  }

  /** Releases stray reservations once the journal is adopted. Resolves with the number released. */
  async sweep(): Promise<number> {
    if (!this.#isJournalAdopted || this.#isTakenOver) return 0;
    const { database, databaseClock: clock, heartbeat, owner } = this.#options;
    const gatewayId = this.#options.gatewayId();
    const used = this.#generations.slices();
    const isInUse = (id: string) =>
      this.#generations.isUnfinished(id) || used.has(id) || this.#options.slices.has(id);
    try {
      return await sweepStrays(database, { gatewayId, owner, isInUse, mayJudge: heartbeat.mayJudge, clock });
    } catch (error) {
      if (error instanceof JournalTakenOver) this.takenOver();
      throw error;
    }
  }

  /** Starts booking, once it is known which ends the database has booked. */
  startBooking(booked: BookedEnds): void {
    this.#generations.continueAfter(booked);
    this.#isJournalAdopted = true;
    this.#options.booker.start();
  }

  /** A copy of the data directory runs under this gateway's id: refuses new work for good. */
  takenOver(): void {
    if (this.#isTakenOver) return;
    this.#isTakenOver = true;
    this.#options.warn(
      'another gateway runs with a copy of this data directory; this one begins nothing more. Stop the ' +
        'copy and restart this one: it takes an id of its own and books what waits',
      { gateway_id: this.#options.gatewayId() },
    );
  }

  /** Why this process must be restarted; null = no reason. */
  get restartReason(): string | null {
    return this.#isTakenOver ? TAKEN_OVER : null;
  }

  /** Refuses new reservations. Open generations may still be settled. */
  close(): void {
    this.#isClosed = true;
  }

  async #accept(
    { generationId, scopes, limits, row, atMs }: NewGeneration,
    reserved: Amount,
    { isUnlimited, slice }: Reserved,
  ): Promise<void> {
    const sequence = this.#generations.nextSequence();
    const money = { scopes, limits, reserved, isUnlimited, slice };
    const record = { kind: 'accept', sequence, atMs, generationId, ...money, row } as const;
    this.#generations.apply(record);
    if (await this.#isWritten(this.#options.writer.write(record, 'process'))) return;
    void this.void(generationId, atMs);
    throw withoutDisk();
  }

  #raise(generationId: string, more: Amount, atMs: number): void {
    const generation = this.#generations.open.get(generationId);
    if (generation === undefined) return;
    const reserved = plus(generation.reserved, more);
    const sequence = this.#generations.nextSequence();
    const record = { kind: 'top-up', sequence, atMs, generationId, reserved } as const;
    this.#generations.apply(record);
    // The database has the reservation: the record only bounds the charge after a crash.
    this.#options.writer.write(record, 'process');
  }

  async #settleOpen(generation: LocalGeneration, use: Use): Promise<FinalCharge> {
    const { used, atMs } = use;
    assertAmount(used);
    const { generationId, scopes } = generation;
    const charge = await this.#options.reserver.chargeFor(generation, used);
    const record: SettleRecord = {
      kind: 'settle',
      sequence: this.#generations.nextSequence(),
      atMs,
      generationId,
      scopes,
      charge,
      ...writtenOffBy(use, charge),
    };
    this.#end(record);
    this.#options.writeOffs.add(writeOffsIn(record));
    const writing = this.#options.writer.write(record, this.#options.durability());
    const settled = { charge, writtenOffNanos: record.writtenOffNanos };
    this.#charges.add(generationId, { charge: settled, writing });
    await this.#recorded(writing);
    return settled;
  }

  /** Applies the record that ends a generation, and gives what it did not use back to its slice. */
  #end(record: SettleRecord | VoidRecord): void {
    this.#generations.apply(record);
    const end = this.#generations.unbooked.get(record.generationId);
    if (end !== undefined) {
      this.#options.slices.settled(end, end.slice, end.reserved, end.settled?.charge ?? NOTHING);
    }
    this.#options.booker.wake();
  }

  async #settledBefore(generationId: string): Promise<FinalCharge> {
    const known = this.#charges.get(generationId);
    if (known === undefined) {
      throw new RangeError(
        `generation ${generationId} cannot be settled: it was never accepted, or ended long ago`,
      );
    }
    await this.#recorded(known.writing);
    return known.charge;
  }

  /**
   * Books what waits before figures are read, and returns slices that nothing is open on. A booking that failed is
   * tried once more: a single connection may have failed, and figures without what was settled would be wrong. If the
   * database does not answer at all, the read that follows rejects.
   */
  async #caughtUp(): Promise<void> {
    const { booker, slices } = this.#options;
    await booker.flush().catch(() => booker.flush().catch(() => {}));
    await slices.returnUnused().catch(() => {});
  }

  #isWritten(writing: PendingWrite): Promise<boolean> {
    return writing.firstTrySucceedsWithin(this.#options.patienceMs);
  }

  async #recorded(writing: Pick<PendingWrite, 'isWrittenWithin'>): Promise<void> {
    if (!(await writing.isWrittenWithin(this.#options.patienceMs))) throw withoutDisk();
  }

  #assertRecording(): void {
    this.#assertNotTakenOver();
    if (!this.#isRecording) throw this.#isJournalAdopted ? withoutDisk() : withoutDatabase();
  }

  #assertNotTakenOver(): void {
    if (this.#isTakenOver) throw new LedgerUnavailable(TAKEN_OVER);
  }
}

/** Shown to callers and in the health check. */
const TAKEN_OVER =
  'another gateway has taken the journal of this one over, because both run with copies of one data ' +
  'directory; the operator must stop the copy and restart this gateway';

const NOT_TOPPED_UP: TopUpOutcome = { ok: false, refusal: null };
