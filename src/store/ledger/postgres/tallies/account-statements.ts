import { type Kysely, sql, type Transaction } from 'kysely';
import { type Amount, NOTHING } from '../../../../ir/amount.ts';
import type { Nanos } from '../../../../kit/money.ts';
import { type AccountStatement, type BalanceLeft, hasMoney } from '../../../../ports/money/ledger.ts';
import type { LedgerTallyRow, Tables } from '../../../sql/tables.ts';
import { transact } from '../../../sql/transact.ts';
import { SLICE_PREFIX } from './reservation-sql.ts';
import { reservationFaults, type ScopeFault, sumFaults } from './scope-faults.ts';
import { emptyTally, type SqlTally, tallyOf } from './tally-rows.ts';

/** The money of one account. Reservations are taken from its tally; its keys and workspaces are not checked. */
export async function statementIn(database: Kysely<Tables>, accountId: string): Promise<AccountStatement> {
  const { rows } = await sql<AccountRow>`
    select t.*, known.id as account_id, b.*, ${LAST_GRANT} as last_grant
    from (select ${accountId}::text as id) known
    left join ledger_tallies t on t.scope = 'account' and t.id = known.id
    cross join lateral (select ${BOOKED_SUMS} from ${BOOKED} where account_id = known.id) b`.execute(
    database,
  );
  const account = accountOf(rows[0] as AccountRow);
  return statementOf(account, account.tally.reserved.creditNanos);
}

/** The enforced balances with the least left, least first. */
export async function balancesIn(database: Kysely<Tables>, limit: number): Promise<BalanceLeft[]> {
  const rows = await database
    .selectFrom('ledger_tallies')
    .select(['id', 'left_nanos'])
    .where('scope', '=', 'account')
    .where('is_enforced', '=', 1)
    .orderBy('left_nanos')
    .limit(limit)
    .execute();
  return rows.map(({ id, left_nanos }) => ({ accountId: id, leftNanos: BigInt(left_nanos) }));
}

/** Everything booked: sums by journal, and rows of older versions, which are in no sum. */
const BOOKED = sql`(
  select account_id, credit_nanos, byok_nanos, written_off_nanos from ledger_booked
  union all
  select account_id, credit_nanos, byok_nanos, written_off_nanos from generations where booked_by is null
) as booked`;

const BOOKED_SUMS = sql`
  coalesce(sum(credit_nanos), 0) as booked_credit,
  coalesce(sum(byok_nanos), 0) as booked_byok,
  coalesce(sum(written_off_nanos), 0) as written_off`;

/** Sum of the account's grants as of the last one; null = not enforced, or never granted. */
const LAST_GRANT = sql`(
  select granted_nanos from ledger_grants where account_id = known.id order by number desc limit 1
)`;

/** The tally of an account, with the sums that journals have booked and its last grant. */
type AccountRow = (LedgerTallyRow | Record<keyof LedgerTallyRow, null>) & {
  readonly account_id: string;
  readonly booked_credit: string;
  readonly booked_byok: string;
  readonly written_off: string;
  readonly last_grant: string | null;
};

interface KnownAccount {
  /** Empty when there is none. */
  readonly tally: SqlTally;
  /** There is no tally although something was booked or granted. */
  readonly hasLostTally: boolean;
  readonly booked: Amount;
  readonly writtenOffNanos: Nanos;
}

function accountOf(row: AccountRow): KnownAccount {
  const booked = { creditNanos: BigInt(row.booked_credit), byokNanos: BigInt(row.booked_byok) };
  const writtenOffNanos = BigInt(row.written_off);
  const hasHistory =
    row.last_grant !== null || booked.creditNanos + booked.byokNanos + writtenOffNanos !== 0n;
  return {
    tally: row.scope === null ? emptyTally({ scope: 'account', id: row.account_id }) : tallyOf(row),
    hasLostTally: row.scope === null && hasHistory,
    booked,
    writtenOffNanos,
  };
}

export interface Totals {
  readonly accounts: readonly AccountStatement[];
  /** Open reservations of all gateways, without slices. */
  readonly openReservations: number;
  readonly generations: number;
}

