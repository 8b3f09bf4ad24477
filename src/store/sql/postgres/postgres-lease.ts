import { randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';
import type { Tables } from '../tables.ts';

/** Whether this process has a lease, and what its holders have noted with it. */
export interface LeaseState {
  readonly isHeld: boolean;
  readonly noted: JsonObject;
}

/** Milliseconds of the database's clock: the gateways' own may differ. */
const NOW_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Rights that one gateway at a time has, for some seconds: rows of the table `installation`, with notes of holders. */
export class PostgresLease {
  readonly #database: Kysely<Tables>;
  readonly #leaseMs: number;
  readonly #holder = randomUUID();

  /** `leaseMs`: how long a lease lasts unless it is renewed. */
  constructor(database: Kysely<Tables>, leaseMs: number) {
    this.#database = database;
    this.#leaseMs = leaseMs;
  }

  /** Takes or renews a lease that no other gateway has. Reads first: most gateways find that another one has it. */
  async take(name: string): Promise<LeaseState> {
    const kept = await sql<{ value: string; is_taken: boolean }>`
      select value, value::jsonb ->> 'holder' <> ${this.#holder}
        and (value::jsonb ->> 'until_ms')::bigint >= ${NOW_MS} as is_taken
      from installation where name = ${name}`.execute(this.#database);
    const [found] = kept.rows;
    if (found?.is_taken === true) return { isHeld: false, noted: notedIn(found.value) };
    const taken = await sql<{ value: string }>`
      insert into installation as kept (name, value) values (${name}, (${this.#held()})::text)
      on conflict (name) do update set value = (kept.value::jsonb || ${this.#held()})::text
      where kept.value::jsonb ->> 'holder' = ${this.#holder} or (kept.value::jsonb ->> 'until_ms')::bigint < ${NOW_MS}
      returning value`.execute(this.#database);
    const [row] = taken.rows;
    return { isHeld: row !== undefined, noted: notedIn((row ?? found)?.value ?? '{}') };
  }

  /** Notes members with a lease and renews it. Does nothing if another gateway has taken it. */
  async note(name: string, members: JsonObject): Promise<void> {
    await sql`update installation
      set value = (value::jsonb || ${this.#held()} || ${JSON.stringify(members)}::text::jsonb)::text
      where name = ${name} and value::jsonb ->> 'holder' = ${this.#holder}`.execute(this.#database);
  }

  /** Takes a lease away from its holder, so that what that notes has no effect, and replaces the notes. */
  async revoke(name: string, members: JsonObject): Promise<void> {
    const value = JSON.stringify({ ...members, holder: '', until_ms: 0 });
    await sql`insert into installation (name, value) values (${name}, ${value})
      on conflict (name) do update set value = excluded.value`.execute(this.#database);
  }

  /** Lets another gateway take a lease at once. */
  async release(name: string): Promise<void> {
    await sql`update installation set value = (value::jsonb || '{"until_ms": 0}'::jsonb)::text
      where name = ${name} and value::jsonb ->> 'holder' = ${this.#holder}`.execute(this.#database);
  }

  /** True in a statement if this process took a lease last. */
  isHolder(name: string): RawBuilder<boolean> {
    return sql`exists (
      select 1 from installation where name = ${name} and value::jsonb ->> 'holder' = ${this.#holder}
    )`;
  }

  #held() {
    return sql`jsonb_build_object('holder', ${this.#holder}::text, 'until_ms', ${NOW_MS} + ${this.#leaseMs}::int)`;
  }
}

function notedIn(value: string): JsonObject {
  const noted: unknown = JSON.parse(value);
  return isJsonObject(noted) ? noted : {};
}
