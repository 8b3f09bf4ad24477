import { createHash, generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendCommand } from '../../../src/control/send-command.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const CANARY = 'sk-canary-4a7f19c3e8d25b60-WXYZ';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let gateway: TestGateway;
/** Management key of a second account. */
let stranger: string;

beforeAll(async () => {
  gateway = await openTestGateway({
    providers: [{ slug: 'house', dialect: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' }],
    egress: { allow: ['127.0.0.1:9', 'deployments.corp.example'] },
  });
  stranger = (await command('accounts.create', { name: 'stranger' })).management_key;
});

afterAll(() => gateway.close());

function command<Name extends Parameters<typeof sendCommand>[1]>(name: Name, input: any) {
  return sendCommand(
    { dataDir: gateway.dataDir, openAlone: () => Promise.reject(new Error('runs')), isInUse: () => false },
    name,
    input,
  );
}

interface Answer {
  readonly status: number;
  readonly body: any;
  readonly text: string;
}

async function ask(
  method: string,
  path: string,
  body?: JsonObject,
  key = gateway.managementKey,
): Promise<Answer> {
  const response = await gateway.fetch(path, {
    method,
    key,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text };
}

const create = async (more: JsonObject = {}, key = gateway.managementKey) =>
  ask('POST', '/byok', { key: CANARY, provider: 'openai', ...more }, key);

/** What is stored for a provider of its own, so that tests do not see each other's. */
async function created(more: JsonObject = {}): Promise<any> {
  const { status, body } = await create(more);
  expect(body).toMatchObject({ data: {} });
  expect(status).toBe(201);
  return body.data;
}

const total = async (key = gateway.managementKey) =>
  (await ask('GET', '/byok', undefined, key)).body.total_count;
const defaultWorkspace = async (key = gateway.managementKey) => {
  const { body } = await ask('POST', '/byok', { key: CANARY, provider: 'groq' }, key);
  await ask('DELETE', `/byok/${body.data.id}`, undefined, key);
  return body.data.workspace_id as string;
};

describe('POST /byok', () => {
  it('stores a credential and shows everything but its key', async () => {
    const credential = await created({ provider: 'anthropic' });
    expect(credential).toEqual({
      id: expect.stringMatching(UUID),
      name: null,
      provider: 'anthropic',
      label: 'sk-...WXYZ',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      disabled: false,
      is_fallback: false,
      is_required: false,
      is_byok_only: false,
      declared_zdr: null,
      sort_order: 0,
      workspace_id: expect.stringMatching(UUID),
      allowed_models: null,
      allowed_user_ids: null,
      allowed_api_key_hashes: null,
      managed_by: null,
    });
    expect((await ask('GET', `/byok/${credential.id}`)).body).toEqual({ data: credential });
    expect((await created({ provider: 'anthropic' })).sort_order).toBe(1);
  });

  it('takes every field', async () => {
    const hash = createHash('sha256').update(gateway.apiKey).digest('hex');
    const given = {
      provider: 'mistral',
      name: 'Ours',
      workspace_id: await defaultWorkspace(),
      allowed_models: ['mistral/large'],
      allowed_user_ids: ['user_1'],
      allowed_api_key_hashes: [hash],
      disabled: true,
      is_fallback: true,
      is_required: true,
      declared_zdr: true,
    };
    expect(await created(given)).toMatchObject(given);
    const others = { provider: 'mistral', is_byok_only: true, declared_zdr: false, workspace_id: null };
    expect(await created({ ...others, name: null, allowed_models: null })).toMatchObject(others);
    expect(await created({ provider: 'house' })).toMatchObject({ provider: 'house' });
  });

  it.each<[string, JsonObject, string]>([
    ['no key', { key: undefined as never }, 'key: is required'],
    ['an empty key', { key: '' }, 'key: must not be empty'],
    ['a key that is no text', { key: 5 }, 'key: must be a string'],
    ['a blank key', { key: '   ' }, 'key: must not be blank'],
    ['a key with a line break', { key: 'sk-a\nb' }, 'key: holds a character that cannot be sent in a header'],
    ['JSON for a provider that has none', { key: '{"a":1}' }, 'key: must be a plain key'],
    ['no provider', { provider: undefined as never }, 'provider: is required'],
    ['an unknown provider', { provider: 'nobody' }, 'provider: "nobody" is not a provider'],
    ['an inherited name', { provider: '__proto__' }, 'provider: "__proto__" is not a provider'],
    ['a provider with a variant', { provider: 'openai/eu' }, 'provider: "openai/eu" is not a provider'],
    ['a long name', { name: 'x'.repeat(256) }, 'name: must have at most 255 characters'],
    ['too many models', { allowed_models: Array(101).fill('m') }, 'allowed_models: must have at most 100'],
    ['too many users', { allowed_user_ids: Array(101).fill('u') }, 'allowed_user_ids: must have at most 100'],
    ['no hashes', { allowed_api_key_hashes: [] }, 'allowed_api_key_hashes: must have at least 1 item'],
    [
      'a bad hash',
      { allowed_api_key_hashes: ['AB'] },
      'allowed_api_key_hashes[0]: must be the hash of a key',
    ],
    [
      'an unknown hash',
      { allowed_api_key_hashes: ['0'.repeat(64)] },
      'allowed_api_key_hashes[0]: is not the hash of a key of this account',
    ],
    ['a bad workspace', { workspace_id: 'default' }, 'workspace_id: must be a UUID'],
    ['a flag that is none', { disabled: 'yes' }, 'disabled: must be a boolean'],
    [
      'both kinds',
      { is_fallback: true, is_byok_only: true },
      'is_byok_only: cannot be combined with is_fallback',
    ],
    ['a field of ours', { sort_order: 5 }, 'sort_order: is not a known field'],
    ['another field of ours', { id: UNKNOWN_ID }, 'id: is not a known field'],
    ['a label', { label: 'mine' }, 'label: is not a known field'],
    ['a stranger to all', { is_management: true }, 'is_management: is not a known field'],
  ])('refuses %s', async (_name, more, message) => {
    const before = await total();
    const { status, body, text } = await create(more);
    expect(body.error?.message).toContain(message);
    expect(status).toBe(400);
    expect(body.error.code).toBe(400);
    expect(text).not.toContain('canary');
    expect(await total()).toBe(before);
  });

  it.each<[JsonObject, string[]]>([
    [{ key: '', provider: 'nope' }, ['key', 'provider']],
    [{ key: ' ', provider: 'nope', disabled: 'x' }, ['disabled', 'provider']],
    [{ key: ' ', is_fallback: true, is_byok_only: true }, ['is_byok_only', 'key']],
    [
      { provider: 'nope', is_fallback: true, is_byok_only: true, allowed_api_key_hashes: ['0'.repeat(64)] },
      ['allowed_api_key_hashes[0]', 'is_byok_only', 'provider'],
    ],
  ])('lists every problem of %j', async (body, paths) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.metadata.issues.map(({ path }: { path: string }) => path).sort()).toEqual(paths);
  });

  it('answers alike for a missing workspace and for one of another account', async () => {
    const foreign = await defaultWorkspace(stranger);
    const before = await total(stranger);
    const [unknown, others] = [
      await create({ workspace_id: UNKNOWN_ID }),
      await create({ workspace_id: foreign }),
    ];
    expect(unknown.status).toBe(404);
    expect(others).toEqual(unknown);
    expect(await total(stranger)).toBe(before);
  });

  it('does not take the key of another account for one of its own', async () => {
    const hash = createHash('sha256').update(stranger).digest('hex');
    expect((await create({ allowed_api_key_hashes: [hash] })).body.error.message).toContain(
      'is not the hash of a key of this account',
    );
  });
});

describe('credentials of the clouds', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    type: 'service_account',
    project_id: 'acme-prod',
    private_key_id: 'kid0123456789abcdef',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: 'gateway@acme.example',
    token_uri: 'https://oauth2.googleapis.com/token',
  };
  const deployment = {
    model_slug: 'openai/gpt-5',
    endpoint_url: 'https://acme.openai.azure.com/openai/deployments/five',
    api_key: 'azure-secret-0123456789',
    model_id: 'five',
  };

  it.each<[string, string, unknown, string]>([
    ['azure', 'azure', [{ api_key: 'azure-secret-0123456789', resource_name: 'acme' }], 'azu...6789'],
    ['azure', 'azure deployments', [deployment], 'azu...6789'],
    [
      'azure',
      'an allowed deployment',
      [{ ...deployment, endpoint_url: 'https://deployments.corp.example:8443/x' }],
      'azu...6789',
    ],
    ['azure', 'a local deployment', [{ ...deployment, endpoint_url: 'http://127.0.0.1:9/x' }], 'azu...6789'],
    ['amazon-bedrock', 'a Bedrock key', 'bedrock-api-key-0123', 'bed...0123'],
    [
      'amazon-bedrock',
      'an access key',
      { accessKeyId: 'AKIA0123456789', secretAccessKey: 'aws-secret-abcdefgh', region: 'eu-west-1' },
      'aws...efgh',
    ],
    ['google-vertex', 'a service account', account, 'kid...cdef'],
    ['google-vertex', 'one without the id of its key', { ...account, private_key_id: undefined }, '...'],
    ['openai', 'a short key', 'sk-short', '...'],
  ])('%s: %s are labelled by their secret', async (provider, _name, key, label) => {
    const text = typeof key === 'string' ? key : JSON.stringify(key);
    expect((await created({ provider, key: text })).label).toBe(label);
  });

  it.each<[string, unknown, string]>([
    ['azure', 'a-plain-key-0123456789', 'key: must be JSON that says which address to call'],
    ['azure', '[', 'key: is not valid JSON'],
    ['azure', [], 'key: is an empty list'],
    ['azure', [{ api_key: CANARY }], 'key: [0].resource_name is required; expected is a JSON list of'],
    [
      'azure',
      [{ ...deployment, endpoint_url: 'http://acme.example/x' }],
      'endpoint_url must be an address that',
    ],
    [
      'azure',
      [{ ...deployment, endpoint_url: 'https://10.0.0.8/x' }],
      'endpoint_url names an address that is not',
    ],
    [
      'azure',
      [{ ...deployment, endpoint_url: 'https://0x7f.1/x' }],
      'endpoint_url names an address that is not',
    ],
    [
      'azure',
      [{ ...deployment, endpoint_url: 'https://[::1]/x' }],
      'endpoint_url names an address that is not',
    ],
    [
      'azure',
      [{ ...deployment, endpoint_url: 'https://a.example:8443/' }],
      'endpoint_url names a port other than',
    ],
    [
      'azure',
      [{ ...deployment, endpoint_url: 'http://127.0.0.1:10/x' }],
      'endpoint_url names a port other than',
    ],
    ['google-vertex', 'AIza-a-plain-key', 'key: must be JSON that says which address to call'],
    ['google-vertex', { ...account, private_key: CANARY }, 'private_key is not a private key'],
    [
      'google-vertex',
      { ...account, project_id: undefined },
      'project_id is required; expected is the JSON of a service account',
    ],
    [
      'google-vertex',
      { ...account, token_uri: 'https://metadata.google.internal/x' },
      'token_uri names an address that is not public',
    ],
    ['amazon-bedrock', { accessKeyId: CANARY }, 'secretAccessKey is required; expected is a Bedrock API key'],
  ])('%s: %j is refused', async (provider, key, message) => {
    const text = typeof key === 'string' ? key : JSON.stringify(key);
    const answer = await create({ provider, key: text });
    expect(answer.body.error?.message).toContain(message);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/canary|azure-secret|plain-key|BEGIN|10\.0\.0\.8/);
  });
});

