import { randomUUID } from 'node:crypto';
import { type Amount, isWithinAmount, minus, NOTHING } from '../../../../ir/amount.ts';
import { isInTime } from '../../../../kit/loop/is-in-time.ts';
import { windowsAt } from '../../../../kit/time/windows.ts';
import type { Headroom, Scope, ScopeIds, SliceFigures } from '../../../../ports/money/ledger.ts';
import { headroomWithin } from '../../books/limits.ts';
import { limitsCodec, scopesCodec } from '../../records/money-codecs.ts';
import { DEAD_AFTER_MS, type Heartbeat } from '../heartbeat.ts';
import { isWithoutLimit, raisedBy, UNLIMITED } from '../tallies/headrooms.ts';
import { type PayingScopes, SLICE_PREFIX } from '../tallies/reservation-sql.ts';
import { type ReservingGateway, reserveFor, reserveMoreFor } from '../tallies/reserve.ts';
import { standingsOf } from '../tallies/tally-rows.ts';
import { Demand, HOT_RESERVATIONS } from './demand.ts';
import { returnSlice } from './return-slice.ts';
import { Slice } from './slice.ts';
import { missingInSlice, type SliceBounds } from './slice-size.ts';

export interface SlicesOptions {
  /** How this gateway reserves in the database, now. */
  gateway(): ReservingGateway;
  /** Whether the last statement was answered. */
  isUp(): boolean;
  /** The gateway's monotonic clock, milliseconds. */
  monotonicMs(): number;
  readonly heartbeat: Pick<Heartbeat, 'sentAtMs'>;
  bounds(): SliceBounds;
}

/** What a generation was paid from a slice. */
export interface Taken {
  readonly amount: Amount;
  readonly slice: string;
  /** No limit, budget or balance applied, as far as this gateway knows. */
  readonly isUnlimited: boolean;
}

interface KnownPayer {
  readonly payer: PayingScopes;
  readonly demand: Demand;
  slice: Slice | undefined;
  /** Set while a statement for its slice is under way. Never rejects. */
  busy: Promise<void> | undefined;
  /** No statement for its slice before this time, by the monotonic clock. */
  notBeforeMs: number;
}

/** Slices are used no longer than this after a heartbeat was sent: so much earlier than others may release them. */
const LEASE_MS = DEAD_AFTER_MS - 10_000;

/** A slice that no generation uses for this time is returned, milliseconds. */
const IDLE_MS = 5_000;

/** A slice is replaced by a new one this long after it was refilled last: before its reservation expires. */
const MAX_AGE_MS = 300_000;

/** How long a generation waits for a slice instead of asking the database itself, milliseconds. */
const MAX_WAIT_MS = 1_000;

/** Time between two attempts when a limit leaves too little for a slice, milliseconds. */
const RETRY_MS = 1_000;

/**
 * The slices of this gateway. A payer that reserves often gets one: from then on its generations are reserved in memory
 * until the slice has to be refilled. All slices share one lease, the gateway's heartbeat.
 */
export class Slices {
  readonly #options: SlicesOptions;
  readonly #payers = new Map<string, KnownPayer>();
  /** All that the database may hold for this run, by id: open ones, and closed ones until they are returned. */
  readonly #slices = new Map<string, Slice>();
  #isClosed = false;
  #paidGenerations = 0;
  #statements = 0;

  constructor(options: SlicesOptions) {
    this.#options = options;
  }

  /** Whether a reservation of this gateway is a slice in use. */
  has(id: string): boolean {
    return this.#slices.has(id);
  }

