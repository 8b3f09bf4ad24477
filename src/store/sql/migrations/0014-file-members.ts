import type { Migration } from './migration.ts';

/** Where the configuration file declares a workspace, its budgets, a key or a credential; null = it does not. */
export const fileMembersMigration: Migration = {
  name: '0014-file-members',
  async up({ schema }) {
    for (const table of ['workspaces', 'keys', 'byok_credentials']) {
      await schema.alterTable(table).addColumn('file_member', 'text').execute();
    }
    await schema.alterTable('workspaces').addColumn('budgets_file_member', 'text').execute();
  },
};
