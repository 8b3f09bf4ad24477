import { type Amount, minus, plus } from '../../../../ir/amount.ts';
import { isInTime } from '../../../../kit/loop/is-in-time.ts';
import {
  type Headroom,
  LedgerUnavailable,
  type NewGeneration,
  type Refusal,
  type ReserveOutcome,
  type ScopeIds,
  type TopUpOutcome,
} from '../../../../ports/money/ledger.ts';
import { DatabaseUnavailable } from '../../../sql/database-unavailable.ts';
import type { Booker } from '../booking/booker.ts';
import type { LocalGeneration, LocalGenerations } from '../booking/local-generations.ts';
import type { ClockWatch } from '../clock-watch.ts';
import { withoutDatabase } from '../ledger-unavailable.ts';
import type { Slices } from '../slices/slices.ts';
import { isAffordable, isWithoutLimit, raisedBy, UNLIMITED } from '../tallies/headrooms.ts';
import { askExtension } from '../tallies/reservation-sql.ts';
import { type ReservingGateway, reserveFor, reserveMoreFor } from '../tallies/reserve.ts';
import { freedByBooking } from './freed-by-booking.ts';

export interface ReserverOptions {
  /** How this gateway reserves in the database, now. */
  gateway(): ReservingGateway;
  /** Whether the last statement was answered. */
  isUp(): boolean;
  readonly clockWatch: Pick<ClockWatch, 'aheadMs' | 'isFarOff'>;
  readonly generations: LocalGenerations;
  readonly booker: Pick<Booker, 'flush'>;
  readonly slices: Slices;
  /** How long a request waits for the database in all, milliseconds. */
  readonly waitMs?: number | undefined;
}

/** A reservation, or the limit that forbids it. */
export interface Reserved {
  readonly outcome: ReserveOutcome;
  /** No limit, budget or balance applied. */
  readonly isUnlimited: boolean;
  /** Id of the slice that pays; undefined = the generation has a reservation of its own, or none. */
  readonly slice?: string | undefined;
}

/** Returns the amount for a headroom; null = too little. */
type Size = (headroom: Headroom) => Amount | null;

/** Together with the key check and the wait for a slice, a request waits 8 seconds at most. */
const DEFAULT_WAIT_MS = 6_000;

/** Share of `DEFAULT_WAIT_MS` that a settlement waits at most. */
const SETTLEMENT_SHARE = 0.5;

/** How long a request waits if it can begin without the database, milliseconds. */
const MAX_UNLIMITED_WAIT_MS = 1_000;

/**
 * Decides where the money of a generation is reserved: in a slice, or in the database. While the database does not
 * answer, further generations begin only if no limit covered them when it answered last.
 */
export class Reserver {
  readonly #options: ReserverOptions;

  constructor(options: ReserverOptions) {
    this.#options = options;
  }

  /** Reserves for a new generation. Rejects with LedgerUnavailable or DatabaseUnavailable. */
  async reserve(generation: NewGeneration, size: Size): Promise<Reserved> {
    const { slices, isUp } = this.#options;
    const taken = await this.#take(generation, size);
    if (taken !== undefined) return taken;
    const isUnlimited = this.#options.gateway().known.isUnlimited(generation);
    if (!isUp()) {
      if (isUnlimited) return reservedNowhere(size);
      throw withoutDatabase();
    }
    const reserved = await this.#reserveInTime(generation, size, isUnlimited);
    if (reserved === undefined) return reservedNowhere(size);
    const { outcome } = reserved;
    if (outcome.ok) slices.reserved(generation, outcome.reserved);
    return reserved;
  }

