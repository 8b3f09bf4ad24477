import type { Kysely, Transaction } from 'kysely';
import { type Amount, assertAmount, minus, plus } from '../../../../ir/amount.ts';
import { windowsAt } from '../../../../kit/time/windows.ts';
import type { Headroom, NewGeneration, ReserveOutcome, TopUpOutcome } from '../../../../ports/ledger.ts';
import type { Tables } from '../../../sql/tables.ts';
import { transact } from '../../../sql/transact.ts';
import { chargeWithin, headroomWithin, refusalOf, tooLittle } from '../../books/limits.ts';
import type { OpenGeneration } from '../../books/open-generation.ts';
import type { DatabaseClock } from './database-clock.ts';
import { reserveMore, reserveNew } from './reservation-sql.ts';
import {
  addTallies,
  emptyTally,
  lockTallies,
  readTallies,
  type SqlTally,
  standingsOf,
  tallyKeysOf,
  tallyName,
  writeTallies,
} from './tally-rows.ts';

/** The gateway that reserves, and the lifetime of its reservations should it not return. */
export interface ReservationHolder {
  readonly gatewayId: string;
  readonly lastsMs: number;
}

/** Optimistic attempts before the tallies are locked. */
const QUICK_TRIES = 4;

/** Suffices, because tallies are locked before they are read. */
const LOCKING = 'read committed';

/** Reserves for a new generation: reads the headroom, calls `size`, and reserves the amount if it is still free. */
export async function reserveFor(
  database: Kysely<Tables>,
  generation: NewGeneration,
  size: (headroom: Headroom) => Amount | null,
  holder: ReservationHolder,
  clock: DatabaseClock,
): Promise<ReserveOutcome> {
  for (let tries = 0; tries < QUICK_TRIES; tries++) {
    const outcome = await reserveOnce(database, generation, size, holder, clock);
    if (outcome !== undefined) return outcome;
  }
  return transact(
    database,
    (transaction) => reserveLocked(transaction, generation, size, holder, clock),
    LOCKING,
  );
}

async function reserveLocked(
  transaction: Transaction<Tables>,
  generation: NewGeneration,
  size: (headroom: Headroom) => Amount | null,
  holder: ReservationHolder,
  clock: DatabaseClock,
): Promise<ReserveOutcome> {
  await lockTallies(transaction, tallyKeysOf(generation.scopes), clock);
  for (let tries = 0; tries < QUICK_TRIES; tries++) {
    const outcome = await reserveOnce(transaction, generation, size, holder, clock);
    // Undefined only if the clock was set back across the end of a window in between.
    if (outcome !== undefined) return outcome;
  }
  throw new Error('tallies changed although they were locked');
}

/** Undefined after a conflict with another reservation. */
async function reserveOnce(
  database: Kysely<Tables>,
  generation: NewGeneration,
  size: (headroom: Headroom) => Amount | null,
  holder: ReservationHolder,
  clock: DatabaseClock,
): Promise<ReserveOutcome | undefined> {
  const { generationId, scopes, limits } = generation;
  const keys = tallyKeysOf(scopes);
  const { tallies, atMs } = await readTallies(database, keys, clock);
  const standings = standingsOf(scopes, limits, tallies, windowsAt(atMs));
  const amount = size(headroomWithin(standings));
  if (amount === null) return { ok: false, refusal: tooLittle(standings) };
  assertAmount(amount);
  const refusal = refusalOf(standings, amount);
  if (refusal !== undefined) return { ok: false, refusal };
  if (tallies.size < keys.length) await addTallies(database, keys);
  const verdict = await reserveNew(database, { generationId, scopes, limits, amount }, holder, clock);
  if (verdict === 'known') throw new RangeError(`generation ${generationId} has been accepted before`);
  return verdict === 'reserved' ? { ok: true, reserved: amount } : undefined;
}

/** A generation that has a reservation. */
type Reserved = Pick<OpenGeneration, 'generationId' | 'scopes' | 'limits'>;

/** Reserves more, as `reserveFor` does for a new generation. The refusal is null when the reservation was released. */
export async function reserveMoreFor(
  database: Kysely<Tables>,
  generation: Reserved,
  size: (headroom: Headroom) => Amount | null,
  clock: DatabaseClock,
): Promise<TopUpOutcome> {
  for (let tries = 0; tries < QUICK_TRIES; tries++) {
    const outcome = await reserveMoreOnce(database, generation, size, clock);
    if (outcome !== undefined) return outcome;
  }
  const reserveLocked = async (transaction: Transaction<Tables>): Promise<TopUpOutcome> => {
    await lockTallies(transaction, tallyKeysOf(generation.scopes), clock);
    return (await reserveMoreOnce(transaction, generation, size, clock)) ?? { ok: false, refusal: null };
  };
  return transact(database, reserveLocked, LOCKING);
}

/** Undefined after a conflict, or when the reservation no longer exists. */
async function reserveMoreOnce(
  database: Kysely<Tables>,
  { generationId, scopes, limits }: Reserved,
  size: (headroom: Headroom) => Amount | null,
  clock: DatabaseClock,
): Promise<TopUpOutcome | undefined> {
  const { tallies, atMs } = await readTallies(database, tallyKeysOf(scopes), clock);
  const standings = standingsOf(scopes, limits, tallies, windowsAt(atMs));
  const more = size(headroomWithin(standings));
  if (more === null) return { ok: false, refusal: tooLittle(standings) };
  assertAmount(more);
  const refusal = refusalOf(standings, more);
  if (refusal !== undefined) return { ok: false, refusal };
  const isReserved = await reserveMore(database, { generationId, scopes, limits, amount: more }, clock);
  return isReserved ? { ok: true, more } : undefined;
}

/**
 * The charge of a generation that used more than was reserved: as far as the limits allow. Raises its reservation to
 * that amount, so that the money is not reserved by others before it is booked.
 */
export function extendReservation(
  database: Kysely<Tables>,
  generation: OpenGeneration,
  used: Amount,
  clock: DatabaseClock,
): Promise<Amount> {
  const { generationId, scopes, limits } = generation;
  const extend = async (transaction: Transaction<Tables>): Promise<Amount> => {
    const keys = tallyKeysOf(scopes);
    const { tallies, atMs } = await lockTallies(transaction, keys, clock);
    const row = await transaction
      .selectFrom('ledger_reservations')
      .select(['credit_nanos', 'byok_nanos'])
      .where('generation_id', '=', generationId)
      .executeTakeFirst();
    const reserved: Amount = {
      creditNanos: BigInt(row?.credit_nanos ?? 0),
      byokNanos: BigInt(row?.byok_nanos ?? 0),
    };
    const charge = chargeWithin(standingsOf(scopes, limits, tallies, windowsAt(atMs)), reserved, used);
    if (row === undefined) return charge;
    await transaction
      .updateTable('ledger_reservations')
      .set({ credit_nanos: String(charge.creditNanos), byok_nanos: String(charge.byokNanos) })
      .where('generation_id', '=', generationId)
      .execute();
    const more = minus(charge, reserved);
    await writeTallies(
      transaction,
      keys.map((key) => reserving(tallies.get(tallyName(key)) ?? emptyTally(key), more)),
    );
    return charge;
  };
  return transact(database, extend, LOCKING);
}

/** A tally with a changed reservation. */
function reserving(tally: SqlTally, more: Amount): SqlTally {
  const { scope, reserved, balance } = tally;
  return {
    ...tally,
    reserved: plus(reserved, more),
    balance: scope === 'account' ? { ...balance, leftNanos: balance.leftNanos - more.creditNanos } : balance,
  };
}
