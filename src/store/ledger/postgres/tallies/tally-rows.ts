import { type Kysely, sql } from 'kysely';
import { type Amount, NOTHING } from '../../../../ir/amount.ts';
import { LIMIT_WINDOWS, RESET_WINDOWS, type WindowNumbers } from '../../../../kit/time/windows.ts';
import type { Limits, Scope, ScopeIds, Spending, Sums } from '../../../../ports/money/ledger.ts';
import type { LedgerTallyRow, Tables, WholeNumber } from '../../../sql/tables.ts';
import { balanceLimits, type Grant, UNGRANTED } from '../../books/balance.ts';
import {
  countedNanos,
  countedScopes,
  idIn,
  limitsIn,
  type Standing,
  spentNanos,
} from '../../books/limits.ts';
import { NOTHING_SPENT, spendingAt } from '../../books/spending.ts';
import type { DatabaseClock } from './database-clock.ts';

/**
 * Spending and reservations of a key, a member, a workspace or an account; of an account also its balance. Immutable.
 */
export interface SqlTally {
  readonly scope: Scope;
  readonly id: string;
  readonly spending: Spending;
  readonly reserved: Amount;
  readonly balance: Grant;
}

export type TallyKey = Pick<SqlTally, 'scope' | 'id'>;

/** The tallies that a generation counts in, in lock order. */
export function tallyKeysOf(scopes: ScopeIds): TallyKey[] {
  return countedScopes(scopes).map((scope) => ({ scope, id: idIn(scopes, scope) }));
}

export function tallyName({ scope, id }: TallyKey): string {
  return `${scope} ${id}`;
}

export function emptyTally({ scope, id }: TallyKey): SqlTally {
  return { scope, id, spending: NOTHING_SPENT, reserved: NOTHING, balance: UNGRANTED };
}

/** Tallies by `tallyName`, and the database's time of reading, epoch milliseconds. */
export interface TalliesAt {
  readonly tallies: Map<string, SqlTally>;
  readonly atMs: number;
}

/** Reads tallies; those without a row are missing. */
export async function readTallies(
  database: Kysely<Tables>,
  keys: readonly TallyKey[],
  clock: DatabaseClock,
): Promise<TalliesAt> {
  const { rows } = await sql<{ at_ms: string } & (LedgerTallyRow | Record<keyof LedgerTallyRow, null>)>`
    select clock.at_ms, t.* from (select ${clock()} as at_ms) clock left join (${matching(keys)}) on true`.execute(
    database,
  );
  return {
    tallies: talliesByName(
      rows.filter((row): row is { at_ms: string } & LedgerTallyRow => row.scope !== null),
    ),
    atMs: Number(rows[0]?.at_ms),
  };
}

/** Reads and locks tallies, adding missing ones. All transactions lock in one order, which avoids deadlocks. */
export async function lockTallies(
  database: Kysely<Tables>,
  keys: readonly TallyKey[],
  clock: DatabaseClock,
): Promise<TalliesAt> {
  const locked = await lock(database, keys, clock);
  if (locked.tallies.size === new Set(keys.map(tallyName)).size) return locked;
  await addTallies(database, keys);
  return lock(database, keys, clock);
}

async function lock(
  database: Kysely<Tables>,
  keys: readonly TallyKey[],
  clock: DatabaseClock,
): Promise<TalliesAt> {
  const { rows } = await sql<LedgerTallyRow & { at_ms: string }>`
    select t.*, ${clock()} as at_ms from ${matching(keys)} order by ${LOCK_ORDER} for update of t`.execute(
    database,
  );
  return { tallies: talliesByName(rows), atMs: Number(rows[0]?.at_ms) };
}

export async function addTallies(database: Kysely<Tables>, keys: readonly TallyKey[]): Promise<void> {
  await sql`
    insert into ledger_tallies as t (scope, id)
    select t.scope, t.id from ${listed(keys)} order by ${LOCK_ORDER}
    on conflict do nothing`.execute(database);
}

/** Writes tallies that this transaction has locked. */
export async function writeTallies(database: Kysely<Tables>, tallies: readonly SqlTally[]): Promise<void> {
  const rows = JSON.stringify(tallies.map(rowOf));
  const assignments = COLUMNS.map((name) => sql`${sql.ref(name)} = changed.${sql.ref(name)}`);
  await sql`
    update ledger_tallies t set ${sql.join([...assignments, COUNTED_FROM])}
    from jsonb_populate_recordset(null::ledger_tallies, ${rows}::text::jsonb) as changed
    where t.scope = changed.scope and t.id = changed.id`.execute(database);
}