  /** Reserves more for an open generation; the refusal is null while the database does not answer. */
  async reserveMore(generation: LocalGeneration, size: Size): Promise<TopUpOutcome> {
    const { generationId, scopes, limits, slice } = generation;
    const { slices } = this.#options;
    if (slice !== undefined) {
      const headroom = slices.headroomFor(generation, slice);
      const more = headroom === undefined ? null : size(headroom);
      if (more !== null && slices.takeMore(slice, more)) return { ok: true, more };
    }
    let last: Headroom | undefined;
    const ask = () =>
      reserveMoreFor(this.#options.gateway(), { id: slice ?? generationId, scopes, limits }, (headroom) => {
        last = headroom;
        return size(headroom);
      });
    try {
      let outcome = await ask();
      if (!outcome.ok && (await this.#makeRoom(scopes, outcome, last, size))) outcome = await ask();
      if (outcome.ok && slice !== undefined) slices.raised(slice, outcome.more);
      return outcome;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return { ok: false, refusal: null };
      throw error;
    }
  }

  /**
   * The charge of a generation. Beyond its reservation only what the limits leave is charged; if the database does not
   * answer in time, only what its slice has. A generation without limits is charged in full then: booking checks a
   * balance that is enforced by that time.
   */
  async chargeFor(generation: LocalGeneration, used: Amount): Promise<Amount> {
    const { reserved, isUnlimited, slice, generationId } = generation;
    if (used.creditNanos <= reserved.creditNanos) return used;
    const excess: Amount = { creditNanos: used.creditNanos - reserved.creditNanos, byokNanos: 0n };
    const { slices, generations } = this.#options;
    if (slice !== undefined && slices.takeMore(slice, excess)) {
      generations.raise(generationId, plus(reserved, excess));
      return used;
    }
    try {
      return await this.#extendInTime(generation, used);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      if (isUnlimited) return used;
      const more = slice === undefined ? undefined : slices.takeUpTo(slice, excess);
      if (more !== undefined) generations.raise(generationId, plus(reserved, more));
      const creditNanos = reserved.creditNanos + (more?.creditNanos ?? 0n);
      return { creditNanos, byokNanos: used.byokNanos };
    }
  }

  /** Takes from a slice. A slice that is being refilled is waited for: many that ask the database would delay it. */
  async #take(generation: NewGeneration, size: Size): Promise<Reserved | undefined> {
    const { slices, clockWatch } = this.#options;
    if (clockWatch.isFarOff) return undefined;
    let taken = slices.take(generation, size);
    if (taken === undefined && (await slices.isRefilled(generation))) taken = slices.take(generation, size);
    if (taken === undefined) return undefined;
    const { amount, slice, isUnlimited } = taken;
    return { outcome: { ok: true, reserved: amount }, isUnlimited, slice };
  }

