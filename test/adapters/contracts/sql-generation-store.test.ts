import type { GenerationStore } from '../../../src/ports/generations/generations.ts';
import type { SqliteDatabase } from '../../../src/store/sql/sqlite/sqlite-database.ts';
import {
  SqlGenerationStore,
  sqliteGenerationStore,
} from '../../../src/store/sql/stores/sql-generation-store.ts';
import { generationStoreContract } from './generation-store.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const STORES: Readonly<Record<string, (database: SqliteDatabase) => GenerationStore>> = {
  SqlGenerationStore: (database) => new SqlGenerationStore(database),
  sqliteGenerationStore,
};

const emptied = sqliteForTests();

for (const [name, storeOf] of Object.entries(STORES)) {
  generationStoreContract(name, async () => {
    const database = await emptied();
    return {
      generations: storeOf(database),
      close: async () => {},
    };
  });
}
