import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { parseClickhouseAddress } from '../../../src/kit/net/clickhouse-address.ts';
import { openServiceClient } from '../../../src/net/egress/service-client.ts';
import type { EventQuery, LogQuery } from '../../../src/ports/events/events.ts';
import { ClickhouseEventStore } from '../../../src/store/events/clickhouse/event-store.ts';
import { EventsUnavailable } from '../../../src/store/events/event-errors.ts';
import { logFilterOf } from '../../kit/builders/log-filter.ts';

/** Answers to the statements that find the tables; all others get `answer`. */
let answer: (response: ServerResponse) => void = () => {};
const server = createServer(async (request, response) => {
  let sql = '';
  for await (const piece of request) sql += String(piece);
  if (sql.startsWith('SELECT version()')) response.end('24.3.1\n');
  else if (sql.startsWith('SELECT id, toInt64')) response.end('tables\t1\n');
  else if (sql.startsWith('SELECT max(before_ms)')) response.end('0\n');
  else if (!sql.trimStart().startsWith('SELECT') && !sql.trimStart().startsWith('WITH')) response.end();
  else answer(response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const reading = parseClickhouseAddress(`http://127.0.0.1:${(server.address() as AddressInfo).port}/usage`);
if (!reading.ok) throw new Error(reading.problem);
const events = new ClickhouseEventStore(openServiceClient(reading.address.origin), reading.address);

afterAll(async () => {
  await events.close();
  server.closeAllConnections();
  server.close();
});

const range = { startMs: 0, endMs: 86_400_000 };
const query: EventQuery = {
  ...range,
  accountId: null,
  metrics: ['request_count', 'avg_latency'],
  dimensions: ['model'],
  granularity: 'hour',
  filters: [],
  order: null,
  limit: 10,
  groupLimit: null,
};
const log: LogQuery = {
  ...logFilterOf({ accountId: 'a', fromMs: 0, toMs: 1_000 }),
  sort: 'arrival',
  order: 'desc',
  after: null,
  limit: 10,
  stopAfterMs: null,
};

const QUESTIONS = {
  query: () => events.query(query),
  log: () => events.log(log),
  logCounts: () => events.logCounts({ ...log, bucketMs: 1_000 }),
  appTotals: () => events.appTotals([range]),
};

describe('a ClickHouse that answers garbage', () => {
  it.each(['garbage\n', '<html>\n<body>502</body>\n', 'a\tb\tc\td\n', '\n', `x${'\t'.repeat(30)}\n`])(
    'is unavailable, and nothing of %j is shown',
    async (garbage) => {
      answer = (response) => response.end(garbage);
      for (const ask of Object.values(QUESTIONS)) await expect(ask()).rejects.toThrow(EventsUnavailable);
      expect(events.isAvailable).toBe(false);
    },
  );

  it('gives right rows still', async () => {
    answer = (response) => response.end('3600000\tsome/model\t12\tnan\n7200000\t\\N\t1\t2.5\n');
    expect((await events.query(query)).rows).toEqual([
      { bucketMs: 3_600_000, dimensions: ['some/model'], metrics: [12n, null] },
      { bucketMs: 7_200_000, dimensions: [null], metrics: [1n, 2.5] },
    ]);
    expect(events.isAvailable).toBe(true);
  });

  it('is not read without end', async () => {
    let sentBytes = 0;
    answer = (response) => {
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const send = () => {
        if (response.destroyed) return;
        sentBytes += piece.length;
        response.write(piece, () => send());
      };
      send();
    };
    await expect(events.query(query)).rejects.toThrow(EventsUnavailable);
    expect(sentBytes).toBeLessThan(128 * 1024 * 1024);
  });
});
