/*
 * Changes of what gateways cache, noted by triggers: so changes by an older release and by hand count too. A row is
 * written once for a transaction, and removed some time later.
 */

const TABLE = `
  create table changes (
    changed_in xid8 not null default pg_current_xact_id(),
    kind text not null,
    subject text not null,
    changed_at_ms bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
    primary key (changed_in, kind, subject)
  )`;

const NOTE = `
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
      end $$`;

/**
 * Tables whose rows are cached, the kind of their changes, and the column that names what changed. A destination
 * decides whether prompts and answers of its workspace are kept, and classifiers are part of theirs.
 */
const NOTED = [
  ['keys', 'key', 'hash'],
  ['workspaces', 'workspace', 'id'],
  ['budgets', 'workspace', 'workspace_id'],
  ['guardrails', 'guardrails', 'account_id'],
  ['guardrail_assignments', 'guardrails', 'account_id'],
  ['byok_credentials', 'credentials', 'account_id'],
  ['destinations', 'workspace', 'workspace_id'],
  ['classifiers', 'workspace', 'workspace_id'],
] as const;

/** Tables that only grow: a statement that inserts is one change. */
const NOTED_AT_ONCE = [
  ['imported_usage', 'imported-usage'],
  ['classifications', 'classifications'],
] as const;

export const CHANGES = [
  TABLE,
  NOTE,
  ...NOTED.map(
    ([table, kind, column]) => `
      create trigger note_change after insert or update or delete on ${table}
      for each row execute function note_change('${kind}', '${column}')`,
  ),
  ...NOTED_AT_ONCE.map(
    ([table, kind]) => `
      create trigger note_change after insert on ${table}
      for each statement execute function note_change('${kind}')`,
  ),
];
