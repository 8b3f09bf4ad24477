import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlGuardrailStore } from '../../src/store/sql/stores/sql-guardrail-store.ts';
import { SqlTenancy } from '../../src/store/sql/stores/sql-tenancy.ts';
import { guardrailContract } from './guardrails.ts';
import { temporaryDirectory } from './temporary-directory.ts';

guardrailContract('SqlGuardrailStore', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    guardrails: new SqlGuardrailStore(database),
    tenancy: new SqlTenancy(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});
