import { type Kysely, sql, type Transaction } from 'kysely';
import { type Amount, minus, NOTHING } from '../../../../ir/amount.ts';
import type { Nanos } from '../../../../kit/money.ts';
import { type WindowNumbers, windowsAt } from '../../../../kit/time/windows.ts';
import type { Limits, ScopeIds } from '../../../../ports/ledger.ts';
import { generationRowOf } from '../../../sql/stores/sql-generation-store.ts';
import type { Tables } from '../../../sql/tables.ts';
import { transact } from '../../../sql/transact.ts';
import { chargeWithin } from '../../books/limits.ts';
import { spend } from '../../books/spending.ts';
import { generationOfRecord, type SettleRecord } from '../../records/records.ts';
import type { DatabaseClock } from '../tallies/database-clock.ts';
import {
  emptyTally,
  lockTallies,
  type SqlTally,
  standingsOf,
  tallyKeysOf,
  tallyName,
  writeTallies,
} from '../tallies/tally-rows.ts';
import { isBooked, NONE_BOOKED, withBooked } from './booked-ends.ts';
import { type KnownJournal, lockJournal, SumsByAccount, writeJournal } from './journal-rows.ts';

/** The end of a generation: settled with a record, or released without one. */
export interface GenerationEnd {
  readonly generationId: string;
  /** Sequence of its record in the gateway's journal; undefined for a reservation that a sweep releases. */
  readonly sequence: number | undefined;
  readonly scopes: ScopeIds;
  /** The limits that it was accepted under. */
  readonly limits: Limits;
  readonly settled: SettleRecord | undefined;
}

/** An end with a record in the gateway's journal. */
export type JournalledEnd = GenerationEnd & { readonly sequence: number };

/** Ends of one gateway that are booked together. */
export interface Batch {
  readonly gatewayId: string;
  /** Owner token of the run that books; undefined = ownership is not checked. */
  readonly owner?: string | undefined;
  readonly ends: readonly JournalledEnd[];
  /** Sequences of other unbooked ends of the gateway, at least those before the last of the batch. */
  readonly waiting: readonly number[];
  readonly clock: DatabaseClock;
}

/** Result of booking a batch. */
export interface Booking {
  /** Written off because reservations had been released before. */
  readonly releasedNanos: Nanos;
}

/**
 * Books ends of a gateway's journal in one transaction: rows of generations, charges, released reservations, and the
 * journal's progress. An end that the journal's row counts as booked has no effect, even if its generation's row was
 * pruned. A generation that has a row is not charged again.
 */
export function bookEnds(database: Kysely<Tables>, batch: Batch): Promise<Booking> {
  return transact(database, (transaction) => book(transaction, batch), 'read committed');
}

/** Reservations that a gateway releases. */
export interface Strays extends Pick<Batch, 'gatewayId' | 'owner' | 'clock'> {
  readonly strays: readonly GenerationEnd[];
}

/**
 * Releases reservations that no gateway will end. Resolves with the number released: some may have been booked
 * meanwhile. Rejects with JournalTakenOver, because they may belong to a running copy.
 */
export function releaseStrays(
  database: Kysely<Tables>,
  { gatewayId, owner, strays, clock }: Strays,
): Promise<number> {
  const release = async (transaction: Transaction<Tables>) => {
    assertOwned(await lockJournal(transaction, gatewayId), owner);
    return (await apply(transaction, strays, clock, null)).released;
  };
  return transact(database, release, 'read committed');
}

/** Another run of this gateway owns its journal: a copy of its data directory was started. */
export class JournalTakenOver extends Error {}

function assertOwned(known: KnownJournal | undefined, owner: string | undefined): void {
  if (owner !== undefined && known !== undefined && known.owner !== owner) throw new JournalTakenOver();
}

async function book(
  transaction: Transaction<Tables>,
  { gatewayId, owner, ends, waiting, clock }: Batch,
): Promise<Booking> {
  const known = await lockJournal(transaction, gatewayId);
  assertOwned(known, owner);
  const before = known?.booked ?? NONE_BOOKED;
  const { sums, releasedNanos } = await apply(
    transaction,
    ends.filter(({ sequence }) => !isBooked(before, sequence)),
    clock,
    gatewayId,
  );
  const sequences = ends.map(({ sequence }) => sequence);
  await writeJournal(transaction, gatewayId, withBooked(before, sequences, waiting), sums);
  return { releasedNanos };
}

interface AppliedEnds extends Booking {
  readonly sums: SumsByAccount;
  /** Reservations that were removed. */
  readonly released: number;
}

/**
 * Applies ends in order. A record's charge is booked in full while its money is reserved. If the reservation was
 * released meanwhile, other generations may have used the money: then only what the limits leave is charged, and the
 * rest is written off.
 */
