import type { Amount } from '../../../../ir/amount.ts';
import { isInTime } from '../../../../kit/loop/is-in-time.ts';
import {
  type Affordable,
  type Headroom,
  LedgerUnavailable,
  type NewGeneration,
  type Refusal,
  type ReserveOutcome,
  type ScopeIds,
  type TopUpOutcome,
} from '../../../../ports/ledger.ts';
import { DatabaseUnavailable } from '../../../sql/database-unavailable.ts';
import type { Booker } from '../booking/booker.ts';
import type { LocalGeneration, LocalGenerations } from '../booking/local-generations.ts';
import type { ClockWatch } from '../clock-watch.ts';
import { withoutDatabase } from '../ledger-unavailable.ts';
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
}

/** A reservation, or the limit that forbids it. */
export interface Reserved {
  readonly outcome: ReserveOutcome;
  /** No limit, budget or balance applied. */
  readonly isUnlimited: boolean;
}

/** How long a request waits for the database in all, milliseconds. */
const MAX_WAIT_MS = 8_000;

/** The same if it can begin without the database, milliseconds. */
const MAX_UNLIMITED_WAIT_MS = 1_000;

const NO_LIMIT: Affordable = { creditNanos: null, totalNanos: null };
const UNLIMITED: Headroom = { affordable: NO_LIMIT, unspent: NO_LIMIT };

/**
 * Decides where the money of a generation is reserved. The database decides; while it does not answer, only generations
 * begin that no limit covered when it answered last.
 */
export class Reserver {
  readonly #options: ReserverOptions;

  constructor(options: ReserverOptions) {
    this.#options = options;
  }

  /** Reserves for a new generation. Rejects with LedgerUnavailable or DatabaseUnavailable. */
  async reserve(generation: NewGeneration, size: (headroom: Headroom) => Amount | null): Promise<Reserved> {
    const isUnlimited = this.#options.gateway().known.isUnlimited(generation);
    if (!this.#options.isUp()) {
      if (isUnlimited) return reservedNowhere(size);
      throw withoutDatabase();
    }
    let isLate = false;
    const asked = this.#reserveBooked(generation, (headroom) => {
      // If the database reserves after this, the reservation ends with its generation, or by a sweep.
      if (isLate) throw new DatabaseUnavailable();
      return size(headroom);
    });
    try {
      if (await isInTime(asked, isUnlimited ? MAX_UNLIMITED_WAIT_MS : MAX_WAIT_MS)) return await asked;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable && isUnlimited)) throw error;
    }
    isLate = true;
    asked.catch(() => {});
    if (isUnlimited) return reservedNowhere(size);
    throw withoutDatabase();
  }

  /** Reserves more for an open generation; the refusal is null while the database does not answer. */
  async reserveMore(
    generation: LocalGeneration,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<TopUpOutcome> {
    const { generationId: id, scopes, limits } = generation;
    let last: Headroom | undefined;
    const ask = () =>
      reserveMoreFor(this.#options.gateway(), { id, scopes, limits }, (headroom) => {
        last = headroom;
        return size(headroom);
      });
    try {
      const outcome = await ask();
      return !outcome.ok && (await this.#bookFor(scopes, outcome, last, size)) ? await ask() : outcome;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return { ok: false, refusal: null };
      throw error;
    }
  }

  /**
   * The charge of a generation. Beyond its reservation only what the limits leave is charged; nothing beyond it while
   * the database does not answer. A generation without limits is charged in full then: booking checks a balance that is
   * enforced by that time.
   */
  async chargeFor(generation: LocalGeneration, used: Amount): Promise<Amount> {
    const { generationId: id, scopes, limits, reserved, isUnlimited } = generation;
    if (used.creditNanos <= reserved.creditNanos) return used;
    const { database, clock } = this.#options.gateway();
    try {
      await this.#bookAccount(scopes.account);
      const request = { id, scopes, limits, amount: used };
      return (await askExtension(database, request, undefined, clock)).charge;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      return isUnlimited ? used : { creditNanos: reserved.creditNanos, byokNanos: used.byokNanos };
    }
  }

  async #reserveBooked(
    generation: NewGeneration,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<Reserved> {
    let last: Headroom = UNLIMITED;
    const ask = () =>
      reserveFor(this.#options.gateway(), generation, (headroom) => {
        this.#assertInTime(headroom);
        last = headroom;
        return size(headroom);
      });
    let outcome = await ask();
    if (!outcome.ok && (await this.#bookFor(generation.scopes, outcome, last, size))) outcome = await ask();
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

  /**
   * Books unbooked ends whose reservations hold what the refusing limit lacks. False when it would refuse all the same.
   */
  async #bookFor(
    scopes: ScopeIds,
    { refusal }: { readonly refusal: Refusal | null },
    headroom: Headroom | undefined,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<boolean> {
    if (headroom === undefined || refusal === null) return false;
    const freed = freedByBooking(this.#options.generations.unbooked.values(), scopes, refusal.scope);
    if (freed === undefined) return false;
    const raised = raisedBy(headroom, freed);
    const amount = size(raised);
    const isHelpful = amount !== null && isWithin(raised.affordable, amount);
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

function reservedNowhere(size: (headroom: Headroom) => Amount | null): Reserved {
  const reserved = size(UNLIMITED);
  if (reserved === null) throw new RangeError('no limit applies, but `size` found too little');
  return { outcome: { ok: true, reserved }, isUnlimited: true };
}

function isWithoutLimit({ affordable: { creditNanos, totalNanos } }: Headroom): boolean {
  return creditNanos === null && totalNanos === null;
}

function raisedBy({ affordable, unspent }: Headroom, { creditNanos, byokNanos }: Amount): Headroom {
  const { creditNanos: credit, totalNanos: total } = affordable;
  return {
    affordable: {
      creditNanos: credit === null ? null : credit + creditNanos,
      totalNanos: total === null ? null : total + creditNanos + byokNanos,
    },
    unspent,
  };
}

function isWithin({ creditNanos, totalNanos }: Affordable, amount: Amount): boolean {
  if (creditNanos !== null && amount.creditNanos > creditNanos) return false;
  return totalNanos === null || amount.creditNanos + amount.byokNanos <= totalNanos;
}
