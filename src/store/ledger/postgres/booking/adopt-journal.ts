import { type Kysely, sql, type Transaction } from 'kysely';
import type { Nanos } from '../../../../kit/money.ts';
import type { Tables } from '../../../sql/tables.ts';
import { transact } from '../../../sql/transact.ts';
import type { DatabaseClock } from '../tallies/database-clock.ts';
import type { JournalledEnd } from './book-ends.ts';
import type { BookedEnds } from './booked-ends.ts';
import { addJournalRow, type KnownJournal, lockJournal, writeOwner } from './journal-rows.ts';

/** The journal (outbox) of a gateway, as read at its start. */
export interface ReadJournal {
  readonly gatewayId: string;
  /** Owner token of this run, and tokens of earlier ones; undefined = ownership is not checked. */
  readonly owner: string | undefined;
  readonly earlierOwners: readonly string[];
  /** Sequence of its last record. */
  readonly lastSequence: number;
  /** Ends that may not be booked yet. */
  readonly ends: readonly JournalledEnd[];
  /** This gateway's retention removes rows of generations settled before this moment. */
  readonly keptSinceMs: number;
  readonly clock: DatabaseClock;
}

export interface AdoptedJournal {
  readonly booked: BookedEnds;
  /** Ends without a row that count as booked, because retention may have removed their rows. */
  readonly pruned: PrunedEnds;
}

/** Number of such ends, and the sum of the charges in their records. */
export interface PrunedEnds {
  readonly count: number;
  readonly creditNanos: Nanos;
}

const NO_PRUNED: PrunedEnds = { count: 0, creditNanos: 0n };

/** Shortest retention of any gateway: `retention.events_days` is at least 1. */
const MIN_KEPT_MS = 86_400_000;

/**
 * Reads which ends of a gateway's journal are booked, and takes ownership of the journal. A gateway whose last version
 * had no journal rows gets its row here: ends with a row in `generations` count as booked, and so do ends whose row
 * retention may have removed. `taken`: a copy of the data directory has run since, and keeps the id.
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
      known === undefined
        ? await addJournal(transaction, journal)
        : { booked: known.booked, pruned: NO_PRUNED };
    if (owner !== (known?.owner ?? null)) await writeOwner(transaction, gatewayId, owner);
    return adopted;
  };
  return transact(database, adopt, 'read committed');
}

/** Whether the journal belongs to a run that this data directory does not know: the run of a copy. */
function isOfAnother({ owner: known }: KnownJournal, { owner, earlierOwners }: ReadJournal): boolean {
  return owner !== undefined && known !== null && known !== owner && !earlierOwners.includes(known);
}

async function addJournal(
  transaction: Transaction<Tables>,
  { gatewayId, lastSequence, ends, keptSinceMs, clock }: ReadJournal,
): Promise<AdoptedJournal> {
  const traces = await tracesOf(transaction, ends, clock);
  const unbooked = new Set<number>();
  let pruned = NO_PRUNED;
  ends.forEach(({ sequence, settled }, index) => {
    const trace = traces[index];
    if (trace === undefined || trace.has_row) return;
    // A release costs nothing, and its reservation may still be there.
    if (settled === undefined || isUnbooked(trace, settled.atMs >= keptSinceMs)) unbooked.add(sequence);
    else {
      const creditNanos = pruned.creditNanos + settled.charge.creditNanos;
      pruned = { count: pruned.count + 1, creditNanos };
    }
  });
  const booked = { bookedTo: lastSequence, unbooked };
  await addJournalRow(transaction, gatewayId, booked);
  return { booked, pruned };
}

interface Trace {
  readonly has_row: boolean;
  /** Booking an end removes its reservation. */
  readonly has_reservation: boolean;
  /** Its account has charges. */
  readonly has_charges: boolean;
  /** A row exists that was settled no later: retention removes the oldest rows first. */
  readonly has_older_row: boolean;
  /** Too young for any gateway's retention. */
  readonly is_recent: boolean;
}

/** Whether an end without a row was certainly never booked. In doubt it is not charged again. */
function isUnbooked(trace: Trace, isKeptHere: boolean): boolean {
  if (trace.has_reservation || !trace.has_charges || trace.is_recent) return true;
  return isKeptHere && trace.has_older_row;
}

/** In the order of the ends. */
async function tracesOf(
  transaction: Transaction<Tables>,
  ends: readonly JournalledEnd[],
  clock: DatabaseClock,
): Promise<readonly Trace[]> {
  const list = JSON.stringify(
    ends.map(({ generationId, scopes, settled }) => ({
      id: generationId,
      account_id: scopes.account,
      settled_at_ms: settled?.atMs ?? null,
    })),
  );
  const { rows } = await sql<Trace>`
    select
      exists (select from generations g where g.id = ended.id) as has_row,
      exists (select from ledger_reservations r where r.generation_id = ended.id) as has_reservation,
      exists (
        select from ledger_tallies t where t.scope = 'account' and t.id = ended.account_id
          and (t.credit_lifetime > 0 or t.byok_lifetime > 0)
      ) as has_charges,
      coalesce(ended.settled_at_ms >= oldest.settled_at_ms, false) as has_older_row,
      coalesce(ended.settled_at_ms > ${clock()} - ${sql.lit(MIN_KEPT_MS)}, false) as is_recent
    from jsonb_array_elements(${list}::text::jsonb) with ordinality as listed(value, place)
    cross join lateral jsonb_to_record(listed.value) as ended(id text, account_id text, settled_at_ms bigint)
    cross join (select min(settled_at_ms) as settled_at_ms from generations) oldest
    order by listed.place`.execute(transaction);
  return rows;
}
