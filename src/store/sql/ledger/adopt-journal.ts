import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import { transact } from '../transact.ts';
import type { JournalledEnd } from './apply-ends.ts';
import type { BookedEnds } from './booked-ends.ts';
import { lockJournal, SumsByAccount, writeJournal } from './journal-rows.ts';

/** The journal of a gateway as it was read back. */
export interface ReadJournal {
  readonly gatewayId: string;
  /** Of its last record. */
  readonly lastSequence: number;
  /** Ends that may not be booked yet. */
  readonly ends: readonly JournalledEnd[];
  /** Rows of generations that were settled before this moment are pruned. */
  readonly keptSinceMs: number;
}

/** What the database knows of a journal. */
export interface AdoptedJournal {
  readonly booked: BookedEnds;
  /** Ends without a row that count as booked, because retention has removed rows of their age. */
  readonly pruned: number;
  /** Accounts that gateways of an older version have booked something for, which is counted from now on. */
  readonly takenOver: number;
}

/** Gateways that are adopted at once take turns to count what older versions have booked: they agree on this number. */
const TAKE_OVER_LOCK = 7_305_619;

/**
 * Reads what of a gateway's journal is booked. A gateway that a version without journal rows has run gets its row here: what
 * has a row in `generations` is booked, and so is what is older than any row that is kept.
 */
export function adoptJournal(database: Kysely<Tables>, journal: ReadJournal): Promise<AdoptedJournal> {
  const adopt = async (transaction: Transaction<Tables>): Promise<AdoptedJournal> => {
    const booked = await lockJournal(transaction, journal.gatewayId);
    return booked === undefined ? addJournal(transaction, journal) : { booked, pruned: 0, takenOver: 0 };
  };
  return transact(database, adopt, 'read committed');
}

async function addJournal(
  transaction: Transaction<Tables>,
  { gatewayId, lastSequence, ends, keptSinceMs }: ReadJournal,
): Promise<AdoptedJournal> {
  const known = await knownIn(transaction, ends);
  const missing = ends.filter(({ generationId }) => !known.has(generationId));
  const waiting = missing.filter(({ settled }) => settled === undefined || settled.atMs >= keptSinceMs);
  const booked = { bookedTo: lastSequence, unbooked: new Set(waiting.map(({ sequence }) => sequence)) };
  // A gateway without records has never booked anything.
  const takenOver = lastSequence > 0 ? await takeOverSums(transaction) : 0;
  await writeJournal(transaction, gatewayId, booked, new SumsByAccount());
  return { booked, pruned: missing.length - waiting.length, takenOver };
}

/** The ids of those that have a row. */
async function knownIn(
  transaction: Transaction<Tables>,
  ends: readonly JournalledEnd[],
): Promise<ReadonlySet<string>> {
  const ids = JSON.stringify(ends.map(({ generationId }) => generationId));
  const { rows } = await sql<{ id: string }>`
    select id from generations
    where id in (select jsonb_array_elements_text(${ids}::text::jsonb))`.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Counts what older versions have booked since the tables were made: they know nothing of sums by journal, and gateways are
 * brought to a new version one after the other. Resolves with the number of accounts.
 */
async function takeOverSums(transaction: Transaction<Tables>): Promise<number> {
  await sql`select pg_advisory_xact_lock(${sql.lit(TAKE_OVER_LOCK)})`.execute(transaction);
  const { rows } = await sql`
    insert into ledger_booked as sums (gateway_id, account_id, credit_nanos, byok_nanos)
    select '', t.id, t.credit_lifetime - coalesce(b.credit, 0), t.byok_lifetime - coalesce(b.byok, 0)
    from ledger_tallies t
    left join (
      select account_id, sum(credit_nanos) as credit, sum(byok_nanos) as byok from ledger_booked group by account_id
    ) b on b.account_id = t.id
    where t.scope = 'account'
      and (t.credit_lifetime <> coalesce(b.credit, 0) or t.byok_lifetime <> coalesce(b.byok, 0))
    order by t.id
    on conflict (gateway_id, account_id) do update set
      credit_nanos = sums.credit_nanos + excluded.credit_nanos,
      byok_nanos = sums.byok_nanos + excluded.byok_nanos
    returning account_id`.execute(transaction);
  return rows.length;
}
