import { classifyingContract } from '../../features/classify/classifying.ts';
import { clickhouseForTests } from '../../kit/servers/clickhouse-server.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const clickhouse = await clickhouseForTests();
const postgres = await postgresForTests();

if (clickhouse !== undefined && postgres !== undefined) {
  classifyingContract('ClickHouse, all else in PostgreSQL', async () => ({
    CLICKHOUSE_URL: clickhouse.newDatabase(),
    DATABASE_URL: await postgres.createDatabase(),
  }));
}
