import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openToolGateway, type ToolGateway } from '../../features/tools/tool-gateway.ts';
import { managementOf } from '../../kit/management.ts';
import { clickhouseForTests } from '../../kit/servers/clickhouse-server.ts';

const clickhouse = await clickhouseForTests();
const guide = new URL('../../../docs/guide/observability.md', import.meta.url);

let tools: ToolGateway;

beforeAll(async () => {
  if (clickhouse === undefined) return;
  const { host } = new URL(clickhouse.newDatabase());
  tools = await openToolGateway({ egress: { allow: [host] } });
});

afterAll(() => tools?.close());

it('writes a row for each span to the table of the guide', async ({ skip }) => {
  if (clickhouse === undefined) return skip('there is no ClickHouse');
  const types = await clickhouse.ask('SELECT groupArray(name) FROM system.data_type_families');
  // Tables of the collector need both.
  if (!types.includes("'DateTime64'") || !types.includes("'Map'")) {
    return skip('this ClickHouse is older than 21.1');
  }
  const address = new URL(clickhouse.newDatabase());
  const database = address.pathname.slice(1);
  await clickhouse.ask(`CREATE DATABASE ${database}`);
  const [, statement = ''] = /```sql\n(CREATE TABLE [\s\S]*?)```/.exec(readFileSync(guide, 'utf8')) ?? [];
  await clickhouse.ask(statement.replace('signalbox_traces', `${database}.signalbox_traces`));
  const management = managementOf(tools.gateway);
  await management.data(200, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
  const { id: destination } = await management.data(201, 'POST', '/observability/destinations', {
    type: 'clickhouse',
    name: 'Rows',
    config: {
      host: `http://${address.host}`,
      database,
      username: address.username,
      password: decodeURIComponent(address.password),
    },
  });
  const test = await management.data(200, 'POST', `/observability/destinations/${destination}/test`);
  expect(test).toMatchObject({ success: true });
  tools.answers('m/chat', { text: 'The sky.' });
  const response = await tools.gateway.post('/chat/completions', {
    model: 'm/chat',
    messages: [{ role: 'user', content: "What's blue?" }],
    user: 'ada',
    trace: { trace_id: 'a'.repeat(32), flag: true, team: "o'brien" },
  });
  await response.text();
  const id = response.headers.get('x-generation-id');
  const rows = async () =>
    (await clickhouse.ask(`SELECT * FROM ${database}.signalbox_traces ORDER BY SpanKind FORMAT JSONEachRow`))
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  await expect.poll(rows, { interval: 100 }).toHaveLength(2);
  const [attempt, root] = await rows();
  expect(root).toMatchObject({
    TraceId: 'a'.repeat(32),
    ParentSpanId: '',
    SpanName: 'chat m/chat',
    SpanKind: 'Server',
    ServiceName: 'signalbox',
    StatusCode: 'Unset',
    SpanAttributes: {
      'signalbox.generation.id': id,
      'user.id': 'ada',
      'trace.metadata.flag': 'true',
      'trace.metadata.team': "o'brien",
      'gen_ai.response.finish_reasons': '["stop"]',
    },
  });
  expect(root.SpanAttributes['gen_ai.input.messages']).toContain("What's blue?");
  expect(attempt).toMatchObject({ ParentSpanId: root.SpanId, SpanKind: 'Client' });
  const near = await clickhouse.ask(
    `SELECT count() FROM ${database}.signalbox_traces WHERE abs(Timestamp - now64(9)) < 600 AND Duration < 600e9`,
  );
  expect(near.trim()).toBe('2');
}, 60_000);
