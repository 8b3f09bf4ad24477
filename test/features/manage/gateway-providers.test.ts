import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type ModelServer, openModelServer } from '../../kit/fakes/model-server.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const KEY = 'sk-right-4a7f19c3e8d25b60-WXYZ';
const MODELS = [
  { id: 'llama3.2:3b', object: 'model', max_model_len: 131_072 },
  { id: 'acme/Large', object: 'model' },
];

let upstream: ModelServer;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openModelServer(MODELS, KEY);
  gateway = await openTestGateway();
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface Answer {
  readonly status: number;
  readonly body: any;
  readonly text: string;
}

async function ask(method: string, path: string, body?: object, of = gateway, key = of.managementKey) {
  const response = await of.fetch(path, {
    method,
    key,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text } satisfies Answer;
}

const workshop = (more: object = {}) => ({
  slug: 'workshop',
  dialect: 'openai-chat',
  base_url: upstream.url,
  key: KEY,
  ...more,
});

const LLAMA = { model: 'llama3.2:3b', context_length: 131_072 };

const say = (model: string, of = gateway, key = of.apiKey) =>
  ask('POST', '/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }, of, key);

const stateOf = async (slug: string, of = gateway) =>
  (await ask('GET', '/gateway/providers', undefined, of)).body.data.find((each: any) => each.slug === slug);

describe('testing a provider', () => {
  it('lists the models that the right key shows', async () => {
    const { status, body, text } = await ask('POST', '/gateway/providers/test', workshop());
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      passed: true,
      status: 200,
      message: null,
      is_key_proven: true,
      listed_models: 2,
      is_list_cut: false,
      models: [
        { id: 'workshop/llama3.2-3b', model: 'llama3.2:3b', name: null, context_length: 131_072 },
        { id: 'acme/large', model: 'acme/Large', name: null, context_length: null },
      ],
    });
    expect(text).not.toContain(KEY);
  });

  it("shows the provider's words for a wrong key, without the key", async () => {
    const wrong = 'wrong-key-0123456789';
    const { status, body, text } = await ask('POST', '/gateway/providers/test', workshop({ key: wrong }));
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ passed: false, status: 401, is_key_proven: null, models: [] });
    expect(body.data.message).toContain('Incorrect API key provided');
    expect(text).not.toContain(wrong);
  });

  it('says that a list which needs no key proves nothing', async () => {
    upstream.key = null;
    const { body } = await ask('POST', '/gateway/providers/test', workshop({ key: 'any-key-0123456789' }));
    upstream.key = KEY;
    expect(body.data).toMatchObject({ passed: true, is_key_proven: false });
  });

  it('shows no key that a list of models repeats', async () => {
    const server = await openModelServer(
      [{ id: `models of ${KEY}`, display_name: KEY }, { id: 'right' }],
      null,
    );
    const wanted = workshop({ base_url: server.url });
    const { body, text } = await ask('POST', '/gateway/providers/test', wanted);
    expect(body.data.models.map(({ model }: any) => model)).toEqual(['models of [redacted]', 'right']);
    expect(text).not.toContain(KEY);
    const placeholder = await ask('POST', '/gateway/providers/test', { ...wanted, key: 'right' });
    expect(placeholder.body.data.models[1].model).toBe('right');
    await server.close();
  });

  it.each([
    [100_000, 100_000, false],
    [400_000, expect.any(Number), true],
  ])('says how much of a list of %i models is taken', async (count, listed, isCut) => {
    const models = Array.from({ length: count }, (_, index) => ({ id: `m${index}`, object: 'model' }));
    const server = await openModelServer(models, KEY);
    const { body } = await ask('POST', '/gateway/providers/test', workshop({ base_url: server.url }));
    expect(body.data).toMatchObject({ passed: true, status: 200, listed_models: listed, is_list_cut: isCut });
    expect(body.data.listed_models).toBeGreaterThanOrEqual(100_000);
    expect(body.data.models).toHaveLength(2_000);
    await server.close();
  });

  it('says what is in the way of an address that does not answer', async () => {
    const { status, body } = await ask(
      'POST',
      '/gateway/providers/test',
      workshop({ base_url: 'http://127.0.0.1:9/v1' }),
    );
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ passed: false, status: null });
    expect(body.data.message).toMatch(/connection/);
  });

  it('stores nothing', async () => {
    expect(await stateOf('workshop')).toBeUndefined();
  });
});

