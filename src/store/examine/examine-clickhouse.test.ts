import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseClickhouseAddress } from '../../kit/net/clickhouse-address.ts';
import { openServiceClient } from '../../net/egress/service-client.ts';
import { examineClickhouse } from './examine-clickhouse.ts';

/** Repeats the header with the password in its error. */
const server = createServer((request, response) => {
  const given = request.headers.authorization ?? '';
  const words = Buffer.from(given.slice('Basic '.length), 'base64').toString();
  response
    .writeHead(500)
    .end(`Code: 516. refused ${given} or ${words} or ${JSON.stringify(request.headers)}`);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

it('leaves the password out of what the server says', async () => {
  const { port } = server.address() as AddressInfo;
  const reading = parseClickhouseAddress(`http://me:canary-pw@127.0.0.1:${port}/x`);
  if (!reading.ok) throw new Error(reading.problem);
  const failed = examineClickhouse(openServiceClient(reading.address.origin), reading.address).catch(
    (error) => error,
  );
  const { message } = await failed;
  expect(message).toContain(`ClickHouse at 127.0.0.1:${port} cannot be used`);
  expect(message).not.toMatch(/canary-pw|bWU6Y2FuYXJ5LXB3/);
});
