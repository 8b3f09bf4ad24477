/*
 * Functions that change tallies in one round trip, so that no lock on a tally is held while a gateway waits for the
 * network. All but `ledger_windows` are in PL/pgSQL: PostgreSQL plans a function in SQL again in every transaction, and
 * one in PL/pgSQL once for each connection. A release that has to change one adds it under a new name, because the
 * release before still calls it.
 */

/**
 * Functions that read tallies look them up in the index. A payer has four of them at most, but PostgreSQL takes a list
 * in JSON for a hundred rows: up to some thousand keys it would read the whole table for each list, and hash it.
 */
const BY_INDEX = 'set enable_hashjoin = off set enable_mergejoin = off';

const WINDOWS = `
  create function ledger_windows(p_at_ms bigint, out daily bigint, out weekly bigint, out monthly bigint)
  language sql immutable as $$
    select
      p_at_ms / 86400000,
      (p_at_ms + 3 * 86400000::bigint) / (7 * 86400000::bigint),
      ((extract(year from moment) - 1970) * 12 + extract(month from moment) - 1)::bigint
    from (select timestamp 'epoch' + p_at_ms * interval '1 millisecond' as moment) as given
  $$`;

/**
 * Locks tallies, adding missing ones. `p_keys`: a list of {scope, id}. All transactions lock in this order, which
 * avoids deadlocks.
 */
const LOCK = `
  create function ledger_lock(p_keys jsonb) returns void language plpgsql ${BY_INDEX} as $$
  declare
    v_locked bigint;
  begin
    for v_try in 1..2 loop
      perform from ledger_tallies t join jsonb_to_recordset(p_keys) as wanted(scope text, id text)
        on t.scope = wanted.scope and t.id = wanted.id
      order by array_position(array['key', 'member', 'workspace', 'account'], t.scope), t.id collate "C"
      for update of t;
      get diagnostics v_locked = row_count;
      exit when v_locked = jsonb_array_length(p_keys);
      insert into ledger_tallies (scope, id)
      select scope, id from jsonb_to_recordset(p_keys) as wanted(scope text, id text)
      order by array_position(array['key', 'member', 'workspace', 'account'], scope), id collate "C"
      on conflict do nothing;
    end loop;
  end $$`;

/**
 * Releases what was held, and charges. `p_changes`: a list of {scope, id, held_credit, held_byok, credit, byok}, with
 * negative holds to reserve. Sums of expired windows begin at zero. The tallies must be locked.
 */
