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
}

/**
 * Reads what of a gateway's journal is booked. A gateway that a version without journal rows has run gets its row here: what
 * has a row in `generations` is booked, and so is what is older than any row that is kept.
 */
export function adoptJournal(database: Kysely<Tables>, journal: ReadJournal): Promise<AdoptedJournal> {
  const adopt = async (transaction: Transaction<Tables>): Promise<AdoptedJournal> => {
    const booked = await lockJournal(transaction, journal.gatewayId);
    return booked === undefined ? addJournal(transaction, journal) : { booked, pruned: 0 };
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
  await writeJournal(transaction, gatewayId, booked, new SumsByAccount());
  return { booked, pruned: missing.length - waiting.length };
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