/**
 * The money of all accounts that have any, in one snapshot of the database, with reservations summed from their rows.
 * `sumsRows`: also compares sums with the rows of generations, which takes about four seconds per million rows.
 */
export function totalsIn(database: Kysely<Tables>, { sumsRows = true } = {}): Promise<Totals> {
  const read = async (transaction: Transaction<Tables>): Promise<Totals> => {
    const accounts = await sql<AccountRow & { held: string }>`
      select t.*, known.id as account_id, coalesce(r.held, 0) as held,
        coalesce(booked_credit, 0) as booked_credit, coalesce(booked_byok, 0) as booked_byok,
        coalesce(written_off, 0) as written_off, ${LAST_GRANT} as last_grant
      from (
        select id from ledger_tallies where scope = 'account'
        union select account_id from ledger_booked
        union select account_id from generations where booked_by is null
        union select account_id from ledger_grants
      ) known
      left join ledger_tallies t on t.scope = 'account' and t.id = known.id
      left join (
        select account_id, sum(credit_nanos) as held from ledger_reservations group by account_id
      ) r on r.account_id = known.id
      left join (
        select account_id, ${BOOKED_SUMS} from ${BOOKED} group by account_id
      ) b on b.account_id = known.id
      order by known.id collate "C"`.execute(transaction);
    const counted = await sql<{ reservations: string; generations: string }>`
      select
        (select count(*) from ledger_reservations where not starts_with(generation_id, ${SLICE_PREFIX})) as reservations,
        (select count(*) from generations) as generations`.execute(transaction);
    const scopeFaults = new Map([
      ...(sumsRows ? await sumFaults(transaction) : []),
      ...(await reservationFaults(transaction)),
    ]);
    const statements = accounts.rows.map((row) =>
      statementOf(accountOf(row), BigInt(row.held), scopeFaults.get(row.account_id)),
    );
    const known = new Set(statements.map(({ accountId }) => accountId));
    const astray = [...scopeFaults].filter(([id]) => !known.has(id));
    return {
      accounts: [
        ...statements.filter((statement) => hasMoney(statement)),
        ...astray.map(([id, fault]) => statementOf(nothingKnownOf(id), 0n, fault)),
      ],
      openReservations: Number(counted.rows[0]?.reservations),
      generations: Number(counted.rows[0]?.generations),
    };
  };
  return transact(database, read, 'repeatable read');
}

function nothingKnownOf(id: string): KnownAccount {
  const tally = emptyTally({ scope: 'account', id });
  return { tally, hasLostTally: false, booked: NOTHING, writtenOffNanos: 0n };
}

function statementOf(
  account: KnownAccount,
  reservedNanos: Nanos,
  scopeFault?: ScopeFault | undefined,
): AccountStatement {
  const { id, spending, balance } = account.tally;
  const { grantedNanos, isEnforced, leftNanos } = balance;
  return {
    accountId: id,
    grantedNanos: isEnforced ? grantedNanos : null,
    settledNanos: spending.credit.lifetime,
    reservedNanos,
    leftNanos: isEnforced ? leftNanos : null,
    writtenOffNanos: account.writtenOffNanos,
    ...(accountFault(account, reservedNanos) ?? scopeFault ?? NO_FAULT),
  };
}

type FoundFault = Pick<AccountStatement, 'fault' | 'differenceNanos'>;

const NO_FAULT: FoundFault = { fault: null, differenceNanos: 0n };

/** The first thing that is wrong with an account's own figures. */
function accountFault(
  { tally: { spending, balance }, hasLostTally, booked }: KnownAccount,
  reservedNanos: Nanos,
): FoundFault | undefined {
  const { grantedNanos, leftNanos } = balance;
  const settledNanos = spending.credit.lifetime;
  const differences: readonly FoundFault[] = [
    { fault: 'equation', differenceNanos: grantedNanos - settledNanos - reservedNanos - leftNanos },
    { fault: 'journals', differenceNanos: booked.creditNanos - settledNanos },
    { fault: 'byok', differenceNanos: booked.byokNanos - spending.byok.lifetime },
  ];
  if (hasLostTally) return { fault: 'tally', differenceNanos: booked.creditNanos };
  return differences.find(({ differenceNanos }) => differenceNanos !== 0n);
}