const CHANGE = `
  create function ledger_change(p_changes jsonb, p_at_ms bigint) returns void language plpgsql ${BY_INDEX} as $$
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

/** `CHANGE` for several tallies. */
const CHANGE_ALL = `
  create function ledger_change_all(
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
const REMAINDERS = `
  create function ledger_remainders(
    p_keys jsonb, p_limits jsonb, p_at_ms bigint, out counts_byok boolean, out left_nanos numeric
  ) returns setof record language plpgsql ${BY_INDEX} as $$
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
const CHARGE_WITHIN = `
  create function ledger_charge_within(
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
const TALLIES = `
  create function ledger_tallies_of(p_keys jsonb) returns jsonb language plpgsql ${BY_INDEX} as $$
  begin
    return (
      select coalesce(jsonb_agg(
        (select jsonb_object_agg(name, value) from jsonb_each_text(to_jsonb(t)) as member(name, value))
      ), '[]')
      from ledger_tallies t join jsonb_to_recordset(p_keys) as wanted(scope text, id text)
        on t.scope = wanted.scope and t.id = wanted.id
    );
  end $$`;

/**
 * Reserves for a generation. `p_ask`: {id, gateway, scopes: {key, member, workspace, account}, keys, limits, credit,
 * byok, lasts_ms}. `p_mode`:
 * - read: only reads the tallies;
 * - new: a reservation for a new generation;
 * - again: the same in place of the one that it has;
 * - drop: removes the reservation that it has;
 * - more: adds to a reservation;
 * - extend: raises a reservation to what was used, as far as the limits allow; `held` in `p_ask`, {credit, byok}, is
 *   the part of the reservation that belongs to this use; null = all of it. The result has the charge.
 *
 * Returns the tallies as they were before, without the reservation of `again` and `drop`. Verdicts: read, dropped,
 * reserved, refused (a limit forbids it), known (the generation has been accepted before), missing (there is no
 * reservation to change).
 */
const RESERVE = `
  create function ledger_reserve(
    p_mode text, p_ask jsonb, p_at_ms bigint,
    out verdict text, out at_ms bigint, out tallies jsonb, out credit numeric, out byok numeric
  ) language plpgsql as $$
  declare
    v_id text := p_ask->>'id';
    v_keys jsonb := p_ask->'keys';
    v_scopes jsonb := p_ask->'scopes';
    v_held_credit numeric;
    v_held_byok numeric;
    v_is_held boolean;
  begin
    at_ms := p_at_ms;
    credit := (p_ask->>'credit')::numeric;
    byok := (p_ask->>'byok')::numeric;
    if p_mode = 'read' then
      verdict := 'read';
      tallies := ledger_tallies_of(v_keys);
      return;
    end if;
    perform ledger_lock(v_keys);
    select r.credit_nanos, r.byok_nanos into v_held_credit, v_held_byok
    from ledger_reservations r where r.generation_id = v_id for update;
    v_is_held := found;
    if p_mode in ('again', 'drop') and v_is_held then
      delete from ledger_reservations where generation_id = v_id;
      perform ledger_change_all(v_keys, v_held_credit, v_held_byok, 0, 0, p_at_ms);
    end if;
    tallies := ledger_tallies_of(v_keys);
    if p_mode = 'drop' then
      verdict := 'dropped';
      return;
    end if;
    if p_mode = 'extend' then
      v_held_credit := coalesce((p_ask->'held'->>'credit')::numeric, v_held_credit, 0);
      v_held_byok := coalesce((p_ask->'held'->>'byok')::numeric, v_held_byok, 0);
      if not v_is_held then
        v_held_credit := 0;
        v_held_byok := 0;
      end if;
      credit := ledger_charge_within(
        v_keys, p_ask->'limits', v_held_credit, v_held_byok, credit, byok, p_at_ms
      );
      verdict := case when v_is_held then 'reserved' else 'missing' end;
      if not v_is_held then return; end if;
      update ledger_reservations set
        credit_nanos = credit_nanos + ledger_reserve.credit - v_held_credit,
        byok_nanos = byok_nanos + ledger_reserve.byok - v_held_byok
      where generation_id = v_id;
      perform ledger_change_all(v_keys, v_held_credit - credit, v_held_byok - byok, 0, 0, p_at_ms);
      return;
    end if;
    verdict := case
      when p_mode = 'more' and not v_is_held then 'missing'
      when p_mode = 'new' and v_is_held then 'known'
      when p_mode <> 'more' and exists (select from generations g where g.id = v_id) then 'known'
      when exists (
        select from ledger_remainders(v_keys, p_ask->'limits', p_at_ms) r
        where credit + case when r.counts_byok then byok else 0 end > greatest(0, r.left_nanos)
      ) then 'refused'
      else 'reserved'
    end;
    if verdict <> 'reserved' then return; end if;
    if p_mode = 'more' then
      update ledger_reservations set
        credit_nanos = credit_nanos + ledger_reserve.credit,
        byok_nanos = byok_nanos + ledger_reserve.byok,
        expires_at_ms = greatest(expires_at_ms, p_at_ms + (p_ask->>'lasts_ms')::bigint)
      where generation_id = v_id;
    else
      insert into ledger_reservations (
        generation_id, gateway_id, key_hash, workspace_id, account_id, member_id, credit_nanos, byok_nanos,
        reserved_at_ms, expires_at_ms, has_heartbeat
      ) values (
        v_id, p_ask->>'gateway', v_scopes->>'key', v_scopes->>'workspace', v_scopes->>'account',
        v_scopes->>'member', credit, byok, p_at_ms, p_at_ms + (p_ask->>'lasts_ms')::bigint, true
      );
    end if;
    perform ledger_change_all(v_keys, -credit, -byok, 0, 0, p_at_ms);
  end $$`;

/** In an order in which each finds what it calls. */
export const LEDGER_FUNCTIONS = [
  WINDOWS,
  LOCK,
  CHANGE,
  CHANGE_ALL,
  REMAINDERS,
  CHARGE_WITHIN,
  TALLIES,
  RESERVE,
];
