import { type Kysely, sql, type Transaction } from 'kysely';
import type { LedgerJournalRow, Tables } from '../../../sql/tables.ts';
import type { BookedEnds } from './booked-ends.ts';

export interface KnownJournal {
  readonly booked: BookedEnds;
  /** Owner token of the run that owns it; null = none recorded. */
  readonly owner: string | null;
}

/** Reads and locks the row of a gateway's journal for the transaction; undefined when there is none. */
export async function lockJournal(
  transaction: Transaction<Tables>,
  gatewayId: string,
): Promise<KnownJournal | undefined> {
  const { rows } = await sql<LedgerJournalRow>`
    select booked_to, unbooked::text as unbooked, owner from ledger_journals
    where gateway_id = ${gatewayId} for update`.execute(transaction);
  return rows[0] && { booked: bookedEndsOf(rows[0]), owner: rows[0].owner };
}

export async function writeOwner(
  transaction: Transaction<Tables>,
  gatewayId: string,
  owner: string | null,
): Promise<void> {
  await sql`update ledger_journals set owner = ${owner} where gateway_id = ${gatewayId}`.execute(transaction);
}

/** Booked ends of each gateway's journal, by gateway id. */
export async function readJournals(database: Kysely<Tables>): Promise<Map<string, BookedEnds>> {
  const { rows } = await sql<LedgerJournalRow>`
    select gateway_id, booked_to, unbooked::text as unbooked from ledger_journals`.execute(database);
  return new Map(rows.map((row) => [row.gateway_id, bookedEndsOf(row)]));
}

function bookedEndsOf({ booked_to, unbooked }: LedgerJournalRow): BookedEnds {
  return { bookedTo: Number(booked_to), unbooked: new Set(JSON.parse(unbooked) as number[]) };
}

export async function addJournalRow(
  transaction: Transaction<Tables>,
  gatewayId: string,
  { bookedTo, unbooked }: BookedEnds,
): Promise<void> {
  await sql`
    insert into ledger_journals (gateway_id, booked_to, unbooked)
    values (${gatewayId}, ${String(bookedTo)}::bigint, ${JSON.stringify([...unbooked])}::text::jsonb)`.execute(
    transaction,
  );
}
