import type { ClickhouseAddress } from '../../kit/net/clickhouse-address.ts';
import { type ServiceClient, ServiceUnreachable } from '../../kit/net/service-client.ts';
import type { ClickhouseFacts } from '../../ports/installation/store-facts.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { ClickhouseClient, ClickhouseProblem } from '../events/clickhouse/driver/clickhouse-client.ts';
import { EVENTS, SCHEMA_VERSION, STORES } from '../events/clickhouse/schema.ts';
import { countOf, storedSizes } from '../events/clickhouse/stored-state.ts';

/** Looks at the events in ClickHouse without changing anything. Rejects with a DataDirectoryProblem. */
export async function examineClickhouse(
  service: ServiceClient,
  address: ClickhouseAddress,
): Promise<ClickhouseFacts> {
  const client = new ClickhouseClient(service, address);
  try {
    const beganAt = performance.now();
    // Asked without a database, which the first start makes.
    const version = await client.serverVersion();
    const roundTripMs = performance.now() - beganAt;
    const tables = await client.query(
      `SELECT count() FROM system.tables WHERE database = '${address.database}' AND name IN ('${EVENTS}', '${STORES}')`,
      undefined,
      undefined,
      '',
    );
    if (Number(tables[0]?.[0]) < 2) return { version, roundTripMs, sizes: undefined };
    if ((await countOf(client, `SELECT max(version) FROM ${STORES}`)) > SCHEMA_VERSION) {
      throw new DataDirectoryProblem(
        `the tables of events in the database ${address.database} of CLICKHOUSE_URL are of a later release; use that one`,
        false,
      );
    }
    return { version, roundTripMs, sizes: await storedSizes(client) };
  } catch (error) {
    if (!(error instanceof ClickhouseProblem || error instanceof ServiceUnreachable)) throw error;
    throw new DataDirectoryProblem(
      `ClickHouse at ${new URL(address.origin).host} cannot be used: ${withoutPassword(error.message, address)} (${error.code}); see that it ` +
        'runs and that CLICKHOUSE_URL leads to it; generations go on, and their events follow when it works again',
      false,
      error,
    );
  }
}

/** A message of the server without our password: it may repeat what it was sent. */
function withoutPassword(message: string, { user = 'default', password }: ClickhouseAddress): string {
  if (password === undefined || password === '') return message;
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  return [basic, password, encodeURIComponent(password)].reduce(
    (text, secret) => text.replaceAll(secret, '***'),
    message,
  );
}