/**
 * A transaction id after all transactions that have begun. The tally is locked or visible by then, so bookings into a
 * forgotten tally of the same id belong to earlier transactions.
 */
export const NEXT_TRANSACTION = sql`pg_snapshot_xmax(pg_current_snapshot())`;

/** First transaction whose bookings are all in the sums: set by the first statement that writes to a tally. */
export const COUNTED_FROM = sql`counted_from = coalesce(t.counted_from, ${NEXT_TRANSACTION})`;

/** Remainders of all limits, in the order of the scopes. */
export function standingsOf(
  scopes: ScopeIds,
  limits: Limits,
  tallies: ReadonlyMap<string, SqlTally>,
  windows: WindowNumbers,
): Standing[] {
  return tallyKeysOf(scopes).flatMap((key) => {
    const { scope, balance, spending, reserved } = tallies.get(tallyName(key)) ?? emptyTally(key);
    const own = scope === 'account' ? balanceLimits(balance) : limitsIn(limits, scope);
    const current = spendingAt(spending, windows);
    return own.map((limit) => {
      const unspentNanos = limit.nanos - spentNanos(limit, current);
      return { scope, limit, unspentNanos, leftNanos: unspentNanos - countedNanos(limit, reserved) };
    });
  });
}

/** Narrowest scope first; ids by bytes, which is the same in every database. */
export const LOCK_ORDER = sql`
  array_position(array['key', 'member', 'workspace', 'account'], t.scope), t.id collate "C"`;

function listed(keys: readonly TallyKey[]) {
  const list = JSON.stringify(keys.map(({ scope, id }) => ({ scope, id })));
  return sql`jsonb_to_recordset(${list}::text::jsonb) as t(scope text, id text)`;
}

function matching(keys: readonly TallyKey[]) {
  const list = JSON.stringify(keys.map(({ scope, id }) => ({ scope, id })));
  return sql`ledger_tallies t join jsonb_to_recordset(${list}::text::jsonb) as wanted(scope text, id text)
    on t.scope = wanted.scope and t.id = wanted.id`;
}

/** Tallies from their rows, by `tallyName`. */
export function talliesByName(rows: readonly LedgerTallyRow[]): Map<string, SqlTally> {
  return new Map(rows.map(tallyOf).map((tally) => [tallyName(tally), tally]));
}

export function tallyOf(row: LedgerTallyRow): SqlTally {
  return {
    scope: row.scope as Scope,
    id: row.id,
    spending: {
      windows: {
        daily: Number(row.window_daily),
        weekly: Number(row.window_weekly),
        monthly: Number(row.window_monthly),
      },
      credit: sumsOf(row, 'credit'),
      byok: sumsOf(row, 'byok'),
    },
    reserved: { creditNanos: BigInt(row.reserved_credit), byokNanos: BigInt(row.reserved_byok) },
    balance: {
      grantedNanos: BigInt(row.granted_nanos),
      isEnforced: Number(row.is_enforced) === 1,
      leftNanos: BigInt(row.left_nanos),
    },
  };
}

function sumsOf(row: LedgerTallyRow, kind: 'credit' | 'byok'): Sums {
  const [daily, weekly, monthly, lifetime] = LIMIT_WINDOWS.map((window) => BigInt(row[`${kind}_${window}`]));
  return { daily: daily ?? 0n, weekly: weekly ?? 0n, monthly: monthly ?? 0n, lifetime: lifetime ?? 0n };
}

const COLUMNS = [
  ...RESET_WINDOWS.map((window) => `window_${window}`),
  ...LIMIT_WINDOWS.flatMap((window) => [`credit_${window}`, `byok_${window}`]),
  'reserved_credit',
  'reserved_byok',
  'granted_nanos',
  'is_enforced',
  'left_nanos',
];

/** Amounts are text, because JSON numbers are not exact. */
function rowOf({ scope, id, spending, reserved, balance }: SqlTally): Record<string, WholeNumber> {
  const { windows, credit, byok } = spending;
  return {
    scope,
    id,
    ...Object.fromEntries(RESET_WINDOWS.map((window) => [`window_${window}`, windows[window]])),
    ...Object.fromEntries(
      LIMIT_WINDOWS.flatMap((window) => [
        [`credit_${window}`, String(credit[window])],
        [`byok_${window}`, String(byok[window])],
      ]),
    ),
    reserved_credit: String(reserved.creditNanos),
    reserved_byok: String(reserved.byokNanos),
    granted_nanos: String(balance.grantedNanos),
    is_enforced: balance.isEnforced ? 1 : 0,
    left_nanos: String(balance.leftNanos),
  };
}
