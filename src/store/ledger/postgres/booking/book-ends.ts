import { type Kysely, sql } from 'kysely';
import type { Amount } from '../../../../ir/amount.ts';
import type { Nanos } from '../../../../kit/money.ts';
import type { Limits, ScopeIds } from '../../../../ports/money/ledger.ts';
import { generationRowOf } from '../../../sql/stores/sql-generation-store.ts';
import type { Tables } from '../../../sql/tables.ts';
import { retryingConflicts } from '../../../sql/transact.ts';
import { generationOfRecord, type SettleRecord } from '../../records/records.ts';
import type { DatabaseClock } from '../tallies/database-clock.ts';
import { limitRowsOf } from '../tallies/reservation-sql.ts';

/** The end of a generation: settled with a record, or released without one. */
export interface GenerationEnd {
  readonly generationId: string;
  /** Sequence of its record in the gateway's journal; undefined for a reservation that a sweep releases. */
  readonly sequence: number | undefined;
  readonly scopes: ScopeIds;
  /** The limits that it was accepted under. */
  readonly limits: Limits;
  readonly settled: SettleRecord | undefined;
  /** Id of the slice that pays for it; undefined = a reservation of its own, or none. */
  readonly slice?: string | undefined;
}

/** An end with a record in the gateway's journal. */
export interface JournalledEnd extends GenerationEnd {
  readonly sequence: number;
  /** What was reserved for it, as far as the gateway knows. */
  readonly reserved: Amount;
}

/** Ends of one gateway that are booked together. */
export interface Batch {
  readonly gatewayId: string;
  /** Owner token of the run that books; undefined = ownership is not checked. */
  readonly owner?: string | undefined;
  /** At most one end for each generation. */
  readonly ends: readonly GenerationEnd[];
  /** Sequences of other unbooked ends of the gateway, at least those before the last of the batch. */
  readonly waiting: readonly number[];
  readonly clock: DatabaseClock;
}

export interface Booking {
  /** Written off because reservations had been released before. */
  readonly releasedNanos: Nanos;
  readonly removed: number;
  /** Slices of ends in the batch that the database does not have. */
  readonly lostSlices: readonly string[];
}

/**
 * Books ends of a gateway's journal in one round trip: rows of generations, charges, released reservations, and the
 * journal's progress. An end that the journal's row counts as booked has no effect, even if its generation's row was
 * pruned. A generation that has a row is not charged again. Rejects with JournalTakenOver.
 */
export async function bookEnds(
  database: Kysely<Tables>,
  { gatewayId, owner, ends, waiting, clock }: Batch,
): Promise<Booking> {
  const list = JSON.stringify(ends.map(endRowOf));
  const { rows } = await retryingConflicts(() =>
    sql<{ verdict: string; released_nanos: string; removed: string; lost: readonly string[] }>`
      select * from ledger_book(
        ${gatewayId}::text, ${owner ?? null}::text, ${list}::text::jsonb, ${JSON.stringify(waiting)}::text::jsonb, ${clock()}
      )`.execute(database),
  );
  const [row] = rows;
  if (row?.verdict !== 'booked') throw new JournalTakenOver();
  return { releasedNanos: BigInt(row.released_nanos), removed: Number(row.removed), lostSlices: row.lost };
}

/** Reservations that a gateway releases. */
export interface Strays extends Pick<Batch, 'gatewayId' | 'owner' | 'clock'> {
  readonly strays: readonly GenerationEnd[];
}

/**
 * Releases reservations that no gateway will end. Resolves with the number released: some may have been booked
 * meanwhile. Rejects with JournalTakenOver, because they may belong to a running copy.
 */
export async function releaseStrays(
  database: Kysely<Tables>,
  { gatewayId, owner, strays, clock }: Strays,
): Promise<number> {
  return (await bookEnds(database, { gatewayId, owner, ends: strays, waiting: [], clock })).removed;
}

/** Another run of this gateway owns its journal: a copy of its data directory was started. */
export class JournalTakenOver extends Error {}

/** An end as `ledger_book` takes it. Amounts are text, because JSON numbers are not exact. */
function endRowOf({ generationId, sequence, scopes, limits, slice, settled }: GenerationEnd) {
  const { key, member = null, workspace, account } = scopes;
  return {
    id: generationId,
    sequence: sequence ?? null,
    key,
    member,
    workspace,
    account,
    limits: limitRowsOf(limits),
    slice: slice ?? null,
    row: settled === undefined ? null : tableRowOf(settled),
  };
}

function tableRowOf(record: SettleRecord) {
  const row = generationRowOf(generationOfRecord(record));
  return {
    ...row,
    credit_nanos: String(row.credit_nanos),
    byok_nanos: String(row.byok_nanos),
    written_off_nanos: String(row.written_off_nanos),
  };
}
