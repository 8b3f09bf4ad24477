import { SqlMcpMemory } from '../../../src/store/sql/stores/sql-mcp-memory.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { mcpMemoryContract } from './mcp-memory.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

mcpMemoryContract('SqlMcpMemory', async () => {
  const database = await emptied();
  return {
    memory: new SqlMcpMemory(database),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});
