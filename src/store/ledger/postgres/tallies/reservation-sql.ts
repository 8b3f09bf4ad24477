import { type Kysely, sql } from 'kysely';
import type { Amount } from '../../../../ir/amount.ts';
import type { Limits, ScopeIds } from '../../../../ports/money/ledger.ts';
import type { LedgerTallyRow, Tables } from '../../../sql/tables.ts';
import { retryingConflicts } from '../../../sql/transact.ts';
import { limitsIn } from '../../books/limits.ts';
import type { DatabaseClock } from './database-clock.ts';
import { type TalliesAt, talliesByName, tallyKeysOf } from './tally-rows.ts';

export interface PayingScopes {
  readonly scopes: ScopeIds;
  readonly limits: Limits;
}

/** Begins the id of every slice, and of no generation. */
export const SLICE_PREFIX = 'slice-';

/** An amount to reserve, for a generation or a slice. */
export interface ReservationRequest extends PayingScopes {
  readonly id: string;
  readonly amount: Amount;
}

/** The gateway that reserves, and the lifetime of its reservations should it not return. */
export interface ReservationHolder {
  readonly gatewayId: string;
  readonly lastsMs: number;
}

/**
 * How a reservation is changed. `new`: for a generation that has none. `again`: in place of the one that it has.
 * `more`: adds to the one that it has.
 */
export type ReserveMode = 'new' | 'again' | 'more';

/**
 * `refused`: a limit forbids it. `known`: the generation has been accepted before. `missing`: there is no reservation
 * to add to.
 */
export type ReserveVerdict = 'reserved' | 'refused' | 'known' | 'missing';

export interface ReserveAnswer extends TalliesAt {
  readonly verdict: ReserveVerdict;
}

/**
 * Reserves in one round trip: locks the tallies of all scopes in order, adding missing ones, checks every limit, and
 * raises all tallies or none. It decides exactly as `refusalOf`: sums of windows that are expired by the database's
 * clock are zero, and an amount of zero passes every limit.
 */
export async function askReservation(
  database: Kysely<Tables>,
  mode: ReserveMode,
  request: ReservationRequest,
  holder: ReservationHolder,
  clock: DatabaseClock,
): Promise<ReserveAnswer> {
  const ask = {
    ...askOf(request),
    ...amountsOf(request.amount),
    gateway: holder.gatewayId,
    lasts_ms: holder.lastsMs,
  };
  const row = await call(database, mode, { ...ask, id: request.id, scopes: request.scopes }, clock);
  return { verdict: row.verdict as ReserveVerdict, ...talliesAtOf(row) };
}

/** Reads the tallies of a payer without locking them; those without a row are missing. */
export async function askTallies(
  database: Kysely<Tables>,
  payer: PayingScopes,
  clock: DatabaseClock,
): Promise<TalliesAt> {
  return talliesAtOf(await call(database, 'read', askOf(payer), clock));
}

/** Removes the reservation of a generation that was not accepted after all. */
export async function dropReservation(
  database: Kysely<Tables>,
  request: PayingScopes & Pick<ReservationRequest, 'id'>,
  clock: DatabaseClock,
): Promise<void> {
  await call(database, 'drop', { ...askOf(request), id: request.id }, clock);
}

/**
 * The charge of a use beyond its reservation: as far as the limits allow. Raises the reservation by as much, so that
 * the money is not reserved by others before it is booked. `held`: the part of a slice that belongs to this use;
 * absent = the whole reservation does.
 */
export async function askExtension(
  database: Kysely<Tables>,
  request: ReservationRequest,
  held: Amount | undefined,
  clock: DatabaseClock,
): Promise<{ readonly charge: Amount; readonly isHeld: boolean }> {
  const ask = { ...askOf(request), ...amountsOf(request.amount), id: request.id };
  const part = held === undefined ? {} : { held: amountsOf(held) };
  const row = await call(database, 'extend', { ...ask, ...part }, clock);
  return {
    charge: { creditNanos: BigInt(row.credit), byokNanos: BigInt(row.byok) },
    isHeld: row.verdict === 'reserved',
  };
}

interface AnswerRow {
  readonly verdict: string;
  readonly at_ms: string;
  readonly tallies: readonly LedgerTallyRow[];
  readonly credit: string;
  readonly byok: string;
}

async function call(
  database: Kysely<Tables>,
  mode: ReserveMode | 'read' | 'drop' | 'extend',
  ask: Readonly<Record<string, unknown>>,
  clock: DatabaseClock,
): Promise<AnswerRow> {
  const { rows } = await retryingConflicts(() =>
    sql<AnswerRow>`
      select * from ledger_reserve(${mode}::text, ${JSON.stringify(ask)}::text::jsonb, ${clock()})`.execute(
      database,
    ),
  );
  return rows[0] as AnswerRow;
}

function askOf({ scopes, limits }: PayingScopes) {
  return { keys: tallyKeysOf(scopes), limits: limitRowsOf(limits) };
}

export function limitRowsOf(limits: Limits) {
  return (['key', 'member', 'workspace'] as const).flatMap((scope) =>
    limitsIn(limits, scope).map(({ window, nanos, countsByok }) => ({
      scope,
      window,
      nanos: String(nanos),
      counts_byok: countsByok,
    })),
  );
}

/** Money as text: JSON numbers are not exact. */
function amountsOf({ creditNanos, byokNanos }: Amount) {
  return { credit: String(creditNanos), byok: String(byokNanos) };
}

function talliesAtOf({ tallies, at_ms }: AnswerRow): TalliesAt {
  return { tallies: talliesByName(tallies), atMs: Number(at_ms) };
}
