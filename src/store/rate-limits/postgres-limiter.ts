import { type Kysely, sql } from 'kysely';
import { Gathered } from '../../kit/loop/gathered.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Limiter, RateCount, RateCounter, RateLimit, RateVerdict } from '../../ports/limiter.ts';
import type { Tables } from '../sql/tables.ts';

type Asked = { readonly take: readonly RateLimit[] } | { readonly add: readonly RateCount[] };

const PASS: RateVerdict = { ok: true };

/** Counts of windows that ended longer ago are deleted, milliseconds. */
const KEPT_MS = 60_000;

/**
 * Counts in a database that gateways share, by its clock. Requests that wait at the same time are counted by one
 * statement (`count_rates` of the migration 0021).
 */
export class PostgresLimiter implements Limiter {
  readonly #database: Kysely<Tables>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #asked = new Gathered<Asked, RateVerdict>((asked) => this.#count(asked));

  constructor(database: Kysely<Tables>, clock: Pick<Clock, 'now'>) {
    this.#database = database;
    this.#clock = clock;
  }

  take(limits: readonly RateLimit[]): Promise<RateVerdict> {
    return this.#asked.add({ take: limits });
  }

  async add(counts: readonly RateCount[]): Promise<void> {
    if (counts.length > 0) await this.#asked.add({ add: counts });
  }

  /** Deletes the counts of windows that are over, except those that are being counted. */
  async sweep(): Promise<void> {
    await sql`
      delete from rate_counts where ctid in (
        select ctid from rate_counts where ends_at_ms < shared_clock_ms() - ${sql.lit(KEPT_MS)}
        for update skip locked
      )`.execute(this.#database);
  }

  async #count(asked: readonly Asked[]): Promise<readonly RateVerdict[]> {
    const counters = new Counters();
    const groups = new Map<string, Group>();
    const places = asked.map((each) => {
      if ('add' in each) {
        for (const count of each.add) counters.add(count);
        return undefined;
      }
      const wire = each.take.map((limit) => [
        counters.placeOf(limit),
        limit.max,
        limit.unit === 'requests' ? 1 : 0,
      ]);
      const key = JSON.stringify(wire);
      const group = groups.get(key) ?? { limits: each.take, wire, n: 0 };
      groups.set(key, group);
      return { group, turn: group.n++ };
    });
    const takes = [...groups.values()];
    const { rows } = await sql<CountedRow>`
      select * from count_rates(
        ${JSON.stringify(counters.wire)}::text::jsonb,
        ${JSON.stringify(takes.map(({ n, wire }) => ({ n, limits: wire })))}::text::jsonb
      )`.execute(this.#database);
    const now = this.#clock.now();
    const rowOf = new Map(takes.map((group, at) => [group, rows[at]]));
    return places.map((place) => {
      const row = place && rowOf.get(place.group);
      if (place === undefined || row === undefined || place.turn < Number(row.granted)) return PASS;
      const limit = place.group.limits[row.refusing ?? 0] as RateLimit;
      return { ok: false, limit, resetAtMs: now + Number(row.left_ms) };
    });
  }
}

/** Requests with the same limits. */
interface Group {
  readonly limits: readonly RateLimit[];
  readonly wire: readonly (readonly number[])[];
  n: number;
}

interface CountedRow {
  readonly granted: string;
  readonly refusing: number | null;
  readonly left_ms: string | null;
}

/** The counters of one statement, each once. */
class Counters {
  readonly wire: [name: string, subject: string, window: string, amount: number][] = [];
  readonly #places = new Map<string, number>();

  placeOf({ name, subject, window }: RateCounter): number {
    const key = `${name}\n${subject}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.wire.length);
    return this.wire.push([name, subject, window, 0]) - 1;
  }

  add(count: RateCount): void {
    const counter = this.wire[this.placeOf(count)];
    if (counter !== undefined) counter[3] += count.amount;
  }
}
