import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlMcpMemory } from '../../src/store/sql/stores/sql-mcp-memory.ts';
import { SqlTenancy } from '../../src/store/sql/stores/sql-tenancy.ts';
import { mcpMemoryContract } from './mcp-memory.ts';
import { temporaryDirectory } from './temporary-directory.ts';

mcpMemoryContract('SqlMcpMemory', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    memory: new SqlMcpMemory(database),
    tenancy: new SqlTenancy(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});
