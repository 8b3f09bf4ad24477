import type { Migration } from './migration.ts';

/** Slices of imported usage, kept so that lost events can be filled again and other gateways see them. */
export const importedUsageMigration: Migration = {
  name: '0015-imported-usage',
  async up({ schema }) {
    await schema
      .createTable('imported_usage')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('imported_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_event_ms', 'bigint', (column) => column.notNull())
      .addColumn('events', 'bigint', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .execute();
  },
};
