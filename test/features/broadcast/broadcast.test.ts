import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { type FakeS3, openFakeS3 } from '../../kit/fakes/fake-s3.ts';
import { freePort } from '../../kit/fakes/free-port.ts';
import {
  type OtlpReceiver,
  openOtlpReceiver,
  type ReceivedSpan,
  spansIn,
} from '../../kit/fakes/otlp-receiver.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { openToolGateway, type ToolGateway } from '../tools/tool-gateway.ts';

const PATH = '/observability/destinations';

let receiver: OtlpReceiver;
let bucket: FakeS3;
let tools: ToolGateway;
let management: Management;
let tablePort: number;

beforeAll(async () => {
  receiver = await openOtlpReceiver();
  bucket = await openFakeS3();
  tablePort = await freePort();
  const origins = [receiver.origin, bucket.origin].map((origin) => new URL(origin).host);
  const allow = [...origins, `127.0.0.1:${tablePort}`];
  tools = await openToolGateway({ egress: { allow } });
  management = managementOf(tools.gateway);
  await broadcasts(true);
});

afterAll(async () => {
  await tools.close();
  await receiver.close();
  await bucket.close();
});

afterEach(async () => {
  const { data } = (await management.ask('GET', `${PATH}?all_workspaces=true&limit=100`)).body;
  for (const { id } of data) await management.ask('DELETE', `${PATH}/${id}`);
  receiver.requests.length = 0;
});

const broadcasts = (isOn: boolean) =>
  management.data(200, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: isOn });

const collector = (more: JsonObject = {}): JsonObject => ({
  type: 'otel-collector',
  name: 'Collector',
  config: { endpoint: receiver.origin, headers: { 'x-token': 'of-the-collector' } },
  ...more,
});

const created = (body: JsonObject) => management.data(201, 'POST', PATH, body);

/** Asks, and gives the id of the generation. */
async function asked(body: object = {}, key = tools.gateway.apiKey): Promise<string> {
  tools.answers('m/chat', { text: 'The sky.' });
  const messages = [{ role: 'user', content: 'What is blue?' }];
  const response = await tools.gateway.post(
    '/chat/completions',
    { model: 'm/chat', messages, ...body },
    { authorization: `Bearer ${key}` },
  );
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('x-generation-id') ?? '';
}

/** The root span of a generation, once it has come. */
async function rootOf(id: string): Promise<ReceivedSpan> {
  const find = () => receiver.spans().find(({ attributes }) => attributes['signalbox.generation.id'] === id);
  await expect.poll(() => find()?.name).toBeDefined();
  return find() as ReceivedSpan;
}

