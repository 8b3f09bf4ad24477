import { SqlSessionStore } from '../../../src/store/sql/stores/sql-session-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { sessionStoreContract } from './session-store.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

sessionStoreContract('SqlSessionStore', async () => {
  const database = await emptied();
  return {
    sessions: new SqlSessionStore(database),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});
