import { emptyWriteLog } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlDestinationStore } from '../../../src/store/sql/stores/sql-destination-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { destinationContract } from './destinations.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

destinationContract('SqlDestinationStore', async () => {
  const database = await emptied();
  return {
    destinations: new SqlDestinationStore(database, emptyWriteLog),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});
