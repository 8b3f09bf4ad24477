import { contentOfWorkspaces } from '../contracts/workspace-content.ts';
import { openTestGateway } from '../e2e/harness.ts';
import { postgresForTests } from '../postgres/postgres-server.ts';

const server = await postgresForTests();

if (server !== undefined) {
  contentOfWorkspaces(async () =>
    openTestGateway({}, { env: { DATABASE_URL: await server.createDatabase() } }),
  );
}
