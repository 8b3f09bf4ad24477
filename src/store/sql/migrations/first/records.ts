import type { SchemaModule } from 'kysely';

/**
 * Stored files without their content; apps and their categories; slices of imported usage, kept so that lost events
 * can be filled again and other gateways see them; approvals that were used for a call, and the tools of MCP servers as
 * accounts saw them; prices of endpoints and since when each was in force; calls of endpoints by hour, of which each
 * run of a gateway has its own rows, so that gateways never wait for each other.
 */
export async function createRecords(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('files')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('mime_type', 'text', (column) => column.notNull())
    .addColumn('size_bytes', 'bigint', (column) => column.notNull())
    .addColumn('is_downloadable', 'integer', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    // The key that stored it.
    .addColumn('key_hash', 'text')
    .execute();
  await schema
    .createIndex('files_in_order')
    .on('files')
    .columns(['workspace_id', 'created_at_ms', 'id'])
    .execute();
  // The stored bytes of an account are summed from it.
  await schema
    .createIndex('files_by_account')
    .on('files')
    .columns(['account_id', 'workspace_id', 'key_hash', 'size_bytes'])
    .execute();

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

  await schema
    .createTable('imported_usage')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('imported_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_event_ms', 'bigint', (column) => column.notNull())
    .addColumn('events', 'bigint', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute();

  await schema
    .createTable('mcp_approvals')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('generation_id', 'text', (column) => column.notNull())
    .addColumn('claimed_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('mcp_approvals_by_time').on('mcp_approvals').column('claimed_at_ms').execute();
  await schema
    .createTable('mcp_seen_tools')
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('server', 'text', (column) => column.notNull())
    // Digests and times of changes by the names of tools, as JSON.
    .addColumn('digests', 'text', (column) => column.notNull())
    .addColumn('changed_at_ms', 'text', (column) => column.notNull())
    .addColumn('seen_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('mcp_seen_tools_key', ['account_id', 'server'])
    .execute();

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

  await schema
    .createTable('endpoint_calls')
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('site', 'text', (column) => column.notNull())
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('calls', 'bigint', (column) => column.notNull())
    .addColumn('failures', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('endpoint_calls_key', ['hour', 'site', 'run_id'])
    .execute();
}