describe('GET /byok', () => {
  it('lists by provider, then place, in pages', async () => {
    const first = await created({ provider: 'xai', name: 'first' });
    const second = await created({ provider: 'xai', name: 'second' });
    const earlier = await created({ provider: 'together' });
    const list = async (query: string) => (await ask('GET', `/byok?${query}`)).body;
    expect(await list('provider=xai')).toEqual({ data: [first, second], total_count: 2 });
    expect(await list('provider=xai&offset=1&limit=1')).toEqual({ data: [second], total_count: 2 });
    expect(await list('provider=xai&offset=null')).toMatchObject({ total_count: 2 });
    expect(await list(`provider=xai&workspace_id=${first.workspace_id}`)).toMatchObject({ total_count: 2 });
    const providers = (await list('limit=100')).data.map(({ provider }: { provider: string }) => provider);
    expect(providers).toEqual([...providers].sort());
    expect(providers).toContain(earlier.provider);
  });

  it('lists those of every workspace on request', async () => {
    const { body } = await ask('POST', '/workspaces', { name: 'Elsewhere', slug: 'elsewhere' });
    const there = await created({ provider: 'groq', workspace_id: body.data.id });
    const list = async (query: string) => (await ask('GET', `/byok?provider=groq${query}`)).body;
    expect((await list('')).data).not.toContainEqual(there);
    expect((await list('&all_workspaces=true')).data).toContainEqual(there);
  });

  it('has 50 on a page', async () => {
    for (let index = 0; index < 51; index++) await created({ provider: 'deepseek' });
    const { body } = await ask('GET', '/byok?provider=deepseek');
    expect(body.data).toHaveLength(50);
    expect(body.total_count).toBe(51);
  });

  it.each([
    ['limit=0', 'limit: must be >= 1'],
    ['limit=101', 'limit: must be <= 100'],
    ['limit=x', 'limit: must be an integer'],
    ['offset=-1', 'offset: must be >= 0'],
    ['provider=nobody', 'provider: "nobody" is not a provider'],
    ['workspace_id=1', 'workspace_id: must be a UUID'],
    [`all_workspaces=true&workspace_id=${UNKNOWN_ID}`, 'all_workspaces: must not be true together with'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await ask('GET', `/byok?${query}`);
    expect(body.error.message).toContain(message);
    expect(status).toBe(400);
  });

  it('shows nothing of another account', async () => {
    const foreign = await defaultWorkspace(stranger);
    const unknown = await ask('GET', `/byok?workspace_id=${UNKNOWN_ID}`);
    expect(unknown.status).toBe(404);
    expect(await ask('GET', `/byok?workspace_id=${foreign}`)).toEqual(unknown);
    expect((await ask('GET', '/byok', undefined, stranger)).body).toEqual({ data: [], total_count: 0 });
  });

  it('refuses odd queries by name', async () => {
    const { status, body } = await ask('GET', '/byok?limit[__proto__]=1&__proto__[disabled]=true');
    expect(status).toBe(400);
    expect(body.error.message).toContain('limit[__proto__]: is not a known query parameter');
  });
});

describe('PATCH /byok/{id}', () => {
  it('changes what it names and leaves the rest', async () => {
    const before = await created({ provider: 'perplexity', name: 'n', allowed_models: ['m'] });
    const patch = async (body: JsonObject) => (await ask('PATCH', `/byok/${before.id}`, body)).body.data;
    expect(await patch({})).toEqual(before);
    expect(await patch({ disabled: true, name: null })).toEqual({ ...before, disabled: true, name: null });
    expect(await patch({ allowed_models: null, declared_zdr: true })).toMatchObject({
      allowed_models: null,
      declared_zdr: true,
      disabled: true,
    });
    expect(await patch({ key: 'sk-another-key-0000-abcd' })).toMatchObject({ label: 'sk-...abcd' });
    expect((await ask('GET', `/byok/${before.id}`)).body.data.label).toBe('sk-...abcd');
  });

  it.each<[JsonObject, string]>([
    [{ provider: 'xai' }, 'provider: is not a known field'],
    [{ workspace_id: UNKNOWN_ID }, 'workspace_id: is not a known field'],
    [{ key: '' }, 'key: must not be empty'],
    [{ key: '{}' }, 'key: must be a plain key'],
    [{ allowed_api_key_hashes: [] }, 'allowed_api_key_hashes: must have at least 1 item'],
    [{ allowed_api_key_hashes: ['0'.repeat(64)] }, 'allowed_api_key_hashes[0]: is not the hash'],
    [{ is_byok_only: true }, 'is_byok_only: cannot be combined with is_fallback'],
  ])('refuses %j', async (body, message) => {
    const before = await created({ provider: 'fireworks', is_fallback: true });
    const answer = await ask('PATCH', `/byok/${before.id}`, body);
    expect(answer.body.error.message).toContain(message);
    expect(answer.status).toBe(400);
    expect((await ask('GET', `/byok/${before.id}`)).body.data).toEqual(before);
  });
});

describe('DELETE /byok/{id}', () => {
  it('deletes once', async () => {
    const { id } = await created({ provider: 'cerebras' });
    expect(await ask('DELETE', `/byok/${id}`)).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await ask('DELETE', `/byok/${id}`)).status).toBe(404);
    expect((await ask('GET', `/byok/${id}`)).status).toBe(404);
    expect((await ask('PATCH', `/byok/${id}`, {})).status).toBe(404);
    expect((await ask('GET', '/byok?provider=cerebras')).body.total_count).toBe(0);
  });
});

