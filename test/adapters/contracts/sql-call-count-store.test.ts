import { SqlCallCountStore } from '../../../src/store/sql/stores/sql-call-count-store.ts';
import { MemoryCallCounts } from '../../kit/fakes/memory-call-counts.ts';
import { callCountStoreContract } from './call-count-store.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

callCountStoreContract('SqlCallCountStore', async () => {
  const database = await emptied();
  return { store: new SqlCallCountStore(database), close: async () => {} };
});

// The unit tests of uptime use it.
callCountStoreContract('MemoryCallCounts', async () => ({
  store: new MemoryCallCounts(),
  close: async () => {},
}));
