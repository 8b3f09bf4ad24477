import type { Migration } from './migration.ts';

/** What a key may use besides money: its models, and requests and tokens a minute. */
export const keyLimitsMigration: Migration = {
  name: '0002-key-limits',
  async up({ schema }) {
    // A list as JSON.
    await schema.alterTable('keys').addColumn('allowed_models', 'text').execute();
    await schema.alterTable('keys').addColumn('requests_per_minute', 'bigint').execute();
    await schema.alterTable('keys').addColumn('tokens_per_minute', 'bigint').execute();
  },
};
