import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, it } from 'vitest';
import { eventHistory, HISTORY_START_MS } from '../../../../test/kit/builders/event-history.ts';
import { logFilterOf } from '../../../../test/kit/builders/log-filter.ts';
import { traceIdOf } from '../../../ir/trace.ts';
import type { GenerationEvent, LogQuery } from '../../../ports/events/events.ts';
import { examineEvents } from '../../examine/examine-events.ts';
import { DuckdbEventStore } from './event-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Columns that versions 1 and 2 did not have. */
const ADDED =
  `state request_format session_id request_id error_type duration_ms error_status attempts tool_calls
  is_streamed trace_id refused_requests`.split(/\s+/);

const PAGE: LogQuery = {
  ...logFilterOf({
    accountId: 'account-0',
    fromMs: HISTORY_START_MS,
    toMs: HISTORY_START_MS + 86_400_000,
  }),
  sort: 'arrival',
  order: 'asc',
  after: null,
  limit: 100,
  stopAfterMs: null,
};

it('reads a file of the first version, whose events have fewer facts, and adds to it', async () => {
  const file = join(directory, 'events.duckdb');
  const history = [...eventHistory(40, 1)].map((event) => ({ ...event, accountId: 'account-0' }));
  const [first, second, third, ...rest] = history;
  const store = new DuckdbEventStore(file);
  const own = { endpoint: 'endpoint-1', generationMs: 20, latencyMs: 10 };
  await store.append([
    { ...first, ...own, finishReason: 'stop' },
    { ...second, ...own, finishReason: 'error' },
    { ...third, ...own, finishReason: null },
  ] as typeof history);
  await store.close();
  const database = await DuckDBInstance.create(file);
  const connection = await database.connect();
  for (const name of ADDED) await connection.run(`ALTER TABLE events DROP COLUMN ${name}`);
  await connection.run('ALTER TABLE series DROP COLUMN is_imported');
  await connection.run('UPDATE shape SET version = 1');
  connection.closeSync();
  database.closeSync();

  expect(await examineEvents(file)).toMatchObject({ events: 3 });
  const opened = new DuckdbEventStore(file);
  expect((await opened.append(rest)).added).toBe(37);
  const { rows } = await opened.log(PAGE);
  expect(rows.length).toBe(40);
  expect(rows.slice(0, 3)).toMatchObject([
    { id: 'gen-0', state: 'answered', durationMs: 20, format: null, attempts: null, isStreamed: null },
    { id: 'gen-1', state: 'failed' },
    { id: 'gen-2', state: 'cancelled' },
  ]);
  expect(rows[3]).toMatchObject({ id: 'gen-3', state: 'fallback', format: 'responses', attempts: 2 });
  const cancelled = await opened.log({ ...PAGE, states: ['cancelled'] });
  expect(cancelled.rows.map(({ id }) => id)).toContain('gen-2');
  await opened.close();
});

it('adds the trace to a file of the second version', async () => {
  const file = join(directory, 'second.duckdb');
  const [first, second] = [...eventHistory(2, 1)].map((event) => ({ ...event, accountId: 'account-0' }));
  const store = new DuckdbEventStore(file);
  await store.append([first] as [GenerationEvent]);
  await store.close();
  const database = await DuckDBInstance.create(file);
  const connection = await database.connect();
  for (const name of ['trace_id', 'refused_requests'])
    await connection.run(`ALTER TABLE events DROP COLUMN ${name}`);
  await connection.run('UPDATE shape SET version = 2');
  connection.closeSync();
  database.closeSync();

  const opened = new DuckdbEventStore(file);
  const traceId = traceIdOf('workflow');
  const named = { ...second, log: { ...second?.log, traceId } } as GenerationEvent;
  expect((await opened.append([named])).added).toBe(1);
  const { rows } = await opened.log(PAGE);
  expect(rows).toMatchObject([
    { id: 'gen-0', traceId: null, state: first?.log?.state },
    { id: 'gen-1', traceId },
  ]);
  await opened.close();
});
