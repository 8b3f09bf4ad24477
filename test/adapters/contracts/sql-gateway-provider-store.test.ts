import { emptyWriteLog } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlGatewayProviderStore } from '../../../src/store/sql/stores/sql-gateway-provider-store.ts';
import { gatewayProviderContract } from './gateway-providers.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';

const emptied = sqliteForTests();

gatewayProviderContract('SqlGatewayProviderStore', async () => ({
  store: new SqlGatewayProviderStore(await emptied(), emptyWriteLog),
  close: async () => {},
}));
