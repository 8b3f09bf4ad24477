import type { Migration } from './migration.ts';

/** Why a generation was not charged all that it used; null in existing rows. */
export const writtenOffCauseMigration: Migration = {
  name: '0010-written-off-cause',
  async up(database) {
    await database.schema.alterTable('generations').addColumn('written_off_cause', 'text').execute();
  },
};
