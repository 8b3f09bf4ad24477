import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlPriceStore } from '../../src/store/sql/stores/sql-price-store.ts';
import { priceStoreContract } from './price-store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

priceStoreContract('SqlPriceStore', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    store: new SqlPriceStore(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});
