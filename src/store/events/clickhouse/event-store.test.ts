import { expect, it } from 'vitest';
import { ServiceUnreachable } from '../../../kit/net/service-client.ts';
import { ClickhouseEventStore } from './event-store.ts';

const ADDRESS = {
  origin: 'http://127.0.0.1:8123',
  database: 'signalbox',
  user: 'reader',
  password: 'hidden',
};

it.each([
  [
    'the number of the error',
    { status: 500, text: 'Code: 193, e.displayText() = Wrong password for reader' },
  ],
  ['the code of the system', new ServiceUnreachable('connection failed', 'ECONNREFUSED')],
  ['a word for silence', new ServiceUnreachable('no answer within the time limit', 'timeout')],
])('logs %s, and nothing else of a server that fails', async (_, outcome) => {
  const lines: unknown[] = [];
  const service = {
    async call() {
      if (outcome instanceof Error) throw outcome;
      return { status: outcome.status, headers: {}, bytes: Buffer.from(outcome.text) };
    },
    close() {},
  };
  const warn = (message: string, fields?: object) => lines.push([message, fields]);
  const store = new ClickhouseEventStore(service, ADDRESS, { warn });
  for (let times = 0; times < 2; times++) {
    await expect(store.sizes()).rejects.toMatchObject({ kind: 'overloaded' });
  }
  await store.close();
  const errno = outcome instanceof Error ? outcome.code : 'CLICKHOUSE_193';
  expect(lines).toEqual([
    [
      expect.stringMatching(/^ClickHouse does not answer: /),
      { clickhouse: 'http://127.0.0.1:8123/signalbox', errno },
    ],
  ]);
});
