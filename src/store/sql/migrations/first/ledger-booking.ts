/**
 * Books ends of generations. `p_ends`: a list of {id, sequence, key, member, workspace, account, limits, slice, row},
 * at most one for each id: `sequence` is null for a reservation that a sweep releases, `slice` is the reservation that
 * paid if the generation has none of its own, and `row` is the row in `generations`, null if nothing is charged.
 *
 * An end that the journal's row counts as booked has no effect, and neither is a generation charged again that has a
 * row. A charge is booked in full while its money is reserved. If it is not, because the reservation was released, the
 * limits decide, and the rest is written off. `p_waiting`: sequences of other unbooked ends, at least those before the
 * last one here.
 *
 * `lost` lists the slices that do not exist. Verdicts: booked, taken (another run owns the journal: nothing was
 * booked).
 */
export const LEDGER_BOOKING = `
  create function ledger_book(
    p_gateway text, p_owner text, p_ends jsonb, p_waiting jsonb, p_at_ms bigint,
    out verdict text, out released_nanos numeric, out removed bigint, out lost jsonb
  ) language plpgsql as $$
  declare
    v_journal ledger_journals;
    v_has_journal boolean;
    v_booked_to bigint;
    v_ends jsonb;
    v_keys jsonb;
    v_added text[];
    v_enforced text[];
    v_covered text[];
    v_end record;
    v_slice record;
    v_credit numeric;
  begin
    released_nanos := 0;
    removed := 0;
    lost := '[]';
    select * into v_journal from ledger_journals where gateway_id = p_gateway for update;
    v_has_journal := found;
    if v_has_journal and p_owner is not null and v_journal.owner is distinct from p_owner then
      verdict := 'taken';
      return;
    end if;
    verdict := 'booked';
    v_booked_to := coalesce(v_journal.booked_to, 0);

    select jsonb_agg(value order by place) into v_ends
    from jsonb_array_elements(p_ends) with ordinality as listed(value, place)
    where value->>'sequence' is null
      or (value->>'sequence')::bigint > v_booked_to
      or v_journal.unbooked @> (value->'sequence');

    select coalesce(jsonb_agg(distinct e->'slice'), '[]') into lost
    from jsonb_array_elements(p_ends) as e
    where e->>'slice' is not null and not exists (
      select from ledger_reservations r where r.generation_id = e->>'slice' and r.gateway_id = p_gateway
    );

    if v_ends is not null then
      select jsonb_agg(distinct jsonb_build_object('scope', scope, 'id', id)) into v_keys
      from jsonb_array_elements(v_ends) as e cross join lateral (
        values ('key', e->>'key'), ('member', e->>'member'), ('workspace', e->>'workspace'),
          ('account', e->>'account')
      ) as of(scope, id)
      where id is not null;
      perform ledger_lock(v_keys);
      select coalesce(array_agg(t.id), '{}') into v_enforced
      from ledger_tallies t join jsonb_to_recordset(v_keys) as locked(scope text, id text)
        on t.scope = locked.scope and t.id = locked.id
      where t.scope = 'account' and t.is_enforced = 1;

      with added as (
        insert into generations (
          id, account_id, workspace_id, key_hash, settled_at_ms, credit_nanos, byok_nanos, written_off_nanos,
          written_off_cause, details, booked_by, booked_at_ms
        )
        select r.id, r.account_id, r.workspace_id, r.key_hash, r.settled_at_ms, r.credit_nanos, r.byok_nanos,
          r.written_off_nanos, r.written_off_cause, r.details, p_gateway, p_at_ms
        from jsonb_array_elements(v_ends) as e, jsonb_populate_record(null::generations, e->'row') as r
        where jsonb_typeof(e->'row') = 'object'
        on conflict (id) do nothing
        returning id
      )
      select coalesce(array_agg(id), '{}') into v_added from added;

      -- A slice pays for all of its ends here, or they are judged one by one below.
      with wanted as (
        select e->>'slice' as slice, sum((e->'row'->>'credit_nanos')::numeric) as credit,
          sum((e->'row'->>'byok_nanos')::numeric) as byok
        from jsonb_array_elements(v_ends) as e
        where e->>'slice' is not null and e->>'id' = any (v_added)
        group by e->>'slice'
      ),
      paid as (
        update ledger_reservations r set
          credit_nanos = r.credit_nanos - wanted.credit, byok_nanos = r.byok_nanos - wanted.byok
        from wanted
        where r.generation_id = wanted.slice and r.gateway_id = p_gateway
          and r.credit_nanos >= wanted.credit and r.byok_nanos >= wanted.byok
        returning r.generation_id
      )
      select coalesce(array_agg(generation_id), '{}') into v_covered from paid;

      with gone as (
        delete from ledger_reservations r using jsonb_array_elements(v_ends) as e
        where r.generation_id = e->>'id'
        returning r.generation_id, r.credit_nanos, r.byok_nanos
      )
      select jsonb_agg(e || jsonb_build_object(
          'is_charged', e->>'id' = any (v_added),
          'is_limited', jsonb_array_length(e->'limits') > 0 or e->>'account' = any (v_enforced),
          'credit', coalesce((e->'row'->>'credit_nanos')::numeric, 0),
          'byok', coalesce((e->'row'->>'byok_nanos')::numeric, 0),
          'held_credit', coalesce(gone.credit_nanos, 0),
          'held_byok', coalesce(gone.byok_nanos, 0)
        ) - 'row' order by place),
        count(gone.generation_id)
      into v_ends, removed
      from jsonb_array_elements(v_ends) with ordinality as listed(e, place)
      left join gone on gone.generation_id = e->>'id';

      select jsonb_agg(change) into v_keys from (
        select jsonb_build_object(
          'scope', of.scope, 'id', of.id,
          'held_credit', sum(e.held_credit + case when is_paid then e.credit else 0 end),
          'held_byok', sum(e.held_byok + case when is_paid then e.byok else 0 end),
          'credit', sum(case when e.is_charged then e.credit else 0 end),
          'byok', sum(case when e.is_charged then e.byok else 0 end)
        ) as change
        from jsonb_to_recordset(v_ends) as e(
          key text, member text, workspace text, account text, slice text, is_charged boolean, is_limited boolean,
          credit numeric, byok numeric, held_credit numeric, held_byok numeric
        )
        cross join lateral (select e.is_charged and coalesce(e.slice = any (v_covered), false) as is_paid) as p
        cross join lateral (
          values ('key', e.key), ('member', e.member), ('workspace', e.workspace), ('account', e.account)
        ) as of(scope, id)
        where of.id is not null
          and (is_paid or not e.is_charged or not e.is_limited or e.credit <= e.held_credit)
        group by of.scope, of.id
      ) as changes;
      if v_keys is not null then perform ledger_change(v_keys, p_at_ms); end if;

      for v_end in
        select e.*, (
          select jsonb_agg(jsonb_build_object('scope', scope, 'id', of.id)) from (
            values ('key', e.key), ('member', e.member), ('workspace', e.workspace), ('account', e.account)
          ) as of(scope, id) where of.id is not null
        ) as keys
        from jsonb_to_recordset(v_ends) as e(
          id text, key text, member text, workspace text, account text, slice text, limits jsonb,
          is_charged boolean, is_limited boolean, credit numeric, byok numeric, held_credit numeric, held_byok numeric
        )
        where e.is_charged and e.is_limited and e.credit > e.held_credit and not coalesce(e.slice = any (v_covered), false)
      loop
        select least(r.credit_nanos, v_end.credit) as credit, least(r.byok_nanos, v_end.byok) as byok
        into v_slice
        from ledger_reservations r where r.generation_id = v_end.slice and r.gateway_id = p_gateway for update;
        if found then
          update ledger_reservations set
            credit_nanos = credit_nanos - v_slice.credit, byok_nanos = byok_nanos - v_slice.byok
          where generation_id = v_end.slice;
          v_end.held_credit := v_end.held_credit + v_slice.credit;
          v_end.held_byok := v_end.held_byok + v_slice.byok;
        end if;
        v_credit := ledger_charge_within(
          v_end.keys, v_end.limits, v_end.held_credit, v_end.held_byok, v_end.credit, v_end.byok, p_at_ms
        );
        perform ledger_change_all(
          v_end.keys, v_end.held_credit, v_end.held_byok, v_credit, v_end.byok, p_at_ms
        );
        if v_credit < v_end.credit then
          released_nanos := released_nanos + v_end.credit - v_credit;
          update generations set
            credit_nanos = v_credit,
            written_off_nanos = written_off_nanos + v_end.credit - v_credit,
            written_off_cause = 'released'
          where id = v_end.id;
        end if;
      end loop;

      insert into ledger_booked as sums
        (gateway_id, account_id, credit_nanos, byok_nanos, written_off_nanos, generations)
      select p_gateway, account_id, sum(credit_nanos), sum(byok_nanos), sum(written_off_nanos), count(*)
      from generations where id = any (v_added) group by account_id order by account_id
      on conflict (gateway_id, account_id) do update set
        credit_nanos = sums.credit_nanos + excluded.credit_nanos,
        byok_nanos = sums.byok_nanos + excluded.byok_nanos,
        written_off_nanos = sums.written_off_nanos + excluded.written_off_nanos,
        generations = sums.generations + excluded.generations;
    end if;

    insert into ledger_journals (gateway_id, booked_to, unbooked)
    select p_gateway, last.sequence, coalesce((
      select jsonb_agg(sequence order by sequence) from (
        select value::bigint as sequence from jsonb_array_elements_text(v_journal.unbooked) as value
        union
        select value::bigint from jsonb_array_elements_text(p_waiting) as value
        where value::bigint > v_booked_to and value::bigint <= last.sequence
        except
        select (e->>'sequence')::bigint from jsonb_array_elements(p_ends) as e
      ) as unbooked
    ), '[]')
    from (
      select greatest(v_booked_to, max((e->>'sequence')::bigint)) as sequence
      from jsonb_array_elements(p_ends) as e having max((e->>'sequence')::bigint) is not null
    ) as last
    on conflict (gateway_id) do update set booked_to = excluded.booked_to, unbooked = excluded.unbooked;
  end $$`;
