import { type Kysely, sql } from 'kysely';
import { Gathered } from '../../kit/loop/gathered.ts';
import {
  type ExchangedNews,
  GATEWAY_COUNTS_MS,
  MAX_RECEIVED_NEWS,
  NEWS_LIFETIME_MS,
  type NewsExchange,
  type Pin,
  type RoutingMemory,
} from '../../ports/shared/routing-memory.ts';
import type { Tables } from '../sql/tables.ts';
import { newsFromText, newsText } from './news-text.ts';

interface SetPin {
  readonly key: string;
  readonly pin: Pin;
  readonly idleMs: number;
}

/** Routing memory in a database that gateways share, by its clock: the tables of the migration 0021. */
export class PostgresRoutingMemory implements RoutingMemory {
  readonly #database: Kysely<Tables>;
  readonly #wanted = new Gathered<string, Pin | undefined>((keys) => this.#find(keys));
  readonly #set = new Gathered<SetPin, undefined>((pins) => this.#write(pins));

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  findPin(key: string): Promise<Pin | undefined> {
    return this.#wanted.add(key);
  }

  async setPin(key: string, pin: Pin, idleMs: number): Promise<void> {
    await this.#set.add({ key, pin, idleMs });
  }

  async exchange({ gatewayId, processId, after, news }: NewsExchange): Promise<ExchangedNews> {
    const { rows } = await sql<{ answer: string }>`
      select exchange_news(
        ${gatewayId}, ${processId}, ${after}::text::bigint, ${newsText(news)}::text,
        ${sql.lit(NEWS_LIFETIME_MS)}, ${sql.lit(MAX_RECEIVED_NEWS)}, ${sql.lit(GATEWAY_COUNTS_MS)}
      )::text as answer`.execute(this.#database);
    const { position, received, gateways } = JSON.parse(rows[0]?.answer ?? '{}') as NewsAnswer;
    return {
      position: String(position),
      received: received.flatMap(([, process, ageMs, text]) =>
        process === processId ? [] : newsFromText(text, ageMs),
      ),
      gateways,
    };
  }

  async takeProbe(place: string, processId: string, forMs: number): Promise<boolean> {
    const { rows } = await sql`
      insert into routing_probes as known (place, process_id, until_ms)
      values (${place}, ${processId}, shared_clock_ms() + ${sql.lit(forMs)})
      on conflict (place) do update set process_id = excluded.process_id, until_ms = excluded.until_ms
      where known.until_ms <= shared_clock_ms() or known.until_ms > shared_clock_ms() + ${sql.lit(MAX_PROBE_MS)}
      returning place`.execute(this.#database);
    return rows.length > 0;
  }

  async endProbe(place: string, processId: string, keepMs: number): Promise<void> {
    await sql`
      update routing_probes set until_ms = shared_clock_ms() + ${sql.lit(keepMs)}
      where place = ${place} and process_id = ${processId} and until_ms > shared_clock_ms()`.execute(
      this.#database,
    );
  }

  async sweep(): Promise<void> {
    await this.#delete('routing_pins', 'ends_at_ms', 0);
    await this.#delete('routing_news', 'at_ms', NEWS_LIFETIME_MS);
    await this.#delete('routing_probes', 'until_ms', 0);
    await this.#delete('live_gateways', 'seen_at_ms', GATEWAY_COUNTS_MS);
  }

  /** Rows that are being written are left for the next time. */
  async #delete(table: string, column: string, ageMs: number): Promise<void> {
    await sql`
      delete from ${sql.table(table)} where ctid in (
        select ctid from ${sql.table(table)}
        where ${sql.ref(column)} < shared_clock_ms() - ${sql.lit(ageMs)} for update skip locked
      )`.execute(this.#database);
  }

  async #find(keys: readonly string[]): Promise<readonly (Pin | undefined)[]> {
    const { rows } = await sql<{ key: string; site: string; model_id: string }>`
      select key, site, model_id from routing_pins
      where key in (select jsonb_array_elements_text(${JSON.stringify(keys)}::text::jsonb))
        and ends_at_ms > shared_clock_ms()`.execute(this.#database);
    const found = new Map(rows.map((row) => [row.key, { site: row.site, modelId: row.model_id }]));
    return keys.map((key) => found.get(key));
  }

  /** In the order of their keys: statements of two gateways that set the same pins never wait in a circle. */
  async #write(pins: readonly SetPin[]): Promise<readonly undefined[]> {
    const last = new Map(pins.map((each) => [each.key, each]));
    const list = [...last.values()].map(({ key, pin, idleMs }) => [key, pin.site, pin.modelId, idleMs]);
    await sql`
      insert into routing_pins (key, site, model_id, ends_at_ms)
      select p ->> 0, p ->> 1, p ->> 2, shared_clock_ms() + (p ->> 3)::bigint
      from jsonb_array_elements(${JSON.stringify(list)}::text::jsonb) p order by 1
      on conflict (key) do update set
        site = excluded.site, model_id = excluded.model_id, ends_at_ms = excluded.ends_at_ms`.execute(
      this.#database,
    );
    return pins.map(() => undefined);
  }
}

interface NewsAnswer {
  readonly position: number;
  readonly received: readonly (readonly [position: number, process: string, ageMs: number, text: string])[];
  readonly gateways: number;
}

/** A right that lasts longer is from before the clock of the server was set back. */
const MAX_PROBE_MS = 600_000;