describe('access', () => {
  it('answers alike for an unknown id and for one of another account', async () => {
    const { id } = await created({ provider: 'cohere' });
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { disabled: true }],
      ['DELETE', undefined],
    ] as const) {
      const unknown = await ask(method, `/byok/${UNKNOWN_ID}`, body, stranger);
      expect(unknown).toMatchObject({
        status: 404,
        body: { error: { code: 404, message: 'Resource not found' } },
      });
      expect(await ask(method, `/byok/${id}`, body, stranger)).toEqual(unknown);
    }
    expect((await ask('GET', `/byok/${id}`)).body.data.disabled).toBe(false);
    expect((await ask('GET', '/byok/not-a-uuid')).status).toBe(404);
  });

  it.each([
    ['POST', '/byok'],
    ['GET', '/byok'],
    ['GET', `/byok/${UNKNOWN_ID}`],
    ['PATCH', `/byok/${UNKNOWN_ID}`],
    ['DELETE', `/byok/${UNKNOWN_ID}`],
  ])('%s %s: management keys only', async (method, path) => {
    const before = await total();
    const body = method === 'GET' || method === 'DELETE' ? undefined : { key: CANARY, provider: 'openai' };
    const disguises: Record<string, string>[] = [
      {},
      { 'x-forwarded-for': '127.0.0.1' },
      { 'x-original-url': '/byok' },
    ];
    for (const headers of disguises) {
      const response = await gateway.fetch(path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      expect(response.status).toBe(403);
      expect(((await response.json()) as any).error.message).toBe(
        'Only management keys can perform this operation',
      );
    }
    expect((await gateway.fetch(path, { method, key: null })).status).toBe(401);
    expect(await total()).toBe(before);
  });
});

