import { SqlClassificationStore } from '../../../src/store/sql/stores/sql-classification-store.ts';
import { SqlClassifierRunStore } from '../../../src/store/sql/stores/sql-classifier-run-store.ts';
import { SqlClassifierStore } from '../../../src/store/sql/stores/sql-classifier-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { classifierContract } from './classifiers.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

classifierContract('SQLite', async () => {
  const database = await emptied();
  return {
    classifiers: new SqlClassifierStore(database),
    classifications: new SqlClassificationStore(database),
    runs: new SqlClassifierRunStore(database),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});
