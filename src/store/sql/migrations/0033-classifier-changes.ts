import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Notes changes of classifiers, which are part of their workspaces, and new classifications: see 0024. */
export const classifierChangesMigration: Migration = {
  name: '0033-classifier-changes',
  engine: 'postgres',
  async up(database) {
    await sql`
      create trigger note_change after insert or update or delete on classifiers
      for each row execute function note_change('workspace', 'workspace_id')`.execute(database);
    await sql`
      create trigger note_change after insert on classifications
      for each statement execute function note_change('classifications')`.execute(database);
  },
};
