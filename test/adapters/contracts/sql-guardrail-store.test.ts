import { SqlGuardrailStore } from '../../../src/store/sql/stores/sql-guardrail-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { guardrailContract } from './guardrails.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

guardrailContract('SqlGuardrailStore', async () => {
  const database = await emptied();
  return {
    guardrails: new SqlGuardrailStore(database),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});
