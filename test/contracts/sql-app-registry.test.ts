import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlAppRegistry } from '../../src/store/sql/stores/sql-app-registry.ts';
import { appRegistryContract } from './app-registry.ts';
import { temporaryDirectory } from './temporary-directory.ts';

appRegistryContract('SqlAppRegistry', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    apps: new SqlAppRegistry(database),
    others: new SqlAppRegistry(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});
