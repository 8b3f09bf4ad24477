import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Counts of requests and tokens, pins, news of health and rights to probe, which gateways share. The tables are
 * unlogged: a crash of the server empties them, and nothing is written to its log. All times are milliseconds by the
 * clock of the server.
 */
export const sharedMemoryMigration: Migration = {
  name: '0021-shared-memory',
  engine: 'postgres',
  async up(database) {
    for (const statement of [CLOCK, ...TABLES, COUNT_RATES, EXCHANGE_NEWS]) {
      await sql.raw(statement).execute(database);
    }
  },
};

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
 * `counters`: [[name, subject, window, amount to add], ...], each once. `takes`: [{n, limits}, ...]: n requests with
 * the limits [[place of the counter from 0, max, 1 if requests count in it], ...]. Returns for each take, in order, how
 * many pass; if not all do, the place of the limit that forbids the rest, and how long its window lasts.
 *
 * Rows are locked in one order, so that gateways never wait for each other in a circle. A window that ends later than
 * it can began by a clock that was set back: it is over.
 */
const COUNT_RATES = `
  create function count_rates(counters jsonb, takes jsonb)
  returns table (granted bigint, refusing int, left_ms bigint) language plpgsql as $$
  declare
    now_ms bigint;
    day_end_ms bigint;
    rows_locked int;
    take jsonb;
    asked bigint;
  begin
    loop
      insert into rate_counts (name, subject, used, ends_at_ms)
      select c ->> 0, c ->> 1, 0, 0 from jsonb_array_elements(counters) c order by 1, 2
      on conflict do nothing;
      perform 1 from rate_counts r
      join jsonb_array_elements(counters) c on r.name = c ->> 0 and r.subject = c ->> 1
      order by r.name, r.subject for update of r;
      get diagnostics rows_locked = row_count;
      exit when rows_locked = jsonb_array_length(counters);
    end loop;
    now_ms := shared_clock_ms();
    day_end_ms := (now_ms / 86400000 + 1) * 86400000;
    update rate_counts r set used = 0, ends_at_ms = 0
    from jsonb_array_elements(counters) c
    where r.name = c ->> 0 and r.subject = c ->> 1 and r.ends_at_ms <> 0 and (
      r.ends_at_ms <= now_ms or
      r.ends_at_ms > case c ->> 2 when 'minute' then now_ms + 60000 else day_end_ms end
    );
    update rate_counts r set
      used = r.used + (c ->> 3)::bigint,
      ends_at_ms = case
        when r.ends_at_ms <> 0 then r.ends_at_ms
        when c ->> 2 = 'minute' then now_ms + 60000
        else day_end_ms
      end
    from jsonb_array_elements(counters) c
    where r.name = c ->> 0 and r.subject = c ->> 1 and (c ->> 3)::bigint > 0;
    for take in select value from jsonb_array_elements(takes) loop
      asked := (take ->> 'n')::bigint;
      select least(asked, min(case
        when l ->> 2 = '1' then greatest(0, (l ->> 1)::bigint - r.used)
        when r.used >= (l ->> 1)::bigint then 0
      end)) into granted
      from jsonb_array_elements(take -> 'limits') l
      join rate_counts r
        on r.name = counters -> (l ->> 0)::int ->> 0 and r.subject = counters -> (l ->> 0)::int ->> 1;
      if granted > 0 then
        update rate_counts r set
          used = r.used + granted,
          ends_at_ms = case
            when r.ends_at_ms <> 0 then r.ends_at_ms
            when counters -> (l ->> 0)::int ->> 2 = 'minute' then now_ms + 60000
            else day_end_ms
          end
        from jsonb_array_elements(take -> 'limits') l
        where l ->> 2 = '1'
          and r.name = counters -> (l ->> 0)::int ->> 0 and r.subject = counters -> (l ->> 0)::int ->> 1;
      end if;
      refusing := null;
      left_ms := null;
      if granted < asked then
        select l.place - 1, greatest(1, r.ends_at_ms - now_ms) into refusing, left_ms
        from jsonb_array_elements(take -> 'limits') with ordinality as l(value, place)
        join rate_counts r
          on r.name = counters -> (l.value ->> 0)::int ->> 0 and r.subject = counters -> (l.value ->> 0)::int ->> 1
        where r.used >= (l.value ->> 1)::bigint
        order by l.place limit 1;
      end if;
      return next;
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
