import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import { transact } from '../transact.ts';
import type { JournalledEnd } from './apply-ends.ts';
import type { BookedEnds } from './booked-ends.ts';
import { type KnownJournal, lockJournal, SumsByAccount, takeJournal, writeJournal } from './journal-rows.ts';

/** The journal of a gateway as it was read back. */
export interface ReadJournal {
  readonly gatewayId: string;
  /** The run of the gateway that has it from now on, and earlier ones; undefined = not said, and not asked. */
  readonly owner: string | undefined;
  readonly earlierOwners: readonly string[];
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
 * has a row in `generations` is booked, and so is what is older than any row that is kept. `taken`: a copy of the gateway's
 * data directory has run since, and goes on under its id.
 */
export function adoptJournal(
  database: Kysely<Tables>,
  journal: ReadJournal,
): Promise<AdoptedJournal | 'taken'> {
  const { gatewayId, owner = null } = journal;
  const adopt = async (transaction: Transaction<Tables>): Promise<AdoptedJournal | 'taken'> => {
    const known = await lockJournal(transaction, gatewayId);
    if (known !== undefined && isOfAnother(known, journal)) return 'taken';
    const adopted =
      known === undefined ? await addJournal(transaction, journal) : { booked: known.booked, pruned: 0 };
    if (owner !== (known?.owner ?? null)) await takeJournal(transaction, gatewayId, owner);
    return adopted;
  };
  return transact(database, adopt, 'read committed');
}

/** A run that this data directory knows nothing of has it: that of a copy. */
function isOfAnother({ owner: known }: KnownJournal, { owner, earlierOwners }: ReadJournal): boolean {
  return owner !== undefined && known !== null && known !== owner && !earlierOwners.includes(known);
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
