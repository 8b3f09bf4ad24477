import type { Migration } from './migration.ts';

/** Apps and their categories. */
export const appsMigration: Migration = {
  name: '0007-apps',
  async up({ schema }) {
    await schema
      .createTable('apps')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('host', 'text', (column) => column.notNull().unique())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('title', 'text')
      .addColumn('titled_at_ms', 'bigint')
      .execute();
    await schema
      .createTable('app_categories')
      .addColumn('category', 'text', (column) => column.notNull())
      .addColumn('host', 'text', (column) => column.notNull().references('apps.host'))
      // Among those of the app.
      .addColumn('place', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('app_categories_key', ['category', 'host'])
      .execute();
    await schema.createIndex('app_categories_of_host').on('app_categories').column('host').execute();
  },
};
