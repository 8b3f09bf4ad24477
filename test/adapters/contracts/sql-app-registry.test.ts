import { SqlAppRegistry } from '../../../src/store/sql/stores/sql-app-registry.ts';
import { appRegistryContract } from './app-registry.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

appRegistryContract('SqlAppRegistry', async () => {
  const database = await emptied();
  return {
    apps: new SqlAppRegistry(database),
    others: new SqlAppRegistry(database),
    close: async () => {},
  };
});
