import { SqlRefusedRequests } from '../../../src/store/sql/stores/sql-refused-requests.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { refusedRequestsContract } from './refused-requests.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

refusedRequestsContract('SQLite', async () => {
  const database = await emptied();
  return {
    refused: new SqlRefusedRequests(database),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});
