import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Rows without a gateway are in no sum of `ledger_booked` (see `0011-booked-by`). When one is deleted, a trigger adds
 * its charge to the sums of the gateway ''. It is a trigger because gateways of an older version prune rows without
 * knowing the sums.
 */
export const prunedSumsMigration: Migration = {
  name: '0013-pruned-sums',
  engine: 'postgres',
  async up(database) {
    await sql`
      create function sum_pruned_generations() returns trigger language plpgsql as $$
      begin
        insert into ledger_booked as sums
          (gateway_id, account_id, credit_nanos, byok_nanos, written_off_nanos, generations)
        select '', account_id, sum(credit_nanos), sum(byok_nanos), sum(written_off_nanos), count(*)
        from removed where booked_by is null group by account_id order by account_id
        on conflict (gateway_id, account_id) do update set
          credit_nanos = sums.credit_nanos + excluded.credit_nanos,
          byok_nanos = sums.byok_nanos + excluded.byok_nanos,
          written_off_nanos = sums.written_off_nanos + excluded.written_off_nanos,
          generations = sums.generations + excluded.generations;
        return null;
      end $$`.execute(database);
    await sql`
      create trigger sum_pruned_generations after delete on generations
      referencing old table as removed
      for each statement execute function sum_pruned_generations()`.execute(database);
  },
};
