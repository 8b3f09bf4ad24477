import { SqlPriceStore } from '../../../src/store/sql/stores/sql-price-store.ts';
import { priceStoreContract } from './price-store.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

priceStoreContract('SqlPriceStore', async () => {
  const database = await emptied();
  return {
    store: new SqlPriceStore(database),
    close: async () => {},
  };
});
