import { type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { SqlEngine } from '../migration.ts';

/**
 * Rows of generations: what was charged, and the rest as one JSON text. They refer to no other table, because a
 * generation stays what it was when its key or its workspace is gone. How far followers of settled generations have
 * come, and prompts and answers that they have yet to read.
 */
export async function createGenerations(database: Kysely<unknown>, engine: SqlEngine): Promise<void> {
  const { schema } = database;
  await schema
    .createTable('generations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('key_hash', 'text', (column) => column.notNull())
    .addColumn('settled_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('credit_nanos', 'bigint', (column) => column.notNull())
    .addColumn('byok_nanos', 'bigint', (column) => column.notNull())
    .addColumn('written_off_nanos', 'bigint', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull())
    .$call((table) => (engine === 'sqlite' ? table : table.addColumn('booked_in', sql`xid8`, bookedHere)))
    .addColumn('written_off_cause', 'text')
    .$call((table) => (engine === 'sqlite' ? table : withBooking(table)))
    .execute();
  await schema.createIndex('generations_by_age').on('generations').column('settled_at_ms').execute();
  // The few of which something was written off are summed by account and time.
  await sql`create index generations_written_off on generations (account_id, settled_at_ms)
    where written_off_nanos > 0`.execute(database);
  await schema
    .createTable('follower_notes')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('place', 'text', (column) => column.notNull())
    .addColumn('taken', 'bigint', (column) => column.notNull())
    .addColumn('dropped', 'bigint', (column) => column.notNull())
    .addColumn('waiting', 'bigint', (column) => column.notNull())
    .addColumn('problem', 'text')
    .addColumn('problem_since_ms', 'bigint')
    .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('spooled_contents')
    .addColumn('generation_id', 'text', (column) => column.primaryKey())
    .addColumn('stored_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('characters', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('spooled_contents_by_age')
    .on('spooled_contents')
    .columns(['stored_at_ms', 'generation_id', 'bytes'])
    .execute();
  for (const statement of engine === 'sqlite' ? FOLLOWED : BOOKED) await sql.raw(statement).execute(database);
}

/**
 * The transaction that booked a generation. Gateways read the rows of all gateways in this order, in which no row
 * appears before a position already reached.
 */
function bookedHere(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull().defaultTo(sql`pg_current_xact_id()`);
}

/**
 * `booked_by`: the gateway that booked a generation, whose sums have its charge; null = it is in no sum.
 * `booked_at_ms`: when, by the database's clock, which decides the windows that its charge counts in.
 */
function withBooking<Table extends string, Column extends string>(table: CreateTableBuilder<Table, Column>) {
  return table.addColumn('booked_by', 'text').addColumn('booked_at_ms', 'bigint');
}

/**
 * When a row that is in no sum of `ledger_booked` is deleted, its charge is added to the sums of the gateway ''. It is
 * a trigger because rows are pruned without knowing the sums.
 */
const BOOKED = [
  'create index generations_as_booked on generations (booked_in, settled_at_ms, id)',
  'create index generations_in_no_sum on generations (account_id) where booked_by is null',
  `create function sum_pruned_generations() returns trigger language plpgsql as $$
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
    end $$`,
  `create trigger sum_pruned_generations after delete on generations
    referencing old table as removed
    for each statement execute function sum_pruned_generations()`,
];

/**
 * SQLite has no order of rows that survives VACUUM INTO and clocks that go back: rows of followed workspaces get a
 * number, which is never used twice. Rows of other workspaces cost a look into an empty table. PostgreSQL has
 * `generations.booked_in`.
 */
const FOLLOWED = [
  'create table followed_workspaces (workspace_id text primary key) without rowid',
  `create table followed_generations (
    sequence integer primary key autoincrement, generation_id text not null, workspace_id text not null
  )`,
  `create trigger follow_generation after insert on generations
    when exists (select 1 from followed_workspaces where workspace_id = new.workspace_id)
    begin
      insert into followed_generations (generation_id, workspace_id) values (new.id, new.workspace_id);
    end`,
];
