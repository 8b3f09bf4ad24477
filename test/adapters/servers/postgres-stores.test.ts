import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { SqlAppRegistry } from '../../../src/store/sql/stores/sql-app-registry.ts';
import { SqlByokStore } from '../../../src/store/sql/stores/sql-byok-store.ts';
import { SqlCallCountStore } from '../../../src/store/sql/stores/sql-call-count-store.ts';
import { SqlClassificationStore } from '../../../src/store/sql/stores/sql-classification-store.ts';
import { SqlClassifierRunStore } from '../../../src/store/sql/stores/sql-classifier-run-store.ts';
import { SqlClassifierStore } from '../../../src/store/sql/stores/sql-classifier-store.ts';
import { SqlDestinationStore } from '../../../src/store/sql/stores/sql-destination-store.ts';
import { SqlFileStore } from '../../../src/store/sql/stores/sql-file-store.ts';
import { SqlGatewayProviderStore } from '../../../src/store/sql/stores/sql-gateway-provider-store.ts';
import { SqlGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { SqlGuardrailStore } from '../../../src/store/sql/stores/sql-guardrail-store.ts';
import { SqlMcpMemory } from '../../../src/store/sql/stores/sql-mcp-memory.ts';
import { SqlMemberStore } from '../../../src/store/sql/stores/sql-member-store.ts';
import { SqlPriceStore } from '../../../src/store/sql/stores/sql-price-store.ts';
import { SqlRefusedRequests } from '../../../src/store/sql/stores/sql-refused-requests.ts';
import { SqlSessionStore } from '../../../src/store/sql/stores/sql-session-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { appRegistryContract } from '../contracts/app-registry.ts';
import { byokContract } from '../contracts/byok.ts';
import { callCountStoreContract } from '../contracts/call-count-store.ts';
import { classifierContract } from '../contracts/classifiers.ts';
import { destinationContract } from '../contracts/destinations.ts';
import { fileStoreContract } from '../contracts/file-store.ts';
import { gatewayProviderContract } from '../contracts/gateway-providers.ts';
import { generationStoreContract } from '../contracts/generation-store.ts';
import { guardrailContract } from '../contracts/guardrails.ts';
import { mcpMemoryContract } from '../contracts/mcp-memory.ts';
import { memberContract } from '../contracts/members.ts';
import { priceStoreContract } from '../contracts/price-store.ts';
import { refusedRequestsContract } from '../contracts/refused-requests.ts';
import { sessionStoreContract } from '../contracts/session-store.ts';
import { tenancyContract } from '../contracts/tenancy.ts';

const server = await postgresForTests();

if (server !== undefined) {
  const open = async () => openPostgres(addressOf(await server.emptyDatabase()), { nowMs: 1 });

  tenancyContract('SqlTenancy on PostgreSQL', async () => {
    const { database, close } = await open();
    return { tenancy: new SqlTenancy(database), close };
  });

  byokContract('SqlByokStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { byok: new SqlByokStore(database, async () => {}), tenancy: new SqlTenancy(database), close };
  });

  guardrailContract('SqlGuardrailStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { guardrails: new SqlGuardrailStore(database), tenancy: new SqlTenancy(database), close };
  });

  destinationContract('SqlDestinationStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return {
      destinations: new SqlDestinationStore(database, async () => {}),
      tenancy: new SqlTenancy(database),
      close,
    };
  });

  gatewayProviderContract('SqlGatewayProviderStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { store: new SqlGatewayProviderStore(database, async () => {}), close };
  });

  memberContract('SqlMemberStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { store: new SqlMemberStore(database), tenancy: new SqlTenancy(database), close };
  });

  classifierContract('PostgreSQL', async () => {
    const { database, close } = await open();
    return {
      classifiers: new SqlClassifierStore(database),
      classifications: new SqlClassificationStore(database),
      runs: new SqlClassifierRunStore(database),
      tenancy: new SqlTenancy(database),
      close,
    };
  });

  fileStoreContract('SqlFileStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { files: new SqlFileStore(database), tenancy: new SqlTenancy(database), close };
  });

  sessionStoreContract('SqlSessionStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { sessions: new SqlSessionStore(database), tenancy: new SqlTenancy(database), close };
  });

  mcpMemoryContract('SqlMcpMemory on PostgreSQL', async () => {
    const { database, close } = await open();
    return { memory: new SqlMcpMemory(database), tenancy: new SqlTenancy(database), close };
  });

  priceStoreContract('SqlPriceStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { store: new SqlPriceStore(database), close };
  });

  callCountStoreContract('SqlCallCountStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { store: new SqlCallCountStore(database), close };
  });

  appRegistryContract('SqlAppRegistry on PostgreSQL', async () => {
    const { database, close } = await open();
    return { apps: new SqlAppRegistry(database), others: new SqlAppRegistry(database), close };
  });

  refusedRequestsContract('PostgreSQL', async () => {
    const { database, close } = await open();
    return { refused: new SqlRefusedRequests(database), tenancy: new SqlTenancy(database), close };
  });

  generationStoreContract('SqlGenerationStore on PostgreSQL', async () => {
    const { database, close } = await open();
    return { generations: new SqlGenerationStore(database), close };
  });
}
