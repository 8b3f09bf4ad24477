import { SqlMemberStore } from '../../../src/store/sql/stores/sql-member-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { memberContract } from './members.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

memberContract('SqlMemberStore', async () => {
  const database = await emptied();
  return { store: new SqlMemberStore(database), tenancy: new SqlTenancy(database), close: async () => {} };
});
