import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Amount } from '../../../../ir/amount.ts';
import { LIMIT_WINDOWS, RESET_WINDOWS, type ResetWindow } from '../../../../kit/time/windows.ts';
import type { Limits, ScopeIds } from '../../../../ports/ledger.ts';
import type { Tables } from '../../../sql/tables.ts';
import { limitsIn } from '../../books/limits.ts';
import { type DatabaseClock, windowNumbersAt } from './database-clock.ts';
import { COUNTED_FROM, LOCK_ORDER, tallyKeysOf } from './tally-rows.ts';

/** An amount to reserve, and its limits. */
export interface ReservationRequest {
  readonly generationId: string;
  readonly scopes: ScopeIds;
  readonly limits: Limits;
  readonly amount: Amount;
}

/** Outcome of a new reservation. `overtaken`: after a conflict a limit forbids it, or a tally is missing. */
export type ReserveVerdict = 'reserved' | 'overtaken' | 'known';

/**
 * Reserves for a new generation in one statement: locks the tallies of all scopes in order, checks every limit, and
 * raises all tallies or none. It decides exactly as `refusalOf`: sums of windows that are expired by the database's
 * clock are zero, and an amount of zero passes every limit.
 */
export async function reserveNew(
  database: Kysely<Tables>,
  asked: ReservationRequest,
  holder: { readonly gatewayId: string; readonly lastsMs: number },
  clock: DatabaseClock,
): Promise<ReserveVerdict> {
  const { generationId, scopes, amount } = asked;
  const { rows } = await sql<{ is_known: boolean; is_reserved: boolean }>`
    with ${checked(asked, clock)},
    verdict as materialized (
      select
        exists (select from generations where id = ${generationId})
          or exists (select from ledger_reservations where generation_id = ${generationId}) as is_known,
        fits
      from checked
    ),
    ${raised(asked, sql`exists (select from verdict where fits and not is_known)`)},
    kept as (
      insert into ledger_reservations (
        generation_id, gateway_id, key_hash, workspace_id, account_id, member_id,
        credit_nanos, byok_nanos, reserved_at_ms, expires_at_ms
      )
      select
        ${generationId}, ${holder.gatewayId}, ${scopes.key}, ${scopes.workspace}, ${scopes.account},
        ${scopes.member ?? null}::text,
        ${nanos(amount.creditNanos)}, ${nanos(amount.byokNanos)},
        ${clock()}, ${clock()} + ${String(holder.lastsMs)}::bigint
      from verdict where fits and not is_known
    )
    select is_known, fits and not is_known as is_reserved from verdict`.execute(database);
  const [row] = rows;
  if (row?.is_reserved) return 'reserved';
  return row?.is_known ? 'known' : 'overtaken';
}

/** Reserves more for a generation that has a reservation. False when a limit forbids it or there is none. */
export async function reserveMore(
  database: Kysely<Tables>,
  asked: ReservationRequest,
  clock: DatabaseClock,
): Promise<boolean> {
  const { generationId, amount } = asked;
  const { rows } = await sql<{ is_reserved: boolean }>`
    with ${checked(asked, clock)},
    kept as (
      update ledger_reservations set
        credit_nanos = credit_nanos + ${nanos(amount.creditNanos)},
        byok_nanos = byok_nanos + ${nanos(amount.byokNanos)}
      where generation_id = ${generationId} and (select fits from checked)
      returning generation_id
    ),
    ${raised(asked, sql`exists (select from kept)`)}
    select exists (select from kept) as is_reserved`.execute(database);
  return rows[0]?.is_reserved ?? false;
}