async function apply(
  transaction: Transaction<Tables>,
  ends: readonly GenerationEnd[],
  clock: DatabaseClock,
  gatewayId: string | null,
): Promise<AppliedEnds> {
  const sums = new SumsByAccount();
  let releasedNanos = 0n;
  let released = 0;
  if (ends.length === 0) return { sums, releasedNanos, released };
  const { tallies, atMs } = await lockTallies(transaction, uniqueKeys(ends), clock);
  const windows = windowsAt(atMs);
  const added = await addRows(transaction, ends, gatewayId, atMs);
  const reserved = await removeReservations(transaction, ends);
  const corrected: SettleRecord[] = [];
  for (const end of ends) {
    const held = reserved.get(end.generationId) ?? NOTHING;
    if (reserved.delete(end.generationId)) released += 1;
    const journalled = end.settled !== undefined && added.delete(end.generationId) ? end.settled : undefined;
    const record = journalled && chargedWithin(journalled, end, held, { tallies, windows });
    if (record !== undefined) sums.add(end.scopes.account, record.charge, record.writtenOffNanos);
    if (journalled !== undefined && record !== undefined && record !== journalled) {
      corrected.push(record);
      releasedNanos += journalled.charge.creditNanos - record.charge.creditNanos;
    }
    for (const key of tallyKeysOf(end.scopes)) {
      tallies.set(
        tallyName(key),
        tallyAfterEnd(tallies.get(tallyName(key)) ?? emptyTally(key), held, record?.charge, windows),
      );
    }
  }
  await writeTallies(transaction, [...tallies.values()]);
  await correctRows(transaction, corrected);
  return { sums, releasedNanos, released };
}

/** The record, with a lower charge if the limits demand it. */
function chargedWithin(
  record: SettleRecord,
  { scopes, limits }: GenerationEnd,
  held: Amount,
  { tallies, windows }: { readonly tallies: ReadonlyMap<string, SqlTally>; readonly windows: WindowNumbers },
): SettleRecord {
  if (record.charge.creditNanos <= held.creditNanos) return record;
  const standings = standingsOf(scopes, limits, tallies, windows);
  const charge = chargeWithin(standings, held, record.charge);
  const releasedNanos = record.charge.creditNanos - charge.creditNanos;
  if (releasedNanos === 0n) return record;
  return {
    ...record,
    charge,
    writtenOffNanos: record.writtenOffNanos + releasedNanos,
    writtenOffCause: 'released',
  };
}

/** Corrects the amounts of rows that this transaction has added. */
async function correctRows(
  transaction: Transaction<Tables>,
  records: readonly SettleRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const rows = JSON.stringify(
    records.map(({ generationId, charge, writtenOffNanos, writtenOffCause }) => ({
      id: generationId,
      credit_nanos: String(charge.creditNanos),
      written_off_nanos: String(writtenOffNanos),
      written_off_cause: writtenOffCause,
    })),
  );
  await sql`
    update generations g set
      credit_nanos = changed.credit_nanos,
      written_off_nanos = changed.written_off_nanos,
      written_off_cause = changed.written_off_cause
    from jsonb_populate_recordset(null::generations, ${rows}::text::jsonb) as changed
    where g.id = changed.id`.execute(transaction);
}

function uniqueKeys(ends: readonly GenerationEnd[]) {
  const keys = new Map(ends.flatMap(({ scopes }) => tallyKeysOf(scopes)).map((key) => [tallyName(key), key]));
  return [...keys.values()];
}

/** Adds rows of settled generations. Resolves with the ids that had none before. */
async function addRows(
  transaction: Transaction<Tables>,
  ends: readonly GenerationEnd[],
  gatewayId: string | null,
  bookedAtMs: number,
): Promise<Set<string>> {
  const settled = ends.flatMap(({ settled }) => settled ?? []);
  if (settled.length === 0) return new Set();
  const rows = settled.map((record) => {
    const { credit_nanos, byok_nanos, written_off_nanos, ...rest } = generationRowOf(
      generationOfRecord(record),
    );
    return {
      ...rest,
      credit_nanos: String(credit_nanos),
      byok_nanos: String(byok_nanos),
      written_off_nanos: String(written_off_nanos),
      booked_by: gatewayId,
      booked_at_ms: bookedAtMs,
    };
  });
  const columns = sql.join(Object.keys(rows[0] ?? {}).map((name) => sql.ref(name)));
  const added = await sql<{ id: string }>`
    insert into generations (${columns})
    select ${columns} from jsonb_populate_recordset(null::generations, ${JSON.stringify(rows)}::text::jsonb)
    on conflict (id) do nothing
    returning id`.execute(transaction);
  return new Set(added.rows.map(({ id }) => id));
}

/** Removes reservations. Resolves with their amounts by generation id. */
async function removeReservations(
  transaction: Transaction<Tables>,
  ends: readonly GenerationEnd[],
): Promise<Map<string, Amount>> {
  const ids = JSON.stringify(ends.map(({ generationId }) => generationId));
  const { rows } = await sql<{ generation_id: string; credit_nanos: string; byok_nanos: string }>`
    delete from ledger_reservations
    where generation_id in (select jsonb_array_elements_text(${ids}::text::jsonb))
    returning generation_id, credit_nanos, byok_nanos`.execute(transaction);
  return new Map(
    rows.map((row) => [
      row.generation_id,
      { creditNanos: BigInt(row.credit_nanos), byokNanos: BigInt(row.byok_nanos) },
    ]),
  );
}

/** A tally after an end. A charge counts in the window of its booking, by the clock of the database. */
function tallyAfterEnd(
  tally: SqlTally,
  held: Amount,
  charged: Amount | undefined,
  windows: WindowNumbers,
): SqlTally {
  const { scope, id, spending, reserved, balance } = tally;
  const charge = charged ?? NOTHING;
  return {
    scope,
    id,
    spending: charged === undefined ? spending : spend(spending, charge, windows),
    reserved: minus(reserved, held),
    balance:
      scope === 'account'
        ? { ...balance, leftNanos: balance.leftNanos + held.creditNanos - charge.creditNanos }
        : balance,
  };
}
