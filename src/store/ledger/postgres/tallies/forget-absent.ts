import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../sql/tables.ts';

/**
 * Removes tallies of keys and workspaces that no longer exist: a generation that was open when its key was deleted
 * begins a new sum. Skips tallies with reservations and locked ones. Resolves with the number removed.
 */
export async function forgetAbsent(database: Kysely<Tables>): Promise<number> {
  const { rows } = await sql`
    with absent as (
      select scope, id from ledger_tallies t
      where reserved_credit = 0 and reserved_byok = 0 and (
        (scope = 'key' and not exists (select from keys where hash = t.id))
        or (scope = 'workspace' and not exists (select from workspaces where workspaces.id = t.id))
      )
      for update skip locked
    )
    delete from ledger_tallies t using absent
    where t.scope = absent.scope and t.id = absent.id
    returning t.id`.execute(database);
  return rows.length;
}
