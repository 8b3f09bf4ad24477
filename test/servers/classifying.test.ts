import { clickhouseForTests } from '../clickhouse/clickhouse-server.ts';
import { classifyingContract } from '../e2e/classifying.ts';
import { postgresForTests } from '../postgres/postgres-server.ts';

const clickhouse = await clickhouseForTests();
const postgres = await postgresForTests();

if (clickhouse !== undefined && postgres !== undefined) {
  classifyingContract('ClickHouse, all else in PostgreSQL', async () => ({
    CLICKHOUSE_URL: clickhouse.newDatabase(),
    DATABASE_URL: await postgres.createDatabase(),
  }));
}
