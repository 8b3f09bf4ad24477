import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Changes of what gateways cache, noted by triggers: so changes by an older release and by hand count too. A row is
 * written once for a transaction, and removed some time later.
 */
export const changesMigration: Migration = {
  name: '0024-changes',
  engine: 'postgres',
  async up(database) {
    await sql`
      create table changes (
        changed_in xid8 not null default pg_current_xact_id(),
        kind text not null,
        subject text not null,
        changed_at_ms bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
        primary key (changed_in, kind, subject)
      )`.execute(database);
    await sql`
      create function note_change() returns trigger language plpgsql as $$
      declare
        subject text := '';
      begin
        if tg_nargs > 1 then
          execute format('select ($1).%I::text', tg_argv[1]) into subject using coalesce(new, old);
        end if;
        insert into changes (kind, subject) values (tg_argv[0], subject) on conflict do nothing;
        perform pg_notify('signalbox_changes', '');
        return null;
      end $$`.execute(database);
    for (const { table, kind, column } of NOTED) {
      await sql`
        create trigger note_change after insert or update or delete on ${sql.table(table)}
        for each row execute function note_change(${sql.lit(kind)}, ${sql.lit(column)})`.execute(database);
    }
    await sql`
      create trigger note_change after insert on imported_usage
      for each statement execute function note_change('imported-usage')`.execute(database);
  },
};

/** Tables whose rows are cached, the kind of their changes, and the column that names what changed. */
const NOTED = [
  { table: 'keys', kind: 'key', column: 'hash' },
  { table: 'workspaces', kind: 'workspace', column: 'id' },
  { table: 'budgets', kind: 'workspace', column: 'workspace_id' },
  { table: 'guardrails', kind: 'guardrails', column: 'account_id' },
  { table: 'guardrail_assignments', kind: 'guardrails', column: 'account_id' },
  { table: 'byok_credentials', kind: 'credentials', column: 'account_id' },
] as const;