describe('a server of your own', () => {
  it('serves the chosen models at once, as the own provider of the gateway', async () => {
    const created = await ask('POST', '/gateway/providers', workshop({ models: [LLAMA] }));
    expect(created.status).toBe(201);
    expect(created.body.data).toMatchObject({
      slug: 'workshop',
      base_url: upstream.url,
      label: 'sk-...WXYZ',
      models: [
        {
          id: 'workshop/llama3.2-3b',
          model: 'llama3.2:3b',
          context_length: 131_072,
          pricing: { prompt: '0', completion: '0' },
        },
      ],
      workspace_ids: null,
      disabled: false,
      set_by: null,
    });
    expect(created.text).not.toContain(KEY);

    const answer = await say('workshop/llama3.2-3b');
    expect(answer.status).toBe(200);
    expect(answer.body.choices[0].message.content).toBe('hello from upstream');
    expect(answer.body.usage).toMatchObject({ cost: 0, is_byok: false });
    const sent = upstream.requests.at(-1);
    expect(sent?.json.model).toBe('llama3.2:3b');
    expect(sent?.headers.authorization).toBe(`Bearer ${KEY}`);
    const listed = await ask('GET', '/models');
    const model = listed.body.data.find(({ id }: any) => id === 'workshop/llama3.2-3b');
    expect(model).toMatchObject({ context_length: 131_072, pricing: { prompt: '0' } });
    // Own ones, that nobody brought: none is listed among the credentials.
    expect((await ask('GET', '/byok')).body.total_count).toBe(0);
  });

  it('is shown among the providers, without its key', async () => {
    const { text } = await ask('GET', '/gateway/providers');
    expect(text).not.toContain(KEY);
    expect(await stateOf('workshop')).toMatchObject({
      is_on: true,
      set_by: 'stored',
      credential: { source: 'stored' },
      models: 1,
      stored: { label: 'sk-...WXYZ', disabled: false },
    });
    expect((await ask('GET', '/gateway/providers/workshop')).body.data.slug).toBe('workshop');
  });

  it('is tested with the key that it has', async () => {
    const { body } = await ask('POST', '/gateway/providers/test', { slug: 'workshop' });
    expect(body.data).toMatchObject({ passed: true, status: 200 });
  });

  it('does not send its key to another address', async () => {
    const elsewhere = { base_url: 'http://127.0.0.1:9/v1' };
    for (const answer of [
      await ask('PATCH', '/gateway/providers/workshop', elsewhere),
      await ask('POST', '/gateway/providers/test', { slug: 'workshop', ...elsewhere }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body.error.metadata.issues[0]).toMatchObject({ path: 'key' });
    }
    expect((await say('workshop/llama3.2-3b')).status).toBe(200);
  });

  it('has prices, another key and other models after a change', async () => {
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    const changed = await ask('PATCH', '/gateway/providers/workshop', {
      name: 'Workshop',
      models: [{ ...LLAMA, pricing }, { model: 'acme/Large' }],
    });
    expect(changed.status).toBe(200);
    expect(changed.body.data.models).toHaveLength(2);
    const answer = await say('workshop/llama3.2-3b');
    expect(answer.body.usage.cost).toBeGreaterThan(0);
    expect((await say('acme/large')).body.provider).toBe('Workshop');
    upstream.key = 'sk-other-0123456789-ABCD';
    await ask('PATCH', '/gateway/providers/workshop', { key: upstream.key });
    expect((await say('workshop/llama3.2-3b')).status).toBe(200);
    expect((await stateOf('workshop')).stored.label).toBe('sk-...ABCD');
    upstream.key = KEY;
    await ask('PATCH', '/gateway/providers/workshop', { key: KEY });
  });

  it('pauses and goes on', async () => {
    await ask('PATCH', '/gateway/providers/workshop', { disabled: true });
    expect((await say('workshop/llama3.2-3b')).status).toBe(400);
    expect(await stateOf('workshop')).toMatchObject({
      is_on: false,
      set_by: null,
      stored: { disabled: true },
    });
    await ask('PATCH', '/gateway/providers/workshop', { disabled: false });
    expect((await say('workshop/llama3.2-3b')).status).toBe(200);
  });

  it('serves the workspaces that are named, and no others', async () => {
    const workspace = await ask('POST', '/workspaces', { name: 'Lab', slug: 'lab' });
    const { id } = workspace.body.data;
    const made = await ask('POST', '/keys', { name: 'of the lab', workspace_id: id });
    const labKey = made.body.key;
    await ask('PATCH', '/gateway/providers/workshop', { workspace_ids: [id.toUpperCase()] });
    expect((await say('workshop/llama3.2-3b', gateway, labKey)).status).toBe(200);
    const refused = await say('workshop/llama3.2-3b');
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('is not a valid model ID');
    const models = (key: string) => ask('GET', '/models/user', undefined, gateway, key);
    expect((await models(labKey)).text).toContain('workshop/llama3.2-3b');
    expect((await models(gateway.apiKey)).text).not.toContain('workshop/llama3.2-3b');
    await ask('PATCH', '/gateway/providers/workshop', { workspace_ids: null });
    expect((await say('workshop/llama3.2-3b')).status).toBe(200);
  });

  it('is shown by the catalogue to the workspaces that it serves, and to the operator', async () => {
    const { body } = await ask('POST', '/workspaces', { name: 'Closed', slug: 'closed' });
    const { id } = body.data;
    const made = await ask('POST', '/keys', { name: 'of the closed', workspace_id: id });
    await ask('PATCH', '/gateway/providers/workshop', { workspace_ids: [id] });
    const model = 'workshop/llama3.2-3b';
    const shows = async (path: string, key: string | null) => {
      const response = await gateway.fetch(path, { key });
      return response.ok && (await response.text()).includes('"workshop');
    };
    const count = async (key: string | null) =>
      ((await (await gateway.fetch('/models/count', { key })).json()) as any).data.count;
    for (const path of [
      '/models',
      '/providers',
      `/model/${model}`,
      `/models/${model}`,
      `/models/${model}/endpoints`,
    ]) {
      for (const key of [gateway.managementKey, made.body.key])
        expect({ path, shown: await shows(path, key) }).toEqual({ path, shown: true });
      for (const key of [gateway.apiKey, 'sk-sb-v1-no-key-at-all', null])
        expect({ path, shown: await shows(path, key) }).toEqual({ path, shown: false });
    }
    expect((await count(made.body.key)) - (await count(null))).toBe(2);
    await ask('PATCH', '/gateway/providers/workshop', { workspace_ids: null });
    expect(await shows('/models', null)).toBe(true);
  });

  it('is there after a restart, with its key encrypted on disk', async () => {
    const again = await openTestGateway(
      {},
      { prepare: async (dataDir) => cpSync(gateway.dataDir, dataDir, { recursive: true, filter: isKept }) },
    );
    try {
      expect((await say('workshop/llama3.2-3b', again)).status).toBe(200);
    } finally {
      await again.close();
    }
    for (const file of filesIn(gateway.dataDir)) expect(readFileSync(file).includes(KEY)).toBe(false);
  });

  it('gives way to the file, and is shown as doing so', async () => {
    const file = {
      providers: [
        { slug: 'simulator' },
        { slug: 'workshop', dialect: 'openai-chat', base_url: upstream.url },
      ],
    };
    writeFileSync(gateway.configFile, stringify({ routing: { cooldown: { failures: 1000 } }, ...file }));
    await expect.poll(async () => (await stateOf('workshop')).set_by).toBe('file');
    expect(await stateOf('workshop')).toMatchObject({
      stored: { set_by: 'file', disabled: false },
      models: 0,
    });
    expect((await say('workshop/llama3.2-3b')).status).toBe(400);
    writeFileSync(gateway.configFile, stringify({ routing: { cooldown: { failures: 999 } } }));
    await expect.poll(async () => (await stateOf('workshop')).set_by).toBe('stored');
    expect((await say('workshop/llama3.2-3b')).status).toBe(200);
  });

  it('serves nothing once it is removed', async () => {
    expect((await ask('DELETE', '/gateway/providers/workshop')).body).toEqual({ deleted: true });
    expect((await ask('DELETE', '/gateway/providers/workshop')).status).toBe(404);
    expect((await ask('GET', '/gateway/providers/workshop')).status).toBe(404);
    expect((await say('workshop/llama3.2-3b')).status).toBe(400);
    expect(await stateOf('workshop')).toBeUndefined();
  });
});

describe('another gateway as a server', () => {
  it('has its routers offered behind its slug, and never takes the place of our own', async () => {
    const server = await openModelServer([{ id: 'signalbox/auto' }, { id: 'signalbox/large' }], KEY);
    const wanted = workshop({ slug: 'hub', base_url: server.url });
    const listed = await ask('POST', '/gateway/providers/test', wanted);
    expect(listed.body.data.models.map(({ id }: any) => id)).toEqual([
      'hub/signalbox-auto',
      'signalbox/large',
    ]);
    const models = [{ model: 'signalbox/auto' }];
    expect((await ask('POST', '/gateway/providers', { ...wanted, models })).status).toBe(201);
    expect((await say('hub/signalbox-auto')).body.model).toBe('hub/signalbox-auto');
    const changed = { models: [{ id: 'signalbox/auto', model: 'signalbox/auto' }] };
    const refused = await ask('PATCH', '/gateway/providers/hub', changed);
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('signalbox/auto');
    await ask('DELETE', '/gateway/providers/hub');
    await server.close();
  });
});

describe('a server that is named like a member of every object', () => {
  it('is listed, switched off too', async () => {
    const slug = 'constructor';
    expect((await ask('POST', '/gateway/providers', workshop({ slug, disabled: true }))).status).toBe(201);
    expect(await stateOf(slug)).toMatchObject({ is_on: false, name: slug, credential: { variables: [] } });
    await ask('PATCH', `/gateway/providers/${slug}`, { disabled: false });
    expect(await stateOf(slug)).toMatchObject({ is_on: true, credential: { variables: [] } });
    await ask('DELETE', `/gateway/providers/${slug}`);
  });
});

describe('a known provider', () => {
  it('serves all that the catalogue knows of it, with a key alone', async () => {
    const before = await stateOf('anthropic');
    expect(before).toMatchObject({ is_on: false, set_by: null, stored: null });
    expect(
      (await ask('POST', '/gateway/providers', { slug: 'anthropic', key: 'sk-ant-0123456789' })).status,
    ).toBe(201);
    const after = await stateOf('anthropic');
    expect(after).toMatchObject({ is_on: true, set_by: 'stored' });
    expect(after.models).toBeGreaterThan(3);
    const { body } = await ask('GET', '/models');
    expect(body.data.some(({ id }: any) => id.startsWith('anthropic/'))).toBe(true);
    expect((await ask('POST', '/gateway/providers', { slug: 'anthropic', key: 'k-0123' })).status).toBe(409);
    await ask('DELETE', '/gateway/providers/anthropic');
    expect(await stateOf('anthropic')).toMatchObject({ is_on: false, stored: null });
  });

  it('is shown as set by the environment, which wins', async () => {
    const own = await openTestGateway({}, { env: { ANTHROPIC_API_KEY: 'sk-ant-of-the-environment' } });
    try {
      const created = await ask(
        'POST',
        '/gateway/providers',
        { slug: 'anthropic', key: 'sk-ant-0123456789' },
        own,
      );
      expect(created.body.data.set_by).toBe('environment');
      expect(await stateOf('anthropic', own)).toMatchObject({
        set_by: 'environment',
        credential: { source: 'environment' },
        stored: { set_by: 'environment' },
      });
    } finally {
      await own.close();
    }
  });
});

describe('refusals', () => {
  const create = (body: object) => ask('POST', '/gateway/providers', body);

  it.each<[object, string, RegExp]>([
    [{ slug: 'antropic', key: 'k' }, 'slug', /Did you mean anthropic/],
    [{ slug: 'my-own-server', key: 'k' }, 'dialect', /is required/],
    [{ slug: 'anthropic' }, 'key', /is required/],
    [{ slug: 'simulator' }, 'slug', /is built in/],
    [{ slug: 'shop', dialect: 'openai-chat', base_url: 'ftp://x' }, 'base_url', /http/],
    [{ slug: 'shop', dialect: 'openai-chat', base_url: 'http://u:p@x' }, 'base_url', /user or password/],
    [{ slug: 'shop', dialect: 'openai-chat', base_url: 'http://x/v1?' }, 'base_url', /"\?" or "#"/],
    [{ slug: 'shop', dialect: 'openai-chat', base_url: 'http://x/v1#' }, 'base_url', /"\?" or "#"/],
    [{ slug: 'shop', dialect: 'openai-chat', base_url: 'http://x/v1 ' }, 'base_url', /spaces/],
    [{ slug: 'shop', dialect: 'openai-chat', base_url: 'http://x/v\r\n1' }, 'base_url', /line breaks/],
    [{ slug: 'shop', dialect: 'openai', base_url: 'http://x' }, 'dialect', /openai-chat/],
    [{ slug: 'Bad Slug' }, 'slug', /must be 1 to 64/],
    [{ slug: 'anthropic', key: 'k', workspace_ids: [] }, 'workspace_ids', /1/],
    [
      { slug: 'anthropic', key: 'k', workspace_ids: ['00000000-0000-4000-8000-000000000000'] },
      'workspace_ids[0]',
      /not the id of a workspace/,
    ],
    [
      { slug: 'anthropic', key: 'k', models: [{ model: 'a' }, { model: 'A' }] },
      'models[1].id',
      /models\[0\]/,
    ],
    [
      { slug: 'anthropic', key: 'k', models: [{ model: 'a', pricing: { prompt: '-1' } }] },
      'models[0].pricing.prompt',
      /decimal/,
    ],
    [{ slug: 'anthropic', key: 'k', colour: 'red' }, 'colour', /not a known field/],
    [
      { slug: 'anthropic', key: 'k', models: [{ model: 'a' }, { id: 'signalbox/auto', model: 'a-2' }] },
      'models[1].id',
      /router of this gateway.*signalbox\/auto/,
    ],
    [
      { slug: 'signalbox', dialect: 'openai-chat', base_url: 'http://x', models: [{ model: 'free' }] },
      'models[0].id',
      /router of this gateway.*signalbox\/free/,
    ],
    [
      { slug: 'anthropic', key: 'k', models: [{ id: '~anthropic/opus-latest', model: 'a' }] },
      'models[0].id',
      /newest model of a family/,
    ],
  ])('names the place: %j', async (body, path, message) => {
    const { status, body: error } = await create(body);
    expect(status).toBe(400);
    const [issue] = error.error.metadata.issues;
    expect(issue.path).toBe(path);
    expect(issue.message).toMatch(message);
  });

  it('are for callers and strangers alike', async () => {
    for (const [method, path] of [
      ['POST', '/gateway/providers'],
      ['POST', '/gateway/providers/test'],
      ['PATCH', '/gateway/providers/openai'],
      ['DELETE', '/gateway/providers/openai'],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { slug: 'openai' };
      expect((await ask(method, path, body, gateway, gateway.apiKey)).status).toBe(403);
    }
  });
});

const isKept = (path: string) =>
  !path.endsWith('.sock') && !path.endsWith('signalbox.yaml') && !path.includes('lock');

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const status = statSync(path);
    if (status.isDirectory()) return filesIn(path);
    return status.isFile() ? [path] : [];
  });
}
