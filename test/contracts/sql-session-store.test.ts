import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlSessionStore } from '../../src/store/sql/stores/sql-session-store.ts';
import { SqlTenancy } from '../../src/store/sql/stores/sql-tenancy.ts';
import { sessionStoreContract } from './session-store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

sessionStoreContract('SqlSessionStore', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    sessions: new SqlSessionStore(database),
    tenancy: new SqlTenancy(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});
