import { type Kysely, sql, type Transaction } from 'kysely';
import type { Nanos } from '../../../../kit/money.ts';
import { windowsAt } from '../../../../kit/time/windows.ts';
import { classifierKey } from '../../../../ports/following/classifiers.ts';
import type { ForgettableScope, Scope, Spending } from '../../../../ports/money/ledger.ts';
import type { Tables } from '../../../sql/tables.ts';
import { transact } from '../../../sql/transact.ts';
import { regranted } from '../../books/balance.ts';
import { NOTHING_SPENT, spendingAt } from '../../books/spending.ts';
import { type DatabaseClock, databaseClock } from './database-clock.ts';
import {
  emptyTally,
  lockTallies,
  NEXT_TRANSACTION,
  readTallies,
  type SqlTally,
  type TallyKey,
  tallyName,
  writeTallies,
} from './tally-rows.ts';

/** Spending of each id, in order. */
export async function spendingIn(
  database: Kysely<Tables>,
  scope: Scope,
  ids: readonly string[],
  clock: DatabaseClock,
): Promise<Spending[]> {
  const keys = ids.map((id) => ({ scope, id }));
  const { tallies, atMs } = await readTallies(database, keys, clock);
  const windows = windowsAt(atMs);
  return keys.map((key) => spendingAt((tallies.get(tallyName(key)) ?? emptyTally(key)).spending, windows));
}

export function grantIn(
  database: Kysely<Tables>,
  accountId: string,
  leftNanos: Nanos | null,
  atMs: number,
): Promise<void> {
  const grant = async (transaction: Transaction<Tables>) => {
    const tally = await lockOne(transaction, { scope: 'account', id: accountId });
    const grantedNanos = leftNanos === null ? null : tally.spending.credit.lifetime + leftNanos;
    const balance = regranted(tally.balance, grantedNanos);
    await sql`
      insert into ledger_grants (account_id, number, granted_nanos, granted_at_ms)
      select ${accountId}, coalesce(max(number), 0) + 1,
        ${grantedNanos === null ? null : String(grantedNanos)}::numeric, ${atMs}::bigint
      from ledger_grants where account_id = ${accountId}`.execute(transaction);
    await writeTallies(transaction, [{ ...tally, balance }]);
  };
  return transact(database, grant, 'read committed');
}

/** Forgets the spending of a key or a workspace; removes its tally unless it has reservations. */
export function forgetIn(database: Kysely<Tables>, scope: ForgettableScope, id: string): Promise<void> {
  const forget = async (transaction: Transaction<Tables>) => {
    const tally = await lockOne(transaction, { scope, id });
    await writeTallies(transaction, [{ ...tally, spending: NOTHING_SPENT }]);
    await sql`update ledger_tallies set counted_from = ${NEXT_TRANSACTION}
      where scope = ${scope} and id = ${id}`.execute(transaction);
    await transaction
      .deleteFrom('ledger_tallies')
      .where('scope', '=', scope)
      .where('id', '=', id)
      .where('reserved_credit', '=', '0')
      .where('reserved_byok', '=', '0')
      .execute();
  };
  return transact(database, forget, 'read committed');
}

/**
 * Removes tallies of keys, classifiers and workspaces that no longer exist: a generation that was open when its key
 * was deleted begins a new sum. Skips tallies with reservations and locked ones. Resolves with the number removed.
 */
export async function forgetAbsent(database: Kysely<Tables>): Promise<number> {
  const { rows } = await sql`
    with absent as (
      select scope, id from ledger_tallies t
      where reserved_credit = 0 and reserved_byok = 0 and (
        (scope = 'key' and not exists (select from keys where hash = t.id)
          and not exists (select from classifiers where ${classifierKey('')} || classifiers.id = t.id))
        or (scope = 'workspace' and not exists (select from workspaces where workspaces.id = t.id))
      )
      for update skip locked
    )
    delete from ledger_tallies t using absent
    where t.scope = absent.scope and t.id = absent.id
    returning t.id`.execute(database);
  return rows.length;
}

async function lockOne(transaction: Transaction<Tables>, key: TallyKey): Promise<SqlTally> {
  const { tallies } = await lockTallies(transaction, [key], databaseClock);
  return tallies.get(tallyName(key)) ?? emptyTally(key);
}
