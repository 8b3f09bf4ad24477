import { type Kysely, sql, type Transaction } from 'kysely';
import type { Nanos } from '../../../kit/money.ts';
import { windowsAt } from '../../../kit/windows.ts';
import type { AccountStatement, ForgettableScope, Scope, Spending } from '../../../ports/ledger.ts';
import { regranted } from '../../ledger/balance.ts';
import { NOTHING_SPENT, spendingAt } from '../../ledger/spending.ts';
import type { LedgerTallyRow, Tables } from '../tables.ts';
import { transact } from '../transact.ts';
import { type DatabaseClock, databaseClock } from './database-clock.ts';
import {
  emptyTally,
  lockTallies,
  nameOf,
  readTallies,
  type SqlTally,
  type TallyKey,
  tallyOf,
  writeTallies,
} from './tally-rows.ts';

/** What each of these has spent, in the order of the ids. */
export async function spendingIn(
  database: Kysely<Tables>,
  scope: Scope,
  ids: readonly string[],
  clock: DatabaseClock,
): Promise<Spending[]> {
  const keys = ids.map((id) => ({ scope, id }));
  const { tallies, atMs } = await readTallies(database, keys, clock);
  const windows = windowsAt(atMs);
  return keys.map((key) => spendingAt((tallies.get(nameOf(key)) ?? emptyTally(key)).spending, windows));
}

/** Sets what is left of an account's balance, and keeps that it was. */
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

/** Forgets what a key or a workspace has spent; nothing is kept of one that has nothing reserved either. */
export function forgetIn(database: Kysely<Tables>, scope: ForgettableScope, id: string): Promise<void> {
  const forget = async (transaction: Transaction<Tables>) => {
    const tally = await lockOne(transaction, { scope, id });
    await writeTallies(transaction, [{ ...tally, spending: NOTHING_SPENT }]);
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

/** The money of one account. */
export async function statementIn(database: Kysely<Tables>, accountId: string): Promise<AccountStatement> {
  const { rows } = await sql<AccountRow>`
    select t.*, b.booked, b.written_off
    from ledger_tallies t cross join lateral (
      select coalesce(sum(credit_nanos), 0) as booked, coalesce(sum(written_off_nanos), 0) as written_off
      from ${BOOKED} where account_id = t.id
    ) b
    where t.scope = 'account' and t.id = ${accountId}`.execute(database);
  const [row] = rows;
  if (row === undefined)
    return statementOf(emptyTally({ scope: 'account', id: accountId }), 0n, NOTHING_BOOKED);
  const tally = tallyOf(row);
  return statementOf(tally, tally.reserved.creditNanos, bookedOf(row));
}

/** What was booked: sums by journal, and rows of gateways of an older version, which are in none of them. */
const BOOKED = sql`(
  select account_id, credit_nanos, written_off_nanos from ledger_booked
  union all
  select account_id, credit_nanos, written_off_nanos from generations where booked_by is null
) as booked`;

/** A tally with what journals have booked for its account. */
type AccountRow = LedgerTallyRow & { readonly booked: string; readonly written_off: string };

/** What journals have booked for an account, nano-dollars. */
interface BookedNanos {
  readonly charged: Nanos;
  readonly writtenOff: Nanos;
}

const NOTHING_BOOKED: BookedNanos = { charged: 0n, writtenOff: 0n };

function bookedOf({ booked, written_off }: AccountRow): BookedNanos {
  return { charged: BigInt(booked), writtenOff: BigInt(written_off) };
}

/** What the tables say about money as a whole. */
export interface Totals {
  readonly accounts: readonly AccountStatement[];
  /** Of all gateways. */
  readonly openReservations: number;
  readonly generations: number;
}

/** The money of all accounts that have any, with reservations summed anew, as of one moment. */
export function totalsIn(database: Kysely<Tables>): Promise<Totals> {
  const read = async (transaction: Transaction<Tables>): Promise<Totals> => {
    const accounts = await sql<AccountRow & { held: string }>`
      select t.*, coalesce(r.held, 0) as held, coalesce(b.booked, 0) as booked,
        coalesce(b.written_off, 0) as written_off
      from ledger_tallies t
      left join (
        select account_id, sum(credit_nanos) as held from ledger_reservations group by account_id
      ) r on r.account_id = t.id
      left join (
        select account_id, sum(credit_nanos) as booked, sum(written_off_nanos) as written_off
        from ${BOOKED} group by account_id
      ) b on b.account_id = t.id
      where t.scope = 'account' order by t.id collate "C"`.execute(transaction);
    const counted = await sql<{ reservations: string; generations: string }>`
      select
        (select count(*) from ledger_reservations) as reservations,
        (select count(*) from generations) as generations`.execute(transaction);
    return {
      accounts: accounts.rows
        .map((row) => statementOf(tallyOf(row), BigInt(row.held), bookedOf(row)))
        .filter((statement) => hasMoney(statement)),
      openReservations: Number(counted.rows[0]?.reservations),
      generations: Number(counted.rows[0]?.generations),
    };
  };
  return transact(database, read, 'repeatable read');
}

async function lockOne(transaction: Transaction<Tables>, key: TallyKey): Promise<SqlTally> {
  const { tallies } = await lockTallies(transaction, [key], databaseClock);
  return tallies.get(nameOf(key)) ?? emptyTally(key);
}

function statementOf(
  { id, spending, balance }: SqlTally,
  reservedNanos: Nanos,
  booked: BookedNanos,
): AccountStatement {
  const { grantedNanos, isEnforced, leftNanos } = balance;
  const settledNanos = spending.credit.lifetime;
  const missingNanos = grantedNanos - settledNanos - reservedNanos - leftNanos;
  const differenceNanos = missingNanos === 0n ? booked.charged - settledNanos : missingNanos;
  return {
    accountId: id,
    grantedNanos: isEnforced ? grantedNanos : null,
    settledNanos,
    reservedNanos,
    leftNanos: isEnforced ? leftNanos : null,
    writtenOffNanos: booked.writtenOff,
    differenceNanos,
    fault: differenceNanos === 0n ? null : missingNanos === 0n ? 'journals' : 'equation',
  };
}

/** One that only ever wrote something off has money too. */
function hasMoney(statement: AccountStatement): boolean {
  const { grantedNanos, settledNanos, reservedNanos, writtenOffNanos, differenceNanos } = statement;
  return (
    grantedNanos !== null ||
    [settledNanos, reservedNanos, writtenOffNanos, differenceNanos].some((nanos) => nanos !== 0n)
  );
}
