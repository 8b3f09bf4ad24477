import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { traceIdOf } from '../../../src/ir/trace.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { type FakeS3, openFakeS3 } from '../../kit/fakes/fake-s3.ts';
import { reply } from '../../kit/fakes/fake-upstream.ts';
import { type FakeLangfuse, openFakeLangfuse } from '../../kit/fakes/langfuse.ts';
import { spansIn } from '../../kit/fakes/otlp-receiver.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { openToolGateway, type ToolGateway } from '../tools/tool-gateway.ts';

/** Destinations at services that speak as their public documents say. */

const PATH = '/observability/destinations';
const KEYS = { publicKey: 'pk-lf-0123456789', secretKey: 'sk-lf-0123456789-WXYZ' };

let langfuse: FakeLangfuse;
let bucket: FakeS3;
let tools: ToolGateway;
let management: Management;

beforeAll(async () => {
  langfuse = await openFakeLangfuse(KEYS.publicKey, KEYS.secretKey);
  bucket = await openFakeS3();
  const allow = [langfuse.origin, bucket.origin].map((origin) => new URL(origin).host);
  tools = await openToolGateway({ egress: { allow } });
  management = managementOf(tools.gateway);
  await management.data(200, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
});

afterAll(async () => {
  await tools.close();
  await langfuse.close();
  await bucket.close();
});

beforeEach(() => tools.upstream.clear());

const created = (body: JsonObject) => management.data(201, 'POST', PATH, body);
const removed = ({ id }: { readonly id: string }) => management.ask('DELETE', `${PATH}/${id}`);

/** Asks, and gives the record of the generation. */
async function recordOf(body: object, status = 200): Promise<any> {
  const response = await tools.gateway.post('/chat/completions', {
    model: 'm/chat',
    messages: [{ role: 'user', content: 'What is blue?' }],
    ...body,
  });
  expect(response.status).toBe(status);
  await response.text();
  const id = response.headers.get('x-generation-id') ?? '';
  const find = async () => (await management.ask('GET', `/generation?id=${id}`)).body.data;
  await expect.poll(find).toBeDefined();
  return find();
}

it('gives Langfuse traces that it makes generations with usage and cost of', async () => {
  const destination = await created({
    type: 'langfuse',
    name: 'Langfuse',
    config: { ...KEYS, baseUrl: langfuse.origin },
    broadcast_generation_cost: true,
  });
  expect(await management.data(200, 'POST', `${PATH}/${destination.id}/test`)).toMatchObject({
    success: true,
  });
  tools.answers('m/chat', { text: 'The sky.' });
  const record = await recordOf({
    user: 'ada',
    session_id: 'session 7',
    trace: { trace_id: 'workflow 7', trace_name: 'Colours', team: 'physics', run: { step: 3 } },
  });
  const trace = () => langfuse.trace(traceIdOf('workflow 7'));
  await expect.poll(() => trace()?.observations.length).toBe(2);
  expect(trace()).toMatchObject({
    name: 'Colours',
    userId: 'ada',
    sessionId: 'session 7',
    metadata: { team: 'physics', run: '{"step":3}' },
  });
  const observations = trace()?.observations ?? [];
  const root = observations.find(({ parentId }) => parentId === undefined);
  const call = observations.find(({ parentId }) => parentId !== undefined);
  expect(root).toMatchObject({
    type: 'generation',
    level: 'DEFAULT',
    model: expect.any(String),
    input: [{ role: 'user', parts: [{ type: 'text', content: 'What is blue?' }] }],
    output: [{ role: 'assistant', parts: [{ type: 'text', content: 'The sky.' }] }],
    usage: {
      input: record.tokens_prompt,
      output: record.tokens_completion,
      total: record.tokens_prompt + record.tokens_completion,
    },
    cost: record.total_cost,
  });
  // The upstream call is a generation too: it must count nothing a second time.
  expect(call).toMatchObject({ parentId: root?.id, type: 'generation', usage: {}, cost: undefined });
  expect(langfuse.versions.at(-1)).toBe('4');
  expect(langfuse.refusals).toEqual([]);
  await removed(destination);
});

it('shows Langfuse failures as errors', async () => {
  const destination = await created({
    type: 'langfuse',
    name: 'Langfuse',
    config: { ...KEYS, baseUrl: langfuse.origin },
  });
  tools.upstream.answer(reply(400, { error: { message: 'a refusal of the upstream' } }));
  await recordOf({ trace: { trace_id: 'workflow 8' } }, 400);
  const trace = () => langfuse.trace(traceIdOf('workflow 8'));
  await expect.poll(() => trace()?.observations.length).toBeGreaterThan(0);
  const root = trace()?.observations.find(({ parentId }) => parentId === undefined);
  expect(root).toMatchObject({ level: 'ERROR', cost: undefined });
  expect(JSON.stringify(root?.statusMessage)).not.toContain('a refusal of the upstream');
  await removed(destination);
});

it('says that Langfuse does not accept the keys', async () => {
  const destination = await created({
    type: 'langfuse',
    name: 'Langfuse',
    config: { ...KEYS, secretKey: 'sk-lf-another-one', baseUrl: langfuse.origin },
  });
  expect(await management.data(200, 'POST', `${PATH}/${destination.id}/test`)).toMatchObject({
    success: false,
    status: 401,
  });
  expect(langfuse.refusals).toEqual(['wrong keys']);
  await removed(destination);
});

it('writes each generation to a bucket once, also when an answer of the bucket was lost', async () => {
  const { accessKeyId, secretAccessKey, region } = bucket.signingKey;
  const destination = await created({
    type: 's3',
    name: 'Bucket',
    config: {
      bucketName: bucket.bucket,
      endpoint: bucket.origin,
      accessKeyId,
      secretAccessKey,
      region,
      pathTemplate: 'year={year}/{date}',
    },
  });
  bucket.requests.length = 0;
  bucket.trouble('lose-reply', 1);
  tools.answers('m/chat', { text: 'The sky.' });
  const { id } = await recordOf({});
  await expect.poll(() => bucket.requests.length).toBe(2);
  const [first, second] = bucket.requests;
  expect(first).toMatch(/^PUT year=\d{4}\/\d{4}-\d\d-\d\d\/traces-/);
  expect(second).toBe(first);
  const roots = [...bucket.objects.values()]
    .flatMap(({ bytes }) => spansIn(JSON.parse(bytes.toString())))
    .filter(({ kind }) => kind === 2);
  expect(roots.map(({ attributes }) => attributes['signalbox.generation.id'])).toEqual([id]);
  await removed(destination);
});