/** Locks the tallies, and selects whether all exist and no limit forbids the amount. */
function checked({ scopes, limits, amount }: ReservationRequest, clock: DatabaseClock): RawBuilder<unknown> {
  const given = JSON.stringify(
    (['key', 'member', 'workspace'] as const).flatMap((scope) =>
      limitsIn(limits, scope).map((limit) => ({
        scope,
        window: limit.window,
        nanos: String(limit.nanos),
        counts_byok: limit.countsByok,
      })),
    ),
  );
  const { daily, weekly, monthly } = windowNumbersAt(sql.ref('clock.at_ms'));
  return sql`
    windows as materialized (
      select ${daily} as daily, ${weekly} as weekly, ${monthly} as monthly
      from (select ${clock()} as at_ms) clock
    ),
    tallies as materialized (
      select * from ledger_tallies t where ${isOneOf(scopes)}
      order by ${LOCK_ORDER}
      for update
    ),
    limits as (
      select scope, "window", nanos, counts_byok
      from jsonb_to_recordset(${given}::text::jsonb)
        as given(scope text, "window" text, nanos numeric, counts_byok boolean)
      union all
      select scope, 'lifetime', granted_nanos, false from tallies where scope = 'account' and is_enforced = 1
    ),
    checked as materialized (
      select (select count(*) from tallies) = ${sql.lit(tallyKeysOf(scopes).length)} and not exists (
        select from limits join tallies t on t.scope = limits.scope cross join windows
        where ${nanos(amount.creditNanos)} + case when counts_byok then ${nanos(amount.byokNanos)} else 0 end
          > greatest(
            0,
            nanos
              - ${sumNow('credit')} - t.reserved_credit
              - case when counts_byok then ${sumNow('byok')} + t.reserved_byok else 0 end
          )
      ) as fits
    )`;
}

function raised({ scopes, amount }: ReservationRequest, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    raised as (
      update ledger_tallies t set
        ${sql.join(RESET_WINDOWS.flatMap(begunAnew))},
        ${COUNTED_FROM},
        reserved_credit = reserved_credit + ${nanos(amount.creditNanos)},
        reserved_byok = reserved_byok + ${nanos(amount.byokNanos)},
        left_nanos = left_nanos - case when scope = 'account' then ${nanos(amount.creditNanos)} else 0 end
      from windows
      where ${isOneOf(scopes)} and ${condition}
    )`;
}

/** Resets expired windows, so that a clock set back before the booking does not count into an old one. */
function begunAnew(window: ResetWindow): RawBuilder<unknown>[] {
  const [now, known] = [sql.ref(`windows.${window}`), sql.ref(`t.window_${window}`)];
  const sums = (['credit', 'byok'] as const).map((kind) => {
    const name = `${kind}_${window}`;
    return sql`${sql.ref(name)} = case when ${now} > ${known} then 0 else ${sql.ref(`t.${name}`)} end`;
  });
  return [...sums, sql`${sql.ref(`window_${window}`)} = greatest(${known}, ${now})`];
}

/** The sum of the limit's window; 0 when that window is expired (see `isOver`). */
function sumNow(kind: 'credit' | 'byok'): RawBuilder<unknown> {
  const cases = LIMIT_WINDOWS.map((window) => {
    const column = sql.ref(`t.${kind}_${window}`);
    const reset = RESET_WINDOWS.find((name) => name === window);
    if (reset === undefined) return sql`when ${sql.lit(window)} then ${column}`;
    const over = sql`${sql.ref(`windows.${window}`)} > ${sql.ref(`t.window_${window}`)}`;
    return sql`when ${sql.lit(window)} then case when ${over} then 0 else ${column} end`;
  });
  return sql`case limits."window" ${sql.join(cases, sql` `)} end`;
}

function isOneOf(scopes: ScopeIds): RawBuilder<unknown> {
  const pairs = tallyKeysOf(scopes).map(({ scope, id }) => sql`(${sql.lit(scope)}, ${id})`);
  return sql`(t.scope, t.id) in (${sql.join(pairs)})`;
}

/** Money as a text parameter: the driver limits a bigint to 64 bits. */
function nanos(value: bigint): RawBuilder<unknown> {
  return sql`${String(value)}::numeric`;
}
