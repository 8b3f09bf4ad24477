import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/open-sqlite.ts';
import { SqlFileStore } from '../../src/store/sql/sql-file-store.ts';
import { SqlTenancy } from '../../src/store/sql/sql-tenancy.ts';
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
