import { openTestGateway } from '../../kit/gateway-harness.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { contentOfWorkspaces } from '../contracts/workspace-content.ts';

const server = await postgresForTests();

if (server !== undefined) {
  contentOfWorkspaces(async () =>
    openTestGateway({}, { env: { DATABASE_URL: await server.createDatabase() } }),
  );
}
