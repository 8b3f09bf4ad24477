import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Nanos } from '../../../../kit/money.ts';
import { LIMIT_WINDOWS, RESET_WINDOWS } from '../../../../kit/time/windows.ts';
import type { Fault } from '../../../../ports/money/ledger.ts';
import type { Tables } from '../../../sql/tables.ts';
import { windowNumbersAt } from './database-clock.ts';

/** A fault in the tallies of an account, its workspaces or its keys. */
export interface ScopeFault {
  readonly fault: Extract<Fault, 'reservations' | 'sums'>;
  /** Largest difference among the tallies. `reservations`: rows - tally; `sums`: tally - rows. */
  readonly differenceNanos: Nanos;
}

/** Faults by the account's id. */
export type ScopeFaults = ReadonlyMap<string, ScopeFault>;

interface FaultRow {
  readonly account_id: string;
  readonly difference: string;
}

/**
 * Compares the reserved amount of each tally with the rows of its reservations. Every statement changes both, so they
 * are always equal. A tally whose key or workspace was deleted is reported under its own id.
 */
export async function reservationFaults(transaction: Transaction<Tables>): Promise<ScopeFaults> {
  const { rows } = await sql<FaultRow>`
    with held as (
      select of.scope, of.id, min(account_id) as account_id, sum(credit_nanos) as credit, sum(byok_nanos) as byok
      from ledger_reservations ${EACH_RESERVED_SCOPE} group by of.scope, of.id
    ),
    compared as (
      select
        coalesce(
          held.account_id, keys.account_id, workspaces.account_id,
          case when t.scope = 'member' then split_part(t.id, ':', 1) end, t.id
        ) as account_id,
        coalesce(held.credit, 0) - coalesce(t.reserved_credit, 0) as credit,
        coalesce(held.byok, 0) - coalesce(t.reserved_byok, 0) as byok
      from held full join ledger_tallies t on t.scope = held.scope and t.id = held.id
      left join keys on t.scope = 'key' and keys.hash = t.id
      left join workspaces on t.scope = 'workspace' and workspaces.id = t.id
    )
    ${largestOf(sql`
      select account_id, credit as difference from compared
      union all
      select account_id, byok from compared`)}`.execute(transaction);
  return faultsOf('reservations', rows);
}

/**
 * Compares the sums of each tally with the rows of generations booked into it. Windows never move back, so a row
 * booked in a window that the tally still has is part of that sum. The rows are a lower bound: retention removes them,
 * rows of older versions lack the time of booking, and spending before a deletion is forgotten.
 */
export async function sumFaults(transaction: Transaction<Tables>): Promise<ScopeFaults> {
  const windows = windowNumbersAt(sql`(day * ${DAY_MS})`);
  const shortfalls = LIMIT_WINDOWS.flatMap((window) => {
    const reset = RESET_WINDOWS.find((name) => name === window);
    const isIn = reset === undefined ? sql`true` : sql`${windows[reset]} = ${sql.ref(`t.window_${reset}`)}`;
    return (['credit', 'byok'] as const).map((kind) => {
      const rows = sql`coalesce(sum(${sql.ref(`days.${kind}`)}) filter (where ${isIn}), 0)`;
      return sql`${sql.ref(`t.${kind}_${window}`)} - ${rows}`;
    });
  });
  const { rows } = await sql<FaultRow>`
    with days as materialized (
      select account_id, workspace_id, key_hash, booked_at_ms / ${DAY_MS} as day,
        booked_in >= k.counted_from as is_of_key, booked_in >= w.counted_from as is_of_workspace,
        sum(credit_nanos) as credit, sum(byok_nanos) as byok
      from generations
      left join ledger_tallies k on k.scope = 'key' and k.id = key_hash
      left join ledger_tallies w on w.scope = 'workspace' and w.id = workspace_id
      where booked_at_ms is not null
      group by account_id, workspace_id, key_hash, day, is_of_key, is_of_workspace
    ),
    compared as (
      select min(account_id) as account_id, least(0, ${sql.join(shortfalls)}) as difference
      from days ${EACH_SCOPE}
      join ledger_tallies t on t.scope = of.scope and t.id = of.id
      where of.scope = 'account' or (of.scope = 'key' and is_of_key) or (of.scope = 'workspace' and is_of_workspace)
      group by t.scope, t.id
    )
    ${largestOf(sql`select account_id, difference from compared`)}`.execute(transaction);
  return faultsOf('sums', rows);
}

const DAY_MS = sql.lit(86_400_000);

/** Each row once for every tally that it counts in. */
const EACH_SCOPE = sql`cross join lateral (
  values ('key', key_hash), ('workspace', workspace_id), ('account', account_id)
) as of(scope, id)`;

/** `EACH_SCOPE` for reservations, which also count for the members that they name. */
const EACH_RESERVED_SCOPE = sql`cross join lateral (
  select * from (
    values ('key', key_hash), ('member', member_id), ('workspace', workspace_id), ('account', account_id)
  ) as named(scope, id) where named.id is not null
) as of`;

/** The difference of each account that is farthest from 0, if there is any. */
function largestOf(differences: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct on (account_id) account_id, difference from (${differences}) as each
    where difference <> 0 order by account_id, abs(difference) desc`;
}

function faultsOf(fault: ScopeFault['fault'], rows: readonly FaultRow[]): ScopeFaults {
  return new Map(
    rows.map(({ account_id, difference }) => [account_id, { fault, differenceNanos: BigInt(difference) }]),
  );
}
