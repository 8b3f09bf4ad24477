import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

let upstream: FakeUpstream;
let tokenServer: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  tokenServer = await openFakeUpstream();
  const account = {
    type: 'service_account',
    project_id: 'acme-prod',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: 'gateway@acme.example',
    token_uri: `${tokenServer.url}/token`,
  };
  const deployment = {
    model_slug: 'test/azure',
    endpoint_url: `${upstream.url}/deployments/five/chat/completions?api-version=1`,
    api_key: 'azure-secret',
    model_id: 'five',
  };
  const accessKey = { accessKeyId: 'AKID', secretAccessKey: 'aws-secret', region: 'us-east-1' };
  const model = (id: string, provider: string, name: string) => ({
    id,
    endpoints: [{ provider, model: name }],
  });
  gateway = await openTestGateway(
    {
      providers: [
        { slug: 'google-vertex', base_url: upstream.url },
        { slug: 'azure', api_key: JSON.stringify([deployment]) },
        { slug: 'amazon-bedrock', api_key: JSON.stringify(accessKey), base_url: upstream.url },
      ],
      models: [
        model('test/vertex', 'google-vertex', 'gemini-x'),
        model('test/azure', 'azure', 'unused'),
        model('test/bedrock', 'amazon-bedrock', 'a.b-v1:0'),
      ],
    },
    { env: { GOOGLE_VERTEX_CREDENTIALS: JSON.stringify(account) } },
  );
});

beforeEach(() => {
  upstream.clear();
  tokenServer.clear();
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await tokenServer.close();
});

async function textOf(model: string): Promise<string> {
  const answer = await gateway.post('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const body = (await answer.json()) as { choices?: { message: { content: string } }[] };
  return body.choices?.[0]?.message.content ?? JSON.stringify(body);
}

it('a service account is called with a token', async () => {
  tokenServer.answer(reply(200, { access_token: 'token-1', expires_in: 3600 }));
  upstream.answer(
    reply(200, {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Vertex' }] }, finishReason: 'STOP' }],
    }),
  );
  expect(await textOf('test/vertex')).toBe('Vertex');
  expect(upstream.requests[0]).toMatchObject({
    path: '/v1/models/gemini-x:generateContent',
    headers: { authorization: 'Bearer token-1' },
  });
});

it('a deployment is called at its own address under its own name', async () => {
  const message = { role: 'assistant', content: 'Azure' };
  upstream.answer(reply(200, { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  expect(await textOf('test/azure')).toBe('Azure');
  expect(upstream.requests[0]).toMatchObject({
    path: '/v1/deployments/five/chat/completions?api-version=1',
    headers: { 'api-key': 'azure-secret' },
    json: { model: 'five' },
  });
});

it('an access key signs', async () => {
  upstream.answer(
    reply(200, {
      output: { message: { role: 'assistant', content: [{ text: 'Bedrock' }] } },
      stopReason: 'end_turn',
    }),
  );
  expect(await textOf('test/bedrock')).toBe('Bedrock');
  expect(upstream.requests[0]?.path).toBe('/v1/model/a.b-v1%3A0/converse');
  expect(upstream.requests[0]?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKID\//);
});
