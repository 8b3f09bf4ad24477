import type { Migration } from './migration.ts';

/** Prices of endpoints, and since when each was in force. */
export const pricesMigration: Migration = {
  name: '0020-prices',
  async up({ schema }) {
    await schema
      .createTable('endpoint_prices')
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('endpoint', 'text', (column) => column.notNull())
      .addColumn('member', 'text', (column) => column.notNull())
      .addColumn('min_prompt_tokens', 'bigint', (column) => column.notNull())
      .addColumn('since_ms', 'bigint', (column) => column.notNull())
      .addColumn('price', 'text')
      .addPrimaryKeyConstraint('endpoint_prices_key', [
        'model',
        'endpoint',
        'member',
        'min_prompt_tokens',
        'since_ms',
      ])
      .execute();
  },
};
