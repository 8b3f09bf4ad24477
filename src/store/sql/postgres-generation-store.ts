import { type Kysely, sql } from 'kysely';
import { SqlGenerationStore } from './sql-generation-store.ts';
import type { Tables } from './tables.ts';

/** Rows of generations that gateways share. */
export class PostgresGenerationStore extends SqlGenerationStore {
  readonly #shared: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    super(database);
    this.#shared = database;
  }

  /** The charges of rows that are in no sum yet (see the migration `booked-by`) go into one with them. */
  override async prune(beforeMs: number, limit: number): Promise<number> {
    const { rows } = await sql<{ removed: string }>`
      with removed as (
        delete from generations where id in (
          select id from generations where settled_at_ms < ${beforeMs}::bigint
          order by settled_at_ms limit ${limit}::bigint
        )
        returning account_id, credit_nanos, byok_nanos, written_off_nanos, booked_by
      ),
      summed as (
        insert into ledger_booked as sums
          (gateway_id, account_id, credit_nanos, byok_nanos, written_off_nanos, generations)
        select '', account_id, sum(credit_nanos), sum(byok_nanos), sum(written_off_nanos), count(*)
        from removed where booked_by is null group by account_id order by account_id
        on conflict (gateway_id, account_id) do update set
          credit_nanos = sums.credit_nanos + excluded.credit_nanos,
          byok_nanos = sums.byok_nanos + excluded.byok_nanos,
          written_off_nanos = sums.written_off_nanos + excluded.written_off_nanos,
          generations = sums.generations + excluded.generations
      )
      select count(*) as removed from removed`.execute(this.#shared);
    return Number(rows[0]?.removed);
  }
}
