import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The catalogue, of which these providers are part, is kept in memory: every change is noted for other gateways. */
const NOTED = `
  create trigger note_change after insert or update or delete on gateway_providers
  for each statement execute function note_change('providers')`;

/** Providers that the operator has added by the API, the console or the command line. */
export const gatewayProvidersMigration: Migration = {
  name: '0003-gateway-providers',
  async up(database, engine) {
    await database.schema
      .createTable('gateway_providers')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('slug', 'text', (column) => column.notNull().unique())
      // What no statement asks for, as JSON.
      .addColumn('settings', 'text', (column) => column.notNull())
      // Null = it needs no key.
      .addColumn('encrypted_secret', 'text')
      .addColumn('encryption_key_id', 'text')
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('disabled', 'integer', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint')
      .execute();
    if (engine === 'postgres') await sql.raw(NOTED).execute(database);
  },
};
