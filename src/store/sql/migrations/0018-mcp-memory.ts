import type { Migration } from './migration.ts';

/** Approvals that were used for a call, and the tools of MCP servers as accounts saw them. */
export const mcpMemoryMigration: Migration = {
  name: '0018-mcp-memory',
  async up({ schema }) {
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
  },
};