describe('the secret', () => {
  it('is in no file, no log line and no answer', async () => {
    const secret = 'sk-leak-5d0c9b7e61f2a384-QRST';
    const other = 'sk-leak-8e1f3a5c7b9d0246-UVWX';
    const answers: string[] = [];
    const note = async (...question: Parameters<typeof ask>) => {
      const answer = await ask(...question);
      answers.push(answer.text);
      return answer;
    };
    const { body } = await note('POST', '/byok', { key: secret, provider: 'openai' });
    await note('POST', '/byok', { key: secret, provider: 'openai', name: 5 });
    await note('POST', '/byok', { key: secret, provider: 'nobody' });
    await note('POST', '/byok', { key: [secret], provider: 'openai' } as never);
    await note('POST', '/byok', { key: `{"api_key":"${secret}"}`, provider: 'azure' });
    await note('PATCH', `/byok/${body.data.id}`, { key: other });
    await note('GET', '/byok?provider=openai');
    await command('encryption.rotate', {});
    const scan = () => {
      const places = [gateway.logText(), ...answers, ...filesOf(gateway.dataDir)];
      for (const canary of [secret, other]) {
        for (const form of formsOf(canary.slice(3, -4))) {
          expect(places.filter((place) => place.includes(form))).toEqual([]);
        }
      }
    };
    scan();
    await note('DELETE', `/byok/${body.data.id}`);
    scan();
  });
});

it('the key can be changed while the gateway runs', async () => {
  const { id } = await created({ provider: 'novita' });
  const rotated = await command('encryption.rotate', {});
  expect(rotated).toMatchObject({ must_be_given: false, source: join(gateway.dataDir, 'encryption-key') });
  expect(rotated.credentials).toBeGreaterThan(0);
  expect((await ask('GET', `/byok/${id}`)).status).toBe(200);
});

/** A secret as it might be written down. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  return [
    text,
    bytes.toString('hex'),
    // Base64 of the secret at each of the three alignments.
    ...[0, 1, 2].map((shift) => bytes.subarray(shift).toString('base64').slice(0, 16)),
    ...[0, 1, 2].map((shift) => bytes.subarray(shift).toString('base64url').slice(0, 16)),
  ];
}

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true })
    .map((name) => join(directory, String(name)))
    .filter((file) => statSync(file).isFile() && !file.endsWith('/lock'))
    .map((file) => readFileSync(file, 'latin1'));
}