  /** Rejects with DatabaseUnavailable when the database takes too long: the caller waits for its last byte. */
  async #extendInTime(generation: LocalGeneration, used: Amount): Promise<Amount> {
    const { waitMs = DEFAULT_WAIT_MS } = this.#options;
    let isLate = false;
    const extending = this.#extend(generation, used, () => isLate);
    if (await isInTime(extending, waitMs * SETTLEMENT_SHARE)) return extending;
    isLate = true;
    extending.catch(() => {});
    throw new DatabaseUnavailable();
  }

  /**
   * Raises the reservation in the database, that of its slice if it has none of its own. What is raised after the
   * settlement has gone on without it is free in the slice, or released with the generation.
   */
  async #extend(generation: LocalGeneration, used: Amount, isLate: () => boolean): Promise<Amount> {
    const { generationId, scopes, limits, reserved, slice } = generation;
    const { slices, generations } = this.#options;
    const { database, clock } = this.#options.gateway();
    await this.#bookAccount(scopes.account);
    if (isLate()) throw new DatabaseUnavailable();
    const request = { id: slice ?? generationId, scopes, limits, amount: used };
    if (slice === undefined) return (await askExtension(database, request, undefined, clock)).charge;
    const byokNanos = used.byokNanos < reserved.byokNanos ? used.byokNanos : reserved.byokNanos;
    const part: Amount = { creditNanos: reserved.creditNanos, byokNanos };
    const { charge, isHeld } = await askExtension(database, request, part, clock);
    if (!isHeld) return charge;
    const more = minus(charge, part);
    slices.raised(slice, more);
    if (isLate()) slices.giveBack(slice, more);
    else generations.raise(generationId, plus(reserved, more));
    return charge;
  }

  /** Undefined when a generation that no limit covers should not wait for the database any longer. */
  async #reserveInTime(
    generation: NewGeneration,
    size: Size,
    isUnlimited: boolean,
  ): Promise<Reserved | undefined> {
    const { waitMs = DEFAULT_WAIT_MS } = this.#options;
    let isLate = false;
    const asked = this.#reserveBooked(generation, (headroom) => {
      // If the database reserves after this, the reservation ends with its generation, or by a sweep.
      if (isLate) throw new DatabaseUnavailable();
      return size(headroom);
    });
    try {
      if (await isInTime(asked, isUnlimited ? MAX_UNLIMITED_WAIT_MS : waitMs)) return await asked;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable && isUnlimited)) throw error;
    }
    isLate = true;
    asked.catch(() => {});
    if (isUnlimited) return undefined;
    throw withoutDatabase();
  }

  async #reserveBooked(generation: NewGeneration, size: Size): Promise<Reserved> {
    let last: Headroom = UNLIMITED;
    const ask = () =>
      reserveFor(this.#options.gateway(), generation, (headroom) => {
        this.#assertInTime(headroom);
        last = headroom;
        return size(headroom);
      });
    let outcome = await ask();
    if (!outcome.ok && (await this.#makeRoom(generation.scopes, outcome, last, size))) outcome = await ask();
    return { outcome, isUnlimited: isWithoutLimit(last) };
  }

  /** Throws for limited work while the clocks are far apart: its window would be uncertain. */
  #assertInTime(headroom: Headroom): void {
    const { aheadMs, isFarOff } = this.#options.clockWatch;
    if (!isFarOff || aheadMs === null || isWithoutLimit(headroom)) return;
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    throw new LedgerUnavailable(
      `the clock of this gateway is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the ` +
        'database; what a limit or a balance covers is not begun until it is right',
    );
  }

  /** Gives money back to the refusing limit that this gateway holds without need. False when it holds none. */
  async #makeRoom(
    scopes: ScopeIds,
    { refusal }: { readonly refusal: Refusal | null },
    headroom: Headroom | undefined,
    size: Size,
  ): Promise<boolean> {
    if (headroom === undefined || refusal === null) return false;
    const isReturned = await this.#options.slices.returnFree(scopes, refusal.scope);
    return (await this.#bookFor(scopes, refusal, headroom, size)) || isReturned;
  }

  /** Books unbooked ends that hold what the limit lacks. False when it would refuse all the same. */
  async #bookFor(scopes: ScopeIds, { scope }: Refusal, headroom: Headroom, size: Size): Promise<boolean> {
    const freed = freedByBooking(this.#options.generations.unbooked.values(), scopes, scope);
    if (freed === undefined) return false;
    const raised = raisedBy(headroom, freed);
    const amount = size(raised);
    const isHelpful = amount !== null && isAffordable(raised.affordable, amount);
    // `size` remembers its last call.
    if (!isHelpful) size(headroom);
    else await this.#options.booker.flush();
    return isHelpful;
  }

  async #bookAccount(accountId: string): Promise<void> {
    const { unbooked } = this.#options.generations;
    for (const { scopes } of unbooked.values()) {
      if (scopes.account === accountId) return this.#options.booker.flush();
    }
  }
}

/** Accepts a generation that no limit covers without a reservation. */
function reservedNowhere(size: Size): Reserved {
  const reserved = size(UNLIMITED);
  if (reserved === null) throw new RangeError('no limit applies, but `size` found too little');
  return { outcome: { ok: true, reserved }, isUnlimited: true };
}
