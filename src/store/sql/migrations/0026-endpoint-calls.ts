import type { Migration } from './migration.ts';

/** Calls of endpoints by hour. Each run of a gateway has its own rows, so that gateways never wait for each other. */
export const endpointCallsMigration: Migration = {
  name: '0026-endpoint-calls',
  async up({ schema }) {
    await schema
      .createTable('endpoint_calls')
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('run_id', 'text', (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addColumn('failures', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('endpoint_calls_key', ['hour', 'site', 'run_id'])
      .execute();
  },
};
