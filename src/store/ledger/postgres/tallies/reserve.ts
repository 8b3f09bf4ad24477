import type { Kysely, Transaction } from 'kysely';
import { type Amount, assertAmount, isSameAmount, NOTHING } from '../../../../ir/amount.ts';
import { windowsAt } from '../../../../kit/time/windows.ts';
import type {
  Headroom,
  NewGeneration,
  ReserveOutcome,
  TopUpOutcome,
} from '../../../../ports/money/ledger.ts';
import type { Tables } from '../../../sql/tables.ts';
import { transact } from '../../../sql/transact.ts';
import { headroomWithin, refusalOf, tooLittle } from '../../books/limits.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { KnownTallies } from './known-tallies.ts';
import {
  askReservation,
  askTallies,
  dropReservation,
  type PayingScopes,
  type ReservationHolder,
  type ReserveMode,
} from './reservation-sql.ts';
import { lockTallies, standingsOf, type TalliesAt, tallyKeysOf } from './tally-rows.ts';

/** The database, and how a gateway reserves in it. */
export interface ReservingGateway extends ReservationHolder {
  readonly database: Kysely<Tables>;
  readonly clock: DatabaseClock;
  readonly known: KnownTallies;
}

/** Returns the amount for a headroom; null = too little. */
type Size = (headroom: Headroom) => Amount | null;

/** Attempts before the tallies are locked. */
const QUICK_TRIES = 4;

/** Suffices, because tallies are locked before they are read. */
const LOCKING = 'read committed';

/**
 * Reserves for a new generation, usually in one round trip: the amount is guessed from the tallies that were seen last,
 * and stays if `size` returns the same for those that the database answers with. If `size` throws then, nothing stays
 * reserved, so that the generation can be reserved again.
 */
export async function reserveFor(
  gateway: ReservingGateway,
  generation: NewGeneration,
  size: Size,
): Promise<ReserveOutcome> {
  const { database, known } = gateway;
  const attempt = new ReserveAttempt(gateway, database, generation, size);
  let basis: Basis = { ...known.guess(generation.scopes), isGuess: true };
  try {
    for (let tries = 0; tries < QUICK_TRIES; tries++) {
      const next = await attempt.try(basis);
      if ('ok' in next) return next;
      basis = next;
    }
    return await transact(
      database,
      (transaction) => reserveLocked(gateway, transaction, generation, size),
      LOCKING,
    );
  } catch (error) {
    // If the database does not answer, a sweep releases it.
    await attempt.drop().catch(() => {});
    throw error;
  }
}

/** Locks the tallies first, so that nothing can change between sizing and reserving. */
async function reserveLocked(
  gateway: ReservingGateway,
  transaction: Transaction<Tables>,
  generation: NewGeneration,
  size: Size,
): Promise<ReserveOutcome> {
  const attempt = new ReserveAttempt(gateway, transaction, generation, size, 'again');
  let basis: Basis = {
    ...(await lockTallies(transaction, tallyKeysOf(generation.scopes), gateway.clock)),
    isGuess: false,
  };
  for (let tries = 0; tries < QUICK_TRIES; tries++) {
    const next = await attempt.try(basis);
    // Another one is needed only if the clock was set back across the end of a window in between.
    if ('ok' in next) return next;
    basis = next;
  }
  throw new Error('tallies changed although they were locked');
}

/** Tallies that an amount is sized by: those that the database has just shown, or a guess. */
interface Basis extends TalliesAt {
  readonly isGuess: boolean;
}

class ReserveAttempt {
  readonly #gateway: ReservingGateway;
  readonly #database: Kysely<Tables>;
  readonly #generation: NewGeneration;
  readonly #size: Size;
  #mode: ReserveMode;
  /** The database has reserved an amount in one of the attempts. */
  #isReserved = false;

  constructor(
    gateway: ReservingGateway,
    database: Kysely<Tables>,
    generation: NewGeneration,
    size: Size,
    mode: ReserveMode = 'new',
  ) {
    this.#gateway = gateway;
    this.#database = database;
    this.#generation = generation;
    this.#size = size;
    this.#mode = mode;
  }

  /** Reserves in one round trip. Resolves with the outcome, or with the basis of the next attempt. */
  async try(basis: Basis): Promise<ReserveOutcome | Basis> {
    const { clock } = this.#gateway;
    const { generationId: id, scopes, limits } = this.#generation;
    const sized = sizedBy(this.#generation, basis, this.#size);
    if (!sized.ok) {
      // A guess never refuses a request.
      if (basis.isGuess) return this.#noted(await askTallies(this.#database, this.#generation, clock));
      if (this.#mode === 'again') await dropReservation(this.#database, { id, scopes, limits }, clock);
      return sized;
    }
    const request = { id, scopes, limits, amount: sized.reserved };
    const answer = await askReservation(this.#database, this.#mode, request, this.#gateway, clock);
    const seen = this.#noted(answer, answer.verdict === 'reserved' ? sized.reserved : NOTHING);
    if (answer.verdict === 'known') throw new RangeError(`generation ${id} has been accepted before`);
    if (answer.verdict !== 'reserved') return seen;
    this.#isReserved = true;
    if (!basis.isGuess) return sized;
    const confirmed = sizedBy(this.#generation, seen, this.#size);
    if (confirmed.ok && isSameAmount(confirmed.reserved, sized.reserved)) return confirmed;
    this.#mode = 'again';
    return seen;
  }

  /** Releases what an attempt has reserved. Rejects with DatabaseUnavailable. */
  async drop(): Promise<void> {
    const { generationId: id, scopes, limits } = this.#generation;
    if (this.#isReserved) await dropReservation(this.#database, { id, scopes, limits }, this.#gateway.clock);
  }

  #noted(answer: TalliesAt, more = NOTHING): Basis {
    this.#gateway.known.note(this.#generation.scopes, answer, more);
    return { tallies: answer.tallies, atMs: answer.atMs, isGuess: false };
  }
}

/** The amount that these tallies allow, or the limit that forbids it. */
function sizedBy({ scopes, limits }: PayingScopes, { tallies, atMs }: TalliesAt, size: Size): ReserveOutcome {
  const standings = standingsOf(scopes, limits, tallies, windowsAt(atMs));
  const amount = size(headroomWithin(standings));
  if (amount === null) return { ok: false, refusal: tooLittle(standings) };
  assertAmount(amount);
  const refusal = refusalOf(standings, amount);
  return refusal === undefined ? { ok: true, reserved: amount } : { ok: false, refusal };
}

/**
 * Reserves more for a generation or a slice that has a reservation. The refusal is null when the reservation was
 * released, or others keep taking the money.
 */
export async function reserveMoreFor(
  gateway: ReservingGateway,
  reserved: PayingScopes & { readonly id: string },
  size: Size,
): Promise<TopUpOutcome> {
  const { database, clock, known } = gateway;
  const { id, scopes, limits } = reserved;
  let basis = await askTallies(database, reserved, clock);
  for (let tries = 0; tries < QUICK_TRIES; tries++) {
    known.note(scopes, basis);
    const sized = sizedBy(reserved, basis, size);
    if (!sized.ok) return sized;
    const more = sized.reserved;
    const answer = await askReservation(
      database,
      'more',
      { id, scopes, limits, amount: more },
      gateway,
      clock,
    );
    if (answer.verdict === 'reserved') {
      known.note(scopes, answer, more);
      return { ok: true, more };
    }
    if (answer.verdict === 'missing') return { ok: false, refusal: null };
    basis = answer;
  }
  return { ok: false, refusal: null };
}
