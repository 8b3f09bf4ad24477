import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { isJsonObject } from '../../../kit/json/json.ts';
import type { Tables } from '../../sql/tables.ts';
import type { FeedLease, FeedLeaseState, LeasedProgress } from './leased-row-feed.ts';
import { isFeedProgress } from './shared-row-feed.ts';

/** How long a lease lasts unless it is renewed, milliseconds: within the five seconds that analytics may be behind. */
const LEASE_MS = 2_500;

/** Milliseconds of the database's clock: the gateways' own may differ. */
const NOW_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Leases as rows of the table `installation`, one for each store of events. */
export class PostgresFeedLease implements FeedLease {
  readonly #database: Kysely<Tables>;
  readonly #holder = randomUUID();

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Reads first: most gateways only find that another one has the lease. */
  async take(storeId: string): Promise<FeedLeaseState> {
    const kept = await sql<{ value: string; is_taken: boolean }>`
      select value, value::jsonb ->> 'holder' <> ${this.#holder}
        and (value::jsonb ->> 'until_ms')::bigint >= ${NOW_MS} as is_taken
      from installation where name = ${nameOf(storeId)}`.execute(this.#database);
    const [found] = kept.rows;
    if (found?.is_taken === true) return { isHeld: false, ...progressOf(found.value) };
    const taken = await sql<{ value: string }>`
      insert into installation as kept (name, value) values (${nameOf(storeId)}, (${this.#held()})::text)
      on conflict (name) do update set value = (kept.value::jsonb || ${this.#held()})::text
      where kept.value::jsonb ->> 'holder' = ${this.#holder} or (kept.value::jsonb ->> 'until_ms')::bigint < ${NOW_MS}
      returning value`.execute(this.#database);
    const [row] = taken.rows;
    return { isHeld: row !== undefined, ...progressOf((row ?? found)?.value ?? '{}') };
  }

  async note(storeId: string, { progress, isRefilling }: LeasedProgress): Promise<void> {
    const noted = JSON.stringify({ progress, is_refilling: isRefilling });
    await sql`update installation set value = (value::jsonb || ${this.#held()} || ${noted}::text::jsonb)::text
      where name = ${nameOf(storeId)} and value::jsonb ->> 'holder' = ${this.#holder}`.execute(
      this.#database,
    );
  }

  /** Takes the lease away from its holder, so that what it notes of its current pass has no effect. */
  async restart(storeId: string): Promise<void> {
    const value = JSON.stringify({ holder: '', until_ms: 0, is_refilling: true });
    await sql`insert into installation (name, value) values (${nameOf(storeId)}, ${value})
      on conflict (name) do update set value = excluded.value`.execute(this.#database);
  }

  async release(storeId: string): Promise<void> {
    await sql`update installation set value = (value::jsonb || '{"until_ms": 0}'::jsonb)::text
      where name = ${nameOf(storeId)} and value::jsonb ->> 'holder' = ${this.#holder}`.execute(
      this.#database,
    );
  }

  #held() {
    return sql`jsonb_build_object('holder', ${this.#holder}::text, 'until_ms', ${NOW_MS} + ${LEASE_MS}::int)`;
  }
}

function nameOf(storeId: string): string {
  return `event-feed-${storeId}`;
}

function progressOf(value: string): LeasedProgress {
  const kept: unknown = JSON.parse(value);
  if (!isJsonObject(kept)) return { progress: undefined, isRefilling: false };
  const { progress, is_refilling } = kept;
  return { progress: isFeedProgress(progress) ? progress : undefined, isRefilling: is_refilling === true };
}
