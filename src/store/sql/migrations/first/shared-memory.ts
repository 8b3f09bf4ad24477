/*
 * Counts of requests and tokens, pins, news of health and rights to probe, which gateways share. The tables are
 * unlogged: a crash of the server empties them, and nothing is written to its log. All times are milliseconds by the
 * clock of the server.
 */

const CLOCK = `
  create function shared_clock_ms() returns bigint language sql as $$
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
  $$`;

/** Rows change in place (fillfactor), and no index has the times, so that changing them leaves the indexes alone. */
const TABLES = [
  `create unlogged table rate_counts (
    name text not null, subject text not null, used bigint not null, ends_at_ms bigint not null,
    primary key (name, subject)
  ) with (fillfactor = 50)`,
  `create unlogged table routing_pins (
    key text primary key, site text not null, model_id text not null, ends_at_ms bigint not null
  ) with (fillfactor = 70)`,
  `create unlogged table routing_news (
    position bigint generated always as identity primary key,
    process_id text not null, news text not null, at_ms bigint not null
  )`,
  `create unlogged table routing_probes (
    place text primary key, process_id text not null, until_ms bigint not null
  ) with (fillfactor = 50)`,
  `create unlogged table live_gateways (
    gateway_id text primary key, seen_at_ms bigint not null
  ) with (fillfactor = 50)`,
];

/**
 * `counters`: [[name, subject, window, amount to add], ...], each once, in one order for all gateways, so that they
 * never wait for each other in a circle. `takes`: [[n, [[place of the counter from 1, max, 1 if requests count in it],
 * ...]], ...]: n requests with these limits. Returns for each take, in order, how many pass; if not all do, the place
 * of the limit that forbids the rest, and how long its window lasts.
 *
 * Rows are found one by one, by their key: a join would read the whole table. A window that ends later than it can
 * began by a clock that was set back: it is over.
 */
const COUNT_RATES = `
  create function count_rates(counters jsonb, takes jsonb)
  returns table (granted bigint, refusing int, left_ms bigint) language plpgsql as $$
  declare
    names text[];
    subjects text[];
    length int := jsonb_array_length(counters);
    row_used bigint;
    row_ends bigint;
    used_now bigint[];
    ends bigint[];
    fresh_ends bigint[];
    changed boolean[];
    now_ms bigint;
    day_end_ms bigint;
    take jsonb;
    lim jsonb;
    at int;
    asked bigint;
  begin
    for i in 1 .. length loop
      names[i] := counters -> (i - 1) ->> 0;
      subjects[i] := counters -> (i - 1) ->> 1;
      changed[i] := false;
      loop
        select r.used, r.ends_at_ms into row_used, row_ends from rate_counts r
        where r.name = names[i] and r.subject = subjects[i] for update;
        exit when found;
        insert into rate_counts (name, subject, used, ends_at_ms) values (names[i], subjects[i], 0, 0)
        on conflict do nothing;
      end loop;
      used_now[i] := row_used;
      ends[i] := row_ends;
    end loop;
    now_ms := shared_clock_ms();
    day_end_ms := (now_ms / 86400000 + 1) * 86400000;
    for i in 1 .. length loop
      fresh_ends[i] := case counters -> (i - 1) ->> 2 when 'minute' then now_ms + 60000 else day_end_ms end;
      if ends[i] <= now_ms or ends[i] > fresh_ends[i] then
        used_now[i] := 0;
        ends[i] := fresh_ends[i];
      end if;
      if (counters -> (i - 1) ->> 3)::bigint > 0 then
        used_now[i] := used_now[i] + (counters -> (i - 1) ->> 3)::bigint;
        changed[i] := true;
      end if;
    end loop;
    for take in select value from jsonb_array_elements(takes) loop
      asked := (take ->> 0)::bigint;
      granted := asked;
      for lim in select value from jsonb_array_elements(take -> 1) loop
        at := (lim ->> 0)::int;
        if lim ->> 2 = '1' then
          granted := least(granted, greatest(0, (lim ->> 1)::bigint - used_now[at]));
        elsif used_now[at] >= (lim ->> 1)::bigint then
          granted := 0;
        end if;
      end loop;
      refusing := null;
      left_ms := null;
      for i in 0 .. jsonb_array_length(take -> 1) - 1 loop
        lim := take -> 1 -> i;
        at := (lim ->> 0)::int;
        if lim ->> 2 = '1' and granted > 0 then
          used_now[at] := used_now[at] + granted;
          changed[at] := true;
        end if;
        if granted < asked and refusing is null and used_now[at] >= (lim ->> 1)::bigint then
          refusing := i;
          left_ms := greatest(1, ends[at] - now_ms);
        end if;
      end loop;
      return next;
    end loop;
    for i in 1 .. length loop
      if changed[i] then
        update rate_counts r set used = used_now[i], ends_at_ms = ends[i]
        where r.name = names[i] and r.subject = subjects[i];
      end if;
    end loop;
  end $$`;

/**
 * Gives the news of a process (null = none) and returns those after a position. News is inserted under a lock that is
 * held until the commit, so that positions become visible in their order and none is passed over. A position beyond
 * the newest is from before a crash of the server: then all news is new.
 */
const EXCHANGE_NEWS = `
  create function exchange_news(
    gateway text, process text, after_position bigint, given text, lifetime_ms bigint, most int, counts_ms bigint
  ) returns jsonb language plpgsql as $$
  declare
    now_ms bigint := shared_clock_ms();
    newest bigint;
    read_from bigint;
    received jsonb;
    gateways int;
  begin
    insert into live_gateways as known values (gateway, now_ms)
    on conflict (gateway_id) do update set seen_at_ms = now_ms
    where known.seen_at_ms not between now_ms - counts_ms / 5 and now_ms;
    select count(*) into gateways from live_gateways
    where seen_at_ms between now_ms - counts_ms and now_ms + counts_ms;
    if given is not null then
      perform pg_advisory_xact_lock(hashtextextended('signalbox routing news', 0));
    end if;
    select max(position) into newest from routing_news;
    read_from := case when after_position > newest then 0 else coalesce(after_position, 0) end;
    select coalesce(jsonb_agg(jsonb_build_array(n.position, n.process_id, now_ms - n.at_ms, n.news) order by n.position), '[]')
    into received
    from (
      select * from routing_news
      where position > read_from and at_ms > now_ms - lifetime_ms
      order by position limit most
    ) n;
    if jsonb_array_length(received) = most then
      newest := (received -> (most - 1) ->> 0)::bigint;
    end if;
    if given is not null then
      insert into routing_news (process_id, news, at_ms) values (process, given, now_ms);
    end if;
    return jsonb_build_object(
      'position', coalesce(newest, after_position, 0), 'received', received, 'gateways', greatest(1, gateways)
    );
  end $$`;

export const SHARED_MEMORY = [CLOCK, ...TABLES, COUNT_RATES, EXCHANGE_NEWS];