describe('a destination', () => {
  it('is sent the generations since it exists, with prompt and answer', async () => {
    const before = await asked();
    await created(collector());
    const whole = await asked({ user: 'ada' });
    const streamed = await asked({ stream: true });
    for (const id of [whole, streamed]) {
      const root = await rootOf(id);
      expect(root.name).toBe('chat m/chat');
      expect(JSON.parse(root.attributes['gen_ai.input.messages'])).toEqual([
        { role: 'user', parts: [{ type: 'text', content: 'What is blue?' }] },
      ]);
      expect(JSON.parse(root.attributes['gen_ai.output.messages'])).toMatchObject([
        { role: 'assistant', parts: [{ type: 'text', content: 'The sky.' }] },
      ]);
      const attempt = receiver.spans().find(({ parentSpanId }) => parentSpanId === root.spanId);
      expect(attempt).toMatchObject({ traceId: root.traceId, kind: 3 });
    }
    expect(receiver.requests[0]).toMatchObject({
      path: '/v1/traces',
      contentType: 'application/json',
      headers: { 'x-token': 'of-the-collector' },
    });
    expect(receiver.requests[0]?.headers).not.toHaveProperty('x-test-connection');
    const sent = receiver.spans().map(({ attributes }) => attributes['signalbox.generation.id']);
    expect(sent).not.toContain(before);
    expect(receiver.counts.faults).toEqual([]);
  });

  it('takes protobuf', async () => {
    await created(collector({ config: { endpoint: receiver.origin, protocol: 'protobuf' } }));
    const root = await rootOf(await asked());
    expect(root.resource).toMatchObject({ 'service.name': 'signalbox' });
    expect(receiver.requests[0]?.contentType).toBe('application/x-protobuf');
  });

  it('is not sent what its settings leave out', async () => {
    const hash = createHash('sha256').update(tools.gateway.managementKey).digest('hex');
    await created(collector({ api_key_hashes: [hash] }));
    await created(
      collector({
        filter_rules: { groups: [{ rules: [{ field: 'input', operator: 'contains', value: 'green' }] }] },
      }),
    );
    const everything = await created(
      collector({
        privacy_mode: true,
        broadcast_generation_cost: true,
        broadcast_generation_identity: true,
        broadcast_generation_request_context: true,
      }),
    );
    const root = await rootOf(await asked());
    expect(JSON.stringify(root)).not.toMatch(/blue|sky/);
    expect(root.attributes).toMatchObject({
      'signalbox.workspace.id': everything.workspace_id,
      'gen_ai.usage.cost': expect.any(Number),
    });
    const green = await asked({ messages: [{ role: 'user', content: 'What is green?' }] });
    await expect
      .poll(() => receiver.spans().filter((s) => s.attributes['signalbox.generation.id'] === green).length)
      .toBe(2);
    // A root span of each request but the first, which only one of the three was sent.
    expect(receiver.spans().filter(({ kind }) => kind === 2)).toHaveLength(3);
  });

  it('is sent nothing of a workspace that does not broadcast, and no content of requests that forbid it', async () => {
    await created(collector());
    const forbidden = await rootOf(await asked({ provider: { zdr: true, only: ['chatter'] } }));
    expect(JSON.stringify(forbidden)).not.toMatch(/blue|sky/);
    const guardrail = await management.data(201, 'POST', '/guardrails', { name: 'None', enforce_zdr: true });
    const { key, data } = (await management.ask('POST', '/keys', { name: 'Discreet' })).body;
    const assigned = { key_hashes: [data.hash] };
    await management.ask('POST', `/guardrails/${guardrail.id}/assignments/keys`, assigned);
    const discreet = await rootOf(await asked({}, key));
    expect(JSON.stringify(discreet)).not.toMatch(/blue|sky/);
    expect(discreet.attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
    await broadcasts(false);
    const silent = await asked();
    await broadcasts(true);
    const loud = await asked();
    await rootOf(loud);
    const sent = receiver.spans().map(({ attributes }) => attributes['signalbox.generation.id']);
    expect(sent).not.toContain(silent);
  });

  it('of type webhook gets the same as JSON, by its own method', async () => {
    await created({
      type: 'webhook',
      name: 'Hook',
      config: { url: `${receiver.origin}/hooks/v1/traces`, method: 'PUT' },
    });
    const root = await rootOf(await asked());
    expect(root.attributes['gen_ai.output.messages']).toContain('The sky.');
    expect(receiver.requests[0]?.path).toBe('/hooks/v1/traces');
  });

  it('of a hosted service gets its credentials and what its project is found by', async () => {
    await created({
      type: 'weave',
      name: 'Weave',
      config: { apiKey: 'wandb-secret', entity: 'team', project: 'p1', baseUrl: receiver.origin },
    });
    const root = await rootOf(await asked());
    expect(root.resource).toMatchObject({ 'wandb.entity': 'team', 'wandb.project': 'p1' });
    expect(receiver.requests[0]).toMatchObject({
      path: '/otel/v1/traces',
      headers: { 'wandb-api-key': 'wandb-secret' },
    });
  });

  it('of type clickhouse gets a row for each span, in one statement', async () => {
    const statements: { url: URL; authorization: string | undefined; rows: any[] }[] = [];
    const table = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const lines = Buffer.concat(chunks).toString().trim().split('\n');
      const url = new URL(request.url ?? '', 'http://table');
      const { authorization } = request.headers;
      statements.push({ url, authorization, rows: lines.map((line) => JSON.parse(line)) });
      response.end();
    });
    await new Promise<void>((resolve) => table.listen(tablePort, '127.0.0.1', resolve));
    try {
      await created({
        type: 'clickhouse',
        name: 'Rows',
        config: { host: `http://127.0.0.1:${tablePort}`, database: 'traces', username: 'u', password: 'p' },
      });
      const id = await asked({ trace: { trace_id: 'a'.repeat(32), flag: true, list: [1, 'x'] } });
      await expect.poll(() => statements.length).toBe(1);
      const [{ url, authorization, rows } = { url: new URL('http://none'), authorization: '', rows: [] }] =
        statements;
      expect(authorization).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`);
      expect(url.searchParams.get('query')).toMatch(
        /^INSERT INTO traces\.signalbox_traces \(Timestamp, TraceId, .*, Links\.Attributes\) FORMAT JSONEachRow$/,
      );
      expect(rows).toHaveLength(2);
      const [root, attempt] = rows;
      expect(root).toMatchObject({
        Timestamp: expect.stringMatching(/^\d{10}\.\d{9}$/),
        TraceId: 'a'.repeat(32),
        ParentSpanId: '',
        SpanKind: 'Server',
        ServiceName: 'signalbox',
        ResourceAttributes: { 'service.name': 'signalbox' },
        Duration: expect.stringMatching(/^\d+$/),
        StatusCode: 'Unset',
        SpanAttributes: {
          'signalbox.generation.id': id,
          'trace.metadata.flag': 'true',
          'trace.metadata.list': '[1,"x"]',
          'gen_ai.response.finish_reasons': '["stop"]',
        },
        'Links.TraceId': [],
      });
      expect(Math.abs(Number(root.Timestamp) - Date.now() / 1000)).toBeLessThan(600);
      expect(attempt).toMatchObject({ SpanKind: 'Client', ParentSpanId: root.SpanId });
    } finally {
      await new Promise((resolve) => table.close(resolve));
    }
  });

  it('of type s3 gets objects of OTLP in folders of its own', async () => {
    await created({
      type: 's3',
      name: 'Bucket',
      config: {
        bucketName: bucket.bucket,
        accessKeyId: bucket.signingKey.accessKeyId,
        secretAccessKey: bucket.signingKey.secretAccessKey,
        region: bucket.signingKey.region,
        endpoint: bucket.origin,
        prefix: 'gateway',
        pathTemplate: '{prefix}/{apiKeyName}/{date}',
      },
    });
    const id = await asked();
    await expect.poll(() => [...bucket.objects.keys()]).toHaveLength(1);
    const [[key, { bytes }] = ['', { bytes: Buffer.alloc(0) }]] = [...bucket.objects];
    const date = new Date().toISOString().slice(0, 10);
    expect(key).toMatch(new RegExp(`^gateway/[^/]+/${date}/traces-[0-9T.]+Z-[0-9a-f]{16}\\.json$`));
    const spans = spansIn(JSON.parse(bytes.toString()));
    expect(spans[0]?.attributes['signalbox.generation.id']).toBe(id);
  });
});
