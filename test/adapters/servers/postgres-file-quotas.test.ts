import { openTestGateway } from '../../kit/gateway-harness.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { fileQuotas, QUOTAS_OF_TESTS } from '../contracts/file-quotas.ts';

const server = await postgresForTests();

if (server !== undefined) {
  fileQuotas(async () => {
    const env = { DATABASE_URL: await server.createDatabase() };
    const first = await openTestGateway(QUOTAS_OF_TESTS, { env });
    return [first, await openTestGateway(QUOTAS_OF_TESTS, { env })];
  });
}
