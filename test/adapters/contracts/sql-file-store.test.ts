import { SqlFileStore } from '../../../src/store/sql/stores/sql-file-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { fileStoreContract } from './file-store.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

fileStoreContract('SqlFileStore', async () => {
  const database = await emptied();
  return {
    files: new SqlFileStore(database),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});
