import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { type FakeS3, openFakeS3 } from '../../kit/fakes/fake-s3.ts';
import { freePort } from '../../kit/fakes/free-port.ts';
import { type OtlpReceiver, openOtlpReceiver } from '../../kit/fakes/otlp-receiver.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

/** Tests of connections: `POST /observability/destinations/{id}/test`. */

const PATH = '/observability/destinations';

let gateway: TestGateway;
let receiver: OtlpReceiver;
let bucket: FakeS3;
let other: Server;
/** Requests of the other server. */
const seen: IncomingMessage[] = [];
/** `null` = it never answers. */
let otherAnswer: { status: number; headers?: Record<string, string> } | null;
let closedPort: number;
let management: Management;

beforeAll(async () => {
  receiver = await openOtlpReceiver();
  bucket = await openFakeS3();
  other = createServer((request, response) => {
    seen.push(request);
    request.resume();
    if (otherAnswer !== null) response.writeHead(otherAnswer.status, otherAnswer.headers).end('a body');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  closedPort = await freePort();
  const origins = [receiver.origin, bucket.origin, otherOrigin()];
  const allow = [...origins.map((origin) => new URL(origin).host), `127.0.0.1:${closedPort}`];
  gateway = await openTestGateway({ egress: { allow } });
  management = managementOf(gateway);
});

afterAll(async () => {
  await gateway.close();
  await receiver.close();
  await bucket.close();
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
});

afterEach(async () => {
  const { data } = (await management.ask('GET', PATH)).body;
  for (const { id } of data) await management.ask('DELETE', `${PATH}/${id}`);
  seen.length = 0;
  receiver.requests.length = 0;
});

const otherOrigin = () => `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
const hook = (url = `${otherOrigin()}/hook?token=t`) => ({ type: 'webhook', name: 'Hook', config: { url } });
const passed = { success: true, status: 200, message: null };

async function tested(body: JsonObject): Promise<JsonObject> {
  const { id } = await management.data(201, 'POST', PATH, body);
  return (await management.data(200, 'POST', `${PATH}/${id}/test`)) as JsonObject;
}

it.each(['json', 'protobuf'])('sends a collector an empty payload in %s', async (protocol) => {
  const config = { endpoint: receiver.origin, protocol, headers: { 'x-api-key': 'k' } };
  expect(await tested({ type: 'otel-collector', name: 'c', config })).toEqual(passed);
  expect(receiver.requests).toMatchObject([
    {
      path: '/v1/traces',
      contentType: protocol === 'json' ? 'application/json' : 'application/x-protobuf',
      headers: { 'x-test-connection': 'true', 'x-api-key': 'k' },
    },
  ]);
  expect(receiver.requests[0]?.message.resourceSpans ?? []).toEqual([]);
  expect(receiver.counts.faults).toEqual([]);
});

it('writes and deletes an object in a bucket', async () => {
  const { accessKeyId, secretAccessKey, region } = bucket.signingKey;
  const config = {
    bucketName: bucket.bucket,
    endpoint: bucket.origin,
    accessKeyId,
    secretAccessKey,
    region,
    pathTemplate: 'traces/year={year}',
  };
  bucket.requests.length = 0;
  expect(await tested({ type: 's3', name: 's', config })).toEqual(passed);
  expect(bucket.requests).toMatchObject([
    expect.stringMatching(/^PUT traces\/year=\d{4}\/connection-test-[0-9a-f-]+\.json$/),
    expect.stringMatching(/^DELETE traces\//),
  ]);
  expect(bucket.objects.size).toBe(0);
  bucket.trouble('denied');
  expect(await tested({ type: 's3', name: 's', config })).toMatchObject({ success: false, status: 403 });
});

it('asks ClickHouse for the table', async () => {
  otherAnswer = { status: 200 };
  const config = { host: otherOrigin(), database: 'd', username: 'u', password: 'p' };
  expect(await tested({ type: 'clickhouse', name: 'h', config })).toEqual(passed);
  expect(seen).toMatchObject([
    { method: 'GET', headers: { authorization: 'Basic dTpw', 'x-test-connection': 'true' } },
  ]);
  expect(new URL(`http://x${seen[0]?.url}`).searchParams.get('query')).toBe(
    'SELECT * FROM d.signalbox_traces LIMIT 0',
  );
  otherAnswer = { status: 404 };
  expect(await tested({ type: 'clickhouse', name: 'h', config })).toMatchObject({ success: false });
});

it.each([
  [204, true],
  [400, true],
  [401, false],
  [500, false],
])('takes an answer with status %s as passed: %s', async (status, success) => {
  otherAnswer = { status };
  const message = success ? null : `the destination answered with status ${status}`;
  expect(await tested(hook())).toEqual({ success, status, message });
  expect(seen).toMatchObject([{ method: 'POST', url: '/hook?token=t' }]);
});

it('follows no redirect', async () => {
  const failed = (message: string) => ({ success: false, status: null, message });
  otherAnswer = { status: 307, headers: { location: `${receiver.origin}/v1/traces` } };
  expect(await tested(hook())).toEqual(failed('the address redirects to another server'));
  expect(receiver.requests).toEqual([]);
  otherAnswer = { status: 308, headers: { location: '/elsewhere' } };
  expect(await tested(hook())).toEqual(failed('the address redirects, which is not followed'));
  expect(seen.map(({ url }) => url)).toEqual(['/hook?token=t', '/hook?token=t']);
});

it('says that nobody answers', async () => {
  expect(await tested(hook(`http://127.0.0.1:${closedPort}`))).toEqual({
    success: false,
    status: null,
    message: expect.not.stringContaining('127.0.0.1'),
  });
});

it('says that no answer came in time', { timeout: 20_000 }, async () => {
  otherAnswer = null;
  expect(await tested(hook())).toEqual({
    success: false,
    status: null,
    message: 'no answer within the time limit',
  });
  expect(seen).toHaveLength(1);
});
