import { type Kysely, sql } from 'kysely';
import type { Migration } from './migration.ts';

/** How far followers of settled generations have come, and prompts and answers that they have yet to read. */
export const followingMigration: Migration = {
  name: '0031-following',
  async up({ schema }) {
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
  },
};

/**
 * SQLite has no order of rows that survives VACUUM INTO and clocks that go back: rows of followed workspaces get a
 * number, which is never used twice. Rows of other workspaces cost a look into an empty table. PostgreSQL has
 * `generations.booked_in`.
 */
export const followedGenerationsMigration: Migration = {
  name: '0031-followed-generations',
  engine: 'sqlite',
  async up(database: Kysely<unknown>) {
    await sql`create table followed_workspaces (workspace_id text primary key) without rowid`.execute(
      database,
    );
    await sql`
      create table followed_generations (
        sequence integer primary key autoincrement, generation_id text not null, workspace_id text not null
      )`.execute(database);
    await sql`
      create trigger follow_generation after insert on generations
      when exists (select 1 from followed_workspaces where workspace_id = new.workspace_id)
      begin
        insert into followed_generations (generation_id, workspace_id) values (new.id, new.workspace_id);
      end`.execute(database);
  },
};
