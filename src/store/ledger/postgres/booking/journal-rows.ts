import { type Kysely, sql, type Transaction } from 'kysely';
import { type Amount, NOTHING, plus } from '../../../../ir/amount.ts';
import type { Nanos } from '../../../../kit/money.ts';
import type { LedgerJournalRow, Tables } from '../../../sql/tables.ts';
import type { BookedEnds } from './booked-ends.ts';

/** Sums that a journal has booked for an account. Immutable. */
export interface BookedSums {
  readonly amount: Amount;
  readonly writtenOffNanos: Nanos;
  readonly generations: number;
}

/** Sums of several accounts. */
export class SumsByAccount {
  readonly #sums = new Map<string, BookedSums>();

  add(accountId: string, amount: Amount, writtenOffNanos: Nanos): void {
    const sums = this.#sums.get(accountId) ?? { amount: NOTHING, writtenOffNanos: 0n, generations: 0 };
    this.#sums.set(accountId, {
      amount: plus(sums.amount, amount),
      writtenOffNanos: sums.writtenOffNanos + writtenOffNanos,
      generations: sums.generations + 1,
    });
  }

  /** Rows of `ledger_booked`. Amounts are text, because JSON numbers are not exact. */
  rowsOf(gatewayId: string): Record<string, string | number>[] {
    return [...this.#sums].map(([account_id, { amount, writtenOffNanos, generations }]) => ({
      gateway_id: gatewayId,
      account_id,
      credit_nanos: String(amount.creditNanos),
      byok_nanos: String(amount.byokNanos),
      written_off_nanos: String(writtenOffNanos),
      generations,
    }));
  }
}

/** The database's row of a gateway's journal. */
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

/** Sets the run that owns a gateway's journal. */
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

/** Writes the booked ends of a gateway's journal, and adds to its sums. */
export async function writeJournal(
  transaction: Transaction<Tables>,
  gatewayId: string,
  { bookedTo, unbooked }: BookedEnds,
  sums: SumsByAccount,
): Promise<void> {
  const rows = JSON.stringify(sums.rowsOf(gatewayId));
  const list = JSON.stringify([...unbooked]);
  await sql`
    with added as (
      insert into ledger_booked as sums
        (gateway_id, account_id, credit_nanos, byok_nanos, written_off_nanos, generations)
      select gateway_id, account_id, credit_nanos, byok_nanos, written_off_nanos, generations
      from jsonb_populate_recordset(null::ledger_booked, ${rows}::text::jsonb)
      on conflict (gateway_id, account_id) do update set
        credit_nanos = sums.credit_nanos + excluded.credit_nanos,
        byok_nanos = sums.byok_nanos + excluded.byok_nanos,
        written_off_nanos = sums.written_off_nanos + excluded.written_off_nanos,
        generations = sums.generations + excluded.generations
    )
    insert into ledger_journals (gateway_id, booked_to, unbooked)
    values (${gatewayId}, ${String(bookedTo)}::bigint, ${list}::text::jsonb)
    on conflict (gateway_id) do update set booked_to = excluded.booked_to, unbooked = excluded.unbooked`.execute(
    transaction,
  );
}
