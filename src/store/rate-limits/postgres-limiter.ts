import { type Kysely, sql } from 'kysely';
import { Gathered } from '../../kit/loop/gathered.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Limiter, RateCount, RateCounter, RateLimit, RateVerdict } from '../../ports/shared/limiter.ts';
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
    for (const each of asked) {
      if ('add' in each) for (const count of each.add) counters.add(count, count.amount);
      else for (const limit of each.take) counters.add(limit, 0);
    }
    const wire = counters.inOrder();
    const groups = new Map<string, Group>();
    const turns = asked.map((each) => ('add' in each ? undefined : turnIn(groups, each.take, counters)));
    const takes = [...groups.values()];
    const { rows } = await sql<CountedRow>`
      select * from count_rates(
        ${JSON.stringify(wire)}::text::jsonb,
        ${JSON.stringify(takes.map((group) => [group.n, group.wire]))}::text::jsonb
      )`.execute(this.#database);
    const now = this.#clock.now();
    const rowOf = new Map(takes.map((group, at) => [group, rows[at]]));
    return turns.map((turn) => {
      const row = turn && rowOf.get(turn.group);
      if (turn === undefined || row === undefined || turn.place < Number(row.granted)) return PASS;
      const limit = turn.group.limits[row.refusing ?? 0] as RateLimit;
      return { ok: false, limit, resetAtMs: now + Number(row.left_ms) };
    });
  }
}

/** The place of a request among those with the same limits. */
function turnIn(
  groups: Map<string, Group>,
  limits: readonly RateLimit[],
  counters: Counters,
): { readonly group: Group; readonly place: number } {
  const wire = limits.map((limit) => [counters.placeOf(limit), limit.max, limit.unit === 'requests' ? 1 : 0]);
  const key = JSON.stringify(wire);
  const group = groups.get(key) ?? { limits, wire, n: 0 };
  groups.set(key, group);
  return { group, place: group.n++ };
}

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

type WireCounter = [name: string, subject: string, window: string, amount: number];

/** The counters of one statement, each once. */
class Counters {
  readonly #counters = new Map<string, WireCounter>();
  #places = new Map<string, number>();

  add({ name, subject, window }: RateCounter, amount: number): void {
    const key = keyOf(name, subject);
    const known = this.#counters.get(key);
    if (known === undefined) this.#counters.set(key, [name, subject, window, amount]);
    else known[3] += amount;
  }

  /** All of them, in the same order in every gateway. */
  inOrder(): readonly WireCounter[] {
    const sorted = [...this.#counters].sort(([one], [other]) => (one < other ? -1 : 1));
    this.#places = new Map(sorted.map(([key], at) => [key, at + 1]));
    return sorted.map(([, counter]) => counter);
  }

  /** The place of a counter in that order, from 1. */
  placeOf({ name, subject }: RateCounter): number {
    return this.#places.get(keyOf(name, subject)) ?? 0;
  }
}

function keyOf(name: string, subject: string): string {
  return `${name}\n${subject}`;
}
