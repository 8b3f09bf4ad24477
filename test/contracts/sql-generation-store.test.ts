import { join } from 'node:path';
import type { GenerationStore } from '../../src/ports/generations.ts';
import { openSqlite } from '../../src/store/sql/sqlite/open-sqlite.ts';
import type { SqliteDatabase } from '../../src/store/sql/sqlite/sqlite-database.ts';
import {
  SqlGenerationStore,
  sqliteGenerationStore,
} from '../../src/store/sql/stores/sql-generation-store.ts';
import { generationStoreContract } from './generation-store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const STORES: Readonly<Record<string, (database: SqliteDatabase) => GenerationStore>> = {
  SqlGenerationStore: (database) => new SqlGenerationStore(database),
  sqliteGenerationStore,
};

for (const [name, storeOf] of Object.entries(STORES)) {
  generationStoreContract(name, async () => {
    const directory = temporaryDirectory();
    const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
    return {
      generations: storeOf(database),
      async close() {
        await database.destroy();
        directory.remove();
      },
    };
  });
}
