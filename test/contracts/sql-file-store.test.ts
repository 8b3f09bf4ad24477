import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlFileStore } from '../../src/store/sql/stores/sql-file-store.ts';
import { SqlTenancy } from '../../src/store/sql/stores/sql-tenancy.ts';
import { fileStoreContract } from './file-store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

fileStoreContract('SqlFileStore', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    files: new SqlFileStore(database),
    tenancy: new SqlTenancy(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});