  get figures(): SliceFigures {
    let freeNanos = 0n;
    for (const { free } of this.#slices.values()) freeNanos += free.creditNanos;
    return {
      open: this.#slices.size,
      freeNanos,
      paidGenerations: this.#paidGenerations,
      statements: this.#statements,
    };
  }

  /** Pays for a new generation; undefined when the payer has no slice, or too little in it. */
  take(payer: PayingScopes, size: (headroom: Headroom) => Amount | null): Taken | undefined {
    const known = this.#payers.get(keyOf(payer));
    const slice = known?.slice;
    if (known === undefined || slice === undefined || !this.#isLeased()) return undefined;
    const headroom = this.#headroomOf(payer, slice);
    const amount = size(headroom);
    if (amount === null || !slice.take(amount)) return undefined;
    known.demand.reserved(amount, this.#options.monotonicMs());
    this.#paidGenerations++;
    this.#serve(known);
    return { amount, slice: slice.id, isUnlimited: isWithoutLimit(headroom) };
  }

  /** Waits for the payer's slice while that is leased or refilled. False when it is not, or takes too long. */
  async isRefilled(payer: PayingScopes): Promise<boolean> {
    const busy = this.#payers.get(keyOf(payer))?.busy;
    return busy !== undefined && (await isInTime(busy, MAX_WAIT_MS));
  }

  /** A generation of this payer was reserved in the database. */
  reserved(payer: PayingScopes, amount: Amount): void {
    if (this.#isClosed || this.#options.bounds().maxNanos === 0n) return;
    const atMs = this.#options.monotonicMs();
    const key = keyOf(payer);
    let known = this.#payers.get(key);
    if (known === undefined) {
      const { scopes, limits } = payer;
      known = {
        payer: { scopes, limits },
        demand: new Demand(atMs),
        slice: undefined,
        busy: undefined,
        notBeforeMs: 0,
      };
      this.#payers.set(key, known);
    }
    known.demand.reserved(amount, atMs);
    this.#serve(known);
  }

  /** A generation ended. `slice`: what paid for it; undefined = a reservation of its own. */
  settled(payer: PayingScopes, slice: string | undefined, reserved: Amount, charge: Amount): void {
    this.#payers.get(keyOf(payer))?.demand.charged(charge, this.#options.monotonicMs());
    if (slice !== undefined) this.#slices.get(slice)?.giveBack(minus(reserved, charge));
  }

  booked(slice: string | undefined, charge: Amount): void {
    if (slice !== undefined) this.#slices.get(slice)?.booked(charge);
  }

  /** Takes more for an open generation. False when there is too little. */
  takeMore(slice: string, more: Amount): boolean {
    return this.#slices.get(slice)?.takeMore(more) ?? false;
  }

  /** Takes as much of the credits as is free. Returns what was taken. */
  takeUpTo(slice: string, more: Amount): Amount {
    const found = this.#slices.get(slice);
    if (found === undefined) return NOTHING;
    const { creditNanos } = found.free;
    const part = {
      creditNanos: creditNanos < more.creditNanos ? creditNanos : more.creditNanos,
      byokNanos: 0n,
    };
    return creditNanos > 0n && found.takeMore(part) ? part : NOTHING;
  }

  /** The database has raised a slice for an open generation. */
  raised(slice: string, more: Amount): void {
    this.#slices.get(slice)?.raiseTaken(more);
  }

  /** Frees what was raised for a generation that ended without it. */
  giveBack(slice: string, amount: Amount): void {
    this.#slices.get(slice)?.giveBack(amount);
  }

  /** The headroom of an open generation that a slice pays for. */
  headroomFor(payer: PayingScopes, slice: string): Headroom | undefined {
    const found = this.#slices.get(slice);
    return found && this.#headroomOf(payer, found);
  }

  /** Slices that the database does not have any more. */
  lost(ids: readonly string[]): void {
    for (const id of ids) {
      const slice = this.#slices.get(id);
      if (slice === undefined) continue;
      this.#slices.delete(id);
      this.#close(slice);
    }
  }

  /** Returns the free money of slices that count in a scope. False when there was none. */
  async returnFree(scopes: ScopeIds, scope: Scope): Promise<boolean> {
    let isFreed = false;
    for (const known of this.#payers.values()) {
      if (known.payer.scopes[scope] === scopes[scope]) await known.busy;
    }
    for (const slice of [...this.#slices.values()]) {
      const { free, payer } = slice;
      if (payer.scopes[scope] !== scopes[scope]) continue;
      if (free.creditNanos <= 0n && free.byokNanos <= 0n) continue;
      this.#postpone(slice);
      isFreed = true;
      await this.#return(slice);
    }
    return isFreed;
  }

  /** Closes the slices of an account and returns what is free. */
  async returnAccount(accountId: string): Promise<void> {
    for (const { payer, busy } of this.#payers.values()) {
      if (payer.scopes.account === accountId) await busy;
    }
    for (const slice of [...this.#slices.values()]) {
      if (slice.payer.scopes.account !== accountId) continue;
      this.#close(slice);
      await this.#return(slice);
    }
  }

  /** Returns what is not used any more. Call it about once a second. Rejects with DatabaseUnavailable. */
  async tidy(): Promise<void> {
    const atMs = this.#options.monotonicMs();
    const isLeased = this.#isLeased();
    for (const [key, { demand, slice, busy }] of this.#payers) {
      const isIdle = atMs - demand.atMs > IDLE_MS && busy === undefined;
      const isOld = slice !== undefined && atMs - slice.leasedAtMs > MAX_AGE_MS && busy === undefined;
      if (slice !== undefined && (isIdle || isOld || !isLeased)) this.#close(slice);
      if (isIdle) this.#payers.delete(key);
    }
    for (const slice of [...this.#slices.values()]) if (!slice.isOpen) await this.#return(slice);
  }

  /** Returns slices that pay for no open generation. Figures are exact then. */
  async returnUnused(): Promise<void> {
    for (const slice of [...this.#slices.values()]) {
      await this.#payers.get(keyOf(slice.payer))?.busy;
      if (slice.isTaken) continue;
      this.#close(slice);
      await this.#return(slice);
    }
  }

  /** Returns everything, and leases nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { busy } of this.#payers.values()) await busy;
    for (const slice of [...this.#slices.values()]) this.#close(slice);
    await this.tidy();
  }

  /** Whether others may not have released the slices: by our own clock, whatever that of the database does. */
  #isLeased(): boolean {
    const { heartbeat, monotonicMs } = this.#options;
    return heartbeat.sentAtMs !== undefined && monotonicMs() - heartbeat.sentAtMs < LEASE_MS;
  }

  /** What the payer may reserve, as far as this gateway knows. */
  #headroomOf({ scopes, limits }: PayingScopes, { free }: Slice): Headroom {
    const { tallies, atMs } = this.#options.gateway().known.guess(scopes);
    return raisedBy(headroomWithin(standingsOf(scopes, limits, tallies, windowsAt(atMs))), free);
  }

  /** Begins to lease or to refill a slice if that is due. */
  #serve(known: KnownPayer): void {
    const atMs = this.#options.monotonicMs();
    if (this.#isClosed || known.busy !== undefined || atMs < known.notBeforeMs || !this.#options.isUp())
      return;
    const { demand, slice } = known;
    const { maxNanos, hotReservations = HOT_RESERVATIONS } = this.#options.bounds();
    const { creditNanos, byokNanos } = demand.largest(atMs);
    if (creditNanos > maxNanos || byokNanos > maxNanos) return;
    if (slice === undefined ? demand.count(atMs) < hotReservations : !this.#isLow(slice, demand)) return;
    this.#statements++;
    known.busy = (slice === undefined ? this.#lease(known) : this.#refill(known, slice))
      .catch(() => {
        known.notBeforeMs = this.#options.monotonicMs() + RETRY_MS;
      })
      .finally(() => {
        known.busy = undefined;
      });
  }

  /** Below four fifths of what it should have free. */
  #isLow({ free }: Slice, demand: Demand): boolean {
    const missing = missingInSlice(
      { wanted: demand.target(this.#options.monotonicMs()), least: NOTHING },
      free,
      UNLIMITED.affordable,
      this.#options.bounds(),
    );
    if (missing === null) return false;
    const { creditNanos, byokNanos } = missing;
    return !isWithinAmount({ creditNanos: 4n * creditNanos, byokNanos: 4n * byokNanos }, free);
  }

  async #lease(known: KnownPayer): Promise<void> {
    const { payer } = known;
    const atMs = this.#options.monotonicMs();
    const slice = new Slice(SLICE_PREFIX + randomUUID(), payer, atMs);
    // Before the statement, so that a sweep does not take it for a stray.
    this.#slices.set(slice.id, slice);
    try {
      const asked = { ...payer, generationId: slice.id, atMs: 0, row: {} };
      const outcome = await reserveFor(this.#options.gateway(), asked, this.#sizeOf(known, NOTHING));
      if (!outcome.ok) throw new RangeError('a limit leaves too little for a slice');
      slice.raise(outcome.reserved, atMs);
      if (this.#isClosed) slice.close();
      else known.slice = slice;
    } catch (error) {
      // If the database has it all the same, a sweep releases it.
      this.#slices.delete(slice.id);
      throw error;
    }
  }

  async #refill(known: KnownPayer, slice: Slice): Promise<void> {
    const { id, payer } = slice;
    const atMs = this.#options.monotonicMs();
    const outcome = await reserveMoreFor(this.#options.gateway(), { id, ...payer }, (headroom) =>
      this.#sizeOf(known, slice.free)(headroom),
    );
    if (outcome.ok) slice.raise(outcome.more, atMs);
    else if (outcome.refusal === null) this.#close(slice);
    else throw new RangeError('a limit leaves too little for a slice');
  }

  /** What a slice should reserve; null when a limit leaves too little. */
  #sizeOf({ demand }: KnownPayer, free: Amount): (headroom: Headroom) => Amount | null {
    return ({ affordable }) => {
      const atMs = this.#options.monotonicMs();
      const wanted = demand.target(atMs);
      const missing = missingInSlice(
        { wanted, least: demand.largest(atMs) },
        free,
        affordable,
        this.#options.bounds(),
      );
      return missing ?? (isWithinAmount(wanted, free) ? NOTHING : null);
    };
  }

  #close(slice: Slice): void {
    slice.close();
    const known = this.#payers.get(keyOf(slice.payer));
    if (known?.slice === slice) known.slice = undefined;
  }

  /** Its payer is near a limit: the next reservations are better decided by the database. */
  #postpone({ payer }: Slice): void {
    const known = this.#payers.get(keyOf(payer));
    if (known !== undefined) known.notBeforeMs = this.#options.monotonicMs() + RETRY_MS;
  }

  /** Returns what is free; forgets a closed slice that nothing was taken from. */
  async #return(slice: Slice): Promise<void> {
    const outcome = await returnSlice(this.#options.gateway(), slice);
    if (outcome === 'returned' || outcome === 'missing') this.lost([slice.id]);
  }
}

/** Names a payer with its limits: a limit that was changed holds for its next generation. */
function keyOf({ scopes, limits }: PayingScopes): string {
  return scopesCodec.encode(scopes) + limitsCodec.encode(limits);
}
