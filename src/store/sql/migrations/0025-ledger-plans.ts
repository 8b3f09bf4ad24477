import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * The same functions as in `0022-ledger-functions`, in PL/pgSQL. PostgreSQL plans a function in SQL again in every
 * transaction, and one in PL/pgSQL once for each connection. Names, arguments and results stay, so that the release
 * before may call them.
 */
export const ledgerPlansMigration: Migration = {
  name: '0025-ledger-plans',
  engine: 'postgres',
  async up(database) {
    for (const statement of [CHANGE, CHANGE_ALL, REMAINDERS, CHARGE_WITHIN, TALLIES]) {
      await statement.execute(database);
    }
  },
};

/**
 * Releases what was held, and charges. `p_changes`: a list of {scope, id, held_credit, held_byok, credit, byok}, with
 * negative holds to reserve. Sums of expired windows begin at zero. The tallies must be locked.
 */
const CHANGE = sql`
  create or replace function ledger_change(p_changes jsonb, p_at_ms bigint) returns void language plpgsql as $$
  begin
    update ledger_tallies t set
      credit_daily = case when w.daily > t.window_daily then 0 else t.credit_daily end + c.credit,
      byok_daily = case when w.daily > t.window_daily then 0 else t.byok_daily end + c.byok,
      credit_weekly = case when w.weekly > t.window_weekly then 0 else t.credit_weekly end + c.credit,
      byok_weekly = case when w.weekly > t.window_weekly then 0 else t.byok_weekly end + c.byok,
      credit_monthly = case when w.monthly > t.window_monthly then 0 else t.credit_monthly end + c.credit,
      byok_monthly = case when w.monthly > t.window_monthly then 0 else t.byok_monthly end + c.byok,
      credit_lifetime = t.credit_lifetime + c.credit,
      byok_lifetime = t.byok_lifetime + c.byok,
      window_daily = greatest(t.window_daily, w.daily),
      window_weekly = greatest(t.window_weekly, w.weekly),
      window_monthly = greatest(t.window_monthly, w.monthly),
      counted_from = coalesce(t.counted_from, pg_snapshot_xmax(pg_current_snapshot())),
      reserved_credit = t.reserved_credit - c.held_credit,
      reserved_byok = t.reserved_byok - c.held_byok,
      left_nanos = t.left_nanos + case when t.scope = 'account' then c.held_credit - c.credit else 0 end
    from
      jsonb_to_recordset(p_changes) as c(
        scope text, id text, held_credit numeric, held_byok numeric, credit numeric, byok numeric
      ),
      ledger_windows(p_at_ms) w
    where t.scope = c.scope and t.id = c.id;
  end $$`;

/** The same change of several tallies. */
const CHANGE_ALL = sql`
  create or replace function ledger_change_all(
    p_keys jsonb, p_held_credit numeric, p_held_byok numeric, p_credit numeric, p_byok numeric, p_at_ms bigint
  ) returns void language plpgsql as $$
  begin
    perform ledger_change(jsonb_agg(key || jsonb_build_object(
      'held_credit', p_held_credit, 'held_byok', p_held_byok, 'credit', p_credit, 'byok', p_byok
    )), p_at_ms)
    from jsonb_array_elements(p_keys) as key;
  end $$`;

/**
 * What each limit leaves, reservations not included: negative after it was lowered. `p_limits`: a list of
 * {scope, window, nanos, counts_byok}; an enforced balance is a limit of its account.
 */
const REMAINDERS = sql`
  create or replace function ledger_remainders(
    p_keys jsonb, p_limits jsonb, p_at_ms bigint, out counts_byok boolean, out left_nanos numeric
  ) returns setof record language plpgsql as $$
  #variable_conflict use_column
  begin
    return query
    with tallies as (
      select t.* from ledger_tallies t join jsonb_to_recordset(p_keys) as wanted(scope text, id text)
        on t.scope = wanted.scope and t.id = wanted.id
    ),
    limits as (
      select scope, "window", nanos, counts_byok
      from jsonb_to_recordset(p_limits) as given(scope text, "window" text, nanos numeric, counts_byok boolean)
      union all
      select scope, 'lifetime', granted_nanos, false from tallies where scope = 'account' and is_enforced = 1
    )
    select l.counts_byok, l.nanos - t.reserved_credit - case l."window"
        when 'daily' then case when w.daily > t.window_daily then 0 else t.credit_daily end
        when 'weekly' then case when w.weekly > t.window_weekly then 0 else t.credit_weekly end
        when 'monthly' then case when w.monthly > t.window_monthly then 0 else t.credit_monthly end
        else t.credit_lifetime
      end - case when not l.counts_byok then 0 else t.reserved_byok + case l."window"
        when 'daily' then case when w.daily > t.window_daily then 0 else t.byok_daily end
        when 'weekly' then case when w.weekly > t.window_weekly then 0 else t.byok_weekly end
        when 'monthly' then case when w.monthly > t.window_monthly then 0 else t.byok_monthly end
        else t.byok_lifetime
      end end
    from limits l join tallies t on t.scope = l.scope, ledger_windows(p_at_ms) w;
  end $$`;

/** The credits to charge for a use: those that are held, and beyond that what the limits leave. */
const CHARGE_WITHIN = sql`
  create or replace function ledger_charge_within(
    p_keys jsonb, p_limits jsonb, p_held_credit numeric, p_held_byok numeric, p_credit numeric, p_byok numeric,
    p_at_ms bigint
  ) returns numeric language plpgsql as $$
  begin
    return (
      select least(p_credit, min(greatest(
        p_held_credit,
        left_nanos + p_held_credit + case when counts_byok then p_held_byok - p_byok else 0 end
      )))
      from ledger_remainders(p_keys, p_limits, p_at_ms)
    );
  end $$`;

/** Tallies as a list of objects. Amounts are text, because JSON numbers are not exact everywhere. */
const TALLIES = sql`
  create or replace function ledger_tallies_of(p_keys jsonb) returns jsonb language plpgsql as $$
  begin
    return (
      select coalesce(jsonb_agg(
        (select jsonb_object_agg(name, value) from jsonb_each_text(to_jsonb(t)) as member(name, value))
      ), '[]')
      from ledger_tallies t join jsonb_to_recordset(p_keys) as wanted(scope text, id text)
        on t.scope = wanted.scope and t.id = wanted.id
    );
  end $$`;
