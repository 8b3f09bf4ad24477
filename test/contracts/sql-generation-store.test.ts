import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/open-sqlite.ts';
import { SqlGenerationStore } from '../../src/store/sql/sql-generation-store.ts';
import { generationStoreContract } from './generation-store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

generationStoreContract('SqlGenerationStore', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    generations: new SqlGenerationStore(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});
