import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const PATH = '/observability/destinations';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const CANARY = 'sk-canary-7c1f93b2e4a85d60-WXYZ';

let gateway: TestGateway;
let other: Server;
/** Requests of the other server. */
const seen: IncomingMessage[] = [];
let management: Management;
/** Management key of a second account. */
let stranger: string;

beforeAll(async () => {
  other = createServer((request, response) => {
    seen.push(request);
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  gateway = await openTestGateway({ egress: { allow: [new URL(originOf(other)).host] } });
  management = managementOf(gateway);
  stranger = (await management.command('accounts.create', { name: 'stranger' })).management_key;
});

afterAll(async () => {
  await gateway.close();
  await new Promise((resolve) => other.close(resolve));
});

afterEach(async () => {
  const { data } = (await management.ask('GET', `${PATH}?all_workspaces=true&limit=100`)).body;
  for (const { id } of data) await management.ask('DELETE', `${PATH}/${id}`);
  seen.length = 0;
});

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const webhook = { type: 'webhook', name: 'Hook', config: { url: 'https://hooks.example.com/a' } };
const langfuse = {
  type: 'langfuse',
  name: 'Traces',
  config: { publicKey: 'pk-lf-0123456789', secretKey: CANARY, headers: { 'X-Team': 'a' } },
};

const create = (body: JsonObject, key?: string) => management.ask('POST', PATH, body, key);
const created = (body: JsonObject = webhook) => management.data(201, 'POST', PATH, body);
const problemOf = async (body: JsonObject): Promise<string> => {
  const answer = await create(body);
  expect(answer.status).toBe(400);
  return answer.body.error.message;
};

/** Paths of all problems of an answer. */
const pathsIn = (body: any): string[] => body.error.metadata.issues.map(({ path }: any) => path);

describe('POST /observability/destinations', () => {
  it('stores a destination and shows its secrets masked', async () => {
    const destination = await created(langfuse);
    expect(destination).toEqual({
      id: expect.stringMatching(UUID),
      type: 'langfuse',
      name: 'Traces',
      workspace_id: expect.stringMatching(UUID),
      config: { publicKey: 'pk-...6789', secretKey: 'sk-...WXYZ', headers: { 'X-Team': '...' } },
      enabled: true,
      privacy_mode: false,
      sampling_rate: 1,
      api_key_hashes: null,
      filter_rules: null,
      broadcast_generation_cost: false,
      broadcast_generation_identity: false,
      broadcast_generation_request_context: false,
      regions: ['global'],
      created_at: expect.stringMatching(/Z$/),
      updated_at: destination.created_at,
      managed_by: null,
      state: expect.objectContaining({
        problem: expect.stringContaining('is_observability_broadcast_enabled'),
      }),
    });
    expect((await management.ask('GET', `${PATH}/${destination.id}`)).body).toEqual({ data: destination });
    expect((await management.ask('GET', `${PATH}/${destination.id.toUpperCase()}`)).status).toBe(200);
  });

  it('takes every setting', async () => {
    const hash = createHash('sha256').update(gateway.apiKey).digest('hex');
    const settings = {
      enabled: false,
      privacy_mode: true,
      sampling_rate: 0.0001,
      api_key_hashes: [hash],
      filter_rules: {
        enabled: true,
        groups: [
          {
            logic: 'or',
            rules: [
              { field: 'model', operator: 'starts_with', value: 'acme/' },
              { field: 'total_cost', operator: 'gt', value: 0.5 },
              { field: 'session_id', operator: 'exists' },
            ],
          },
        ],
      },
      broadcast_generation_cost: true,
      broadcast_generation_identity: true,
      broadcast_generation_request_context: true,
    };
    expect(await created({ ...webhook, ...settings, regions: ['global'] })).toMatchObject(settings);
    const rules = { groups: [{ rules: [{ field: 'input', operator: 'regex', value: 'a|b' }] }] };
    expect(await created({ ...webhook, filter_rules: rules })).toMatchObject({
      filter_rules: { enabled: true, groups: [{ logic: 'and', ...rules.groups[0] }] },
    });
  });

  it.each<[string, JsonObject, string]>([
    ['no type', { type: undefined as never }, 'type: is required'],
    ['a type that is not served', { type: 'snowflake' }, 'type: must be one of arize, braintrust, '],
    ['a type that there is not', { type: 'constructor' }, 'type: must be one of arize, braintrust, '],
    ['no name', { name: undefined as never }, 'name: is required'],
    ['a blank name', { name: ' ' }, 'name: must hold something besides blanks'],
    ['a name with a line break', { name: 'a\nb' }, 'name: must hold something besides blanks'],
    ['no configuration', { config: undefined as never }, 'config: is required'],
    ['a configuration that is no object', { config: 'x' }, 'config: must be an object'],
    ['a configuration without its address', { config: {} }, 'config.url: is required'],
    [
      'an unknown member of it',
      { config: { url: 'https://a.example.com', key: 'x' } },
      'config.key: is not a known field',
    ],
    [
      'an address with a user',
      { config: { url: 'https://me:secret@a.example.com' } },
      'config.url: must be an http or https address without user name, password and fragment',
    ],
    [
      'a private address',
      { config: { url: 'http://169.254.169.254/latest' } },
      'config.url: names an address that is not public',
    ],
    [
      'a private name',
      { config: { url: 'http://localhost/' } },
      'config.url: names an address that is not public',
    ],
    [
      'a port that is not usual',
      { config: { url: 'https://a.example.com:4318' } },
      'config.url: names a port other than 80 and 443',
    ],
    [
      'another method',
      { config: { url: 'https://a.example.com', method: 'GET' } },
      'config.method: must be one of',
    ],
    [
      'a line break in a header',
      { config: { url: 'https://a.example.com', headers: { 'x-a': 'b\r\nx-b: c' } } },
      'config.headers.x-a: must be printable ASCII without line breaks',
    ],
    [
      'a header of the gateway',
      { config: { url: 'https://a.example.com', headers: { Host: 'b' } } },
      'config.headers.Host: is set by the gateway itself',
    ],
    ['a rate of nothing', { sampling_rate: 0 }, 'sampling_rate: must be >= 0.0001'],
    ['a rate above all', { sampling_rate: 1.1 }, 'sampling_rate: must be <= 1'],
    ['no keys at all', { api_key_hashes: [] }, 'api_key_hashes: must have at least 1 item'],
    [
      'an unknown key',
      { api_key_hashes: ['a'.repeat(64)] },
      'api_key_hashes[0]: is not the hash of a key of this account',
    ],
    [
      'a field that rules do not know',
      { filter_rules: { groups: [{ rules: [{ field: 'colour', operator: 'exists' }] }] } },
      'filter_rules.groups[0].rules[0].field: must be one of',
    ],
    [
      'an operator that fits no field',
      { filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'gt', value: 'a' }] }] } },
      'filter_rules.groups[0].rules[0].operator: must be one of equals',
    ],
    [
      'a value of another kind',
      { filter_rules: { groups: [{ rules: [{ field: 'total_cost', operator: 'gt', value: 'a' }] }] } },
      'filter_rules.groups[0].rules[0].value: must be a number',
    ],
    [
      'a value that nothing is compared with',
      { filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'exists', value: 'a' }] }] } },
      'filter_rules.groups[0].rules[0].value: must be left out for exists',
    ],
    [
      'a pattern that looks around',
      { filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'regex', value: '(?=a)' }] }] } },
      'filter_rules.groups[0].rules[0].value: the pattern',
    ],
    [
      'a group without rules',
      { filter_rules: { groups: [{ rules: [] }] } },
      'filter_rules.groups[0].rules: must have at least 1 item',
    ],
    ['an unknown field', { colour: 'red' }, 'colour: is not a known field'],
  ])('refuses %s', async (_, more, problem) => {
    expect(await problemOf({ ...webhook, ...more })).toContain(problem);
  });

  it('reports problems of the configuration together with others, and quotes no secret', async () => {
    const config = { secretKey: `${CANARY}\n`, publicKey: [CANARY] };
    const { body } = await create({ ...langfuse, name: '', config });
    expect(pathsIn(body)).toEqual(['name', 'config.publicKey', 'config.secretKey']);
    expect(JSON.stringify(body)).not.toContain('canary');
  });

  it('names types that are not served, and why', async () => {
    const problem = await problemOf({ ...webhook, type: 'ramp' });
    expect(problem).toContain('ramp publishes no format');
    expect(problem).toContain('snowflake takes neither OTLP nor objects');
    expect(problem).toContain('webhook');
  });

  it('finds an unknown workspace, or one of another account, not', async () => {
    const foreign = (await management.data(201, 'POST', '/workspaces', { name: 'F', slug: 'f' }, stranger))
      .id;
    for (const id of [UNKNOWN_ID, foreign]) {
      expect((await create({ ...webhook, workspace_id: id })).status).toBe(404);
    }
  });

  it('takes five of a type in a workspace', async () => {
    for (let count = 0; count < 5; count++) await created();
    const refused = await create(webhook);
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('at most 5 destinations of type webhook') } },
    });
    await created(langfuse);
    const elsewhere = await management.data(201, 'POST', '/workspaces', { name: 'E', slug: 'elsewhere' });
    expect((await create({ ...webhook, workspace_id: elsewhere.id })).status).toBe(201);
  });
});

describe('GET /observability/destinations', () => {
  it('lists those of a workspace, or of all, in pages', async () => {
    const workspace = await management.data(201, 'POST', '/workspaces', { name: 'L', slug: 'listed' });
    const first = await created();
    const second = await created(langfuse);
    const there = await created({ ...webhook, workspace_id: workspace.id });
    const listed = async (query: string) => {
      const { data, total_count: total } = (await management.ask('GET', `${PATH}?${query}`)).body;
      return [data.map(({ id }: JsonObject) => id), total];
    };
    expect(await listed('')).toEqual([[first.id, second.id], 2]);
    expect(await listed('offset=1&limit=1')).toEqual([[second.id], 2]);
    expect(await listed(`workspace_id=${workspace.id}`)).toEqual([[there.id], 1]);
    expect((await listed('all_workspaces=true'))[1]).toBe(3);
    expect((await management.ask('GET', `${PATH}?limit=101`)).status).toBe(400);
    expect((await management.ask('GET', `${PATH}?workspace_id=${UNKNOWN_ID}`)).status).toBe(404);
    expect((await management.ask('GET', PATH, undefined, stranger)).body).toEqual({
      data: [],
      total_count: 0,
    });
  });
});

describe('access', () => {
  it('is for management keys of the account that owns a destination', async () => {
    const { id } = await created();
    const requests = [
      ['GET', PATH],
      ['POST', PATH],
      ['GET', `${PATH}/${id}`],
      ['PATCH', `${PATH}/${id}`],
      ['DELETE', `${PATH}/${id}`],
      ['POST', `${PATH}/${id}/test`],
    ] as const;
    for (const [method, path] of requests) {
      const body = method === 'GET' ? undefined : {};
      expect((await management.ask(method, path, body, gateway.apiKey)).status).toBe(403);
      expect((await management.ask(method, path, body, null)).status).toBe(401);
      if (path !== PATH) {
        expect((await management.ask(method, path, body, stranger)).status).toBe(404);
        const unknown = path.replace(id, UNKNOWN_ID);
        expect((await management.ask(method, unknown, body)).status).toBe(404);
      }
    }
  });
});

describe('PATCH /observability/destinations/{id}', () => {
  const patch = (id: string, body: JsonObject) => management.ask('PATCH', `${PATH}/${id}`, body);

  it('changes what is given, and clears what is null', async () => {
    const { id, ...before } = await created({ ...langfuse, sampling_rate: 0.5 });
    const rules = { enabled: false, groups: [] };
    expect((await patch(id, { name: 'New', enabled: false, filter_rules: rules })).body.data).toEqual({
      ...before,
      id,
      name: 'New',
      enabled: false,
      filter_rules: rules,
      updated_at: expect.stringMatching(/Z$/),
      state: null,
    });
    expect((await patch(id, { filter_rules: null, api_key_hashes: null })).body.data).toMatchObject({
      name: 'New',
      sampling_rate: 0.5,
      filter_rules: null,
    });
    expect((await patch(id, { type: 's3' })).body.error.message).toContain('type: is not a known field');
    expect((await patch(id, { workspace_id: UNKNOWN_ID })).status).toBe(400);
  });

  it('keeps secrets that are given back as they are shown, and those that are left out', async () => {
    const headers = { authorization: `Bearer ${CANARY}`, 'x-second': 'another-long-secret' };
    const { id, config } = await created({
      ...webhook,
      config: { url: `${originOf(other)}/a`, headers },
    });
    expect(config.headers).toEqual({ authorization: 'Bea...WXYZ', 'x-second': 'ano...cret' });
    expect((await patch(id, { config })).status).toBe(200);
    expect((await patch(id, { config: { method: 'PUT' } })).status).toBe(200);
    await management.ask('POST', `${PATH}/${id}/test`);
    expect(seen[0]).toMatchObject({ method: 'PUT', url: '/a', headers });
    await patch(id, { config: { headers: { 'x-second': 'ano...cret' }, method: null } });
    await management.ask('POST', `${PATH}/${id}/test`);
    expect(seen[1]).toMatchObject({ method: 'POST', headers: { 'x-second': headers['x-second'] } });
    expect(seen[1]?.headers).not.toHaveProperty('authorization');
  });

  it('asks for secrets again when the address leads to another server', async () => {
    const { id } = await created(langfuse);
    const moved = { baseUrl: 'https://attacker.example.com' };
    const refused = await patch(id, { config: moved });
    expect(refused.body.error.message).toContain('config.publicKey: must be given again');
    expect(pathsIn(refused.body)).toEqual(['config.publicKey', 'config.secretKey', 'config.headers.X-Team']);
    const masked = { publicKey: 'pk-...6789', secretKey: 'sk-...WXYZ' };
    expect((await patch(id, { config: { ...moved, ...masked, headers: null } })).status).toBe(400);
    expect((await management.ask('GET', `${PATH}/${id}`)).body.data.config).not.toHaveProperty('baseUrl');
    const anew = { publicKey: 'pk-lf-other-key', secretKey: 'sk-lf-other-key', headers: null };
    expect((await patch(id, { config: { ...moved, ...anew } })).body.data.config).toEqual({
      ...moved,
      publicKey: 'pk-...-key',
      secretKey: 'sk-...-key',
    });
  });

  it('checks the whole configuration, and changes nothing if it is wrong', async () => {
    const { id, config } = await created(langfuse);
    const refused = await patch(id, { name: 'x', config: { secretKey: null, baseUrl: 'http://10.0.0.1' } });
    expect(refused.body.error.message).toContain('config.secretKey: is required');
    expect((await patch(id, { config: { baseUrl: 'http://10.0.0.1' } })).body.error.message).toContain(
      'config.baseUrl: names an address that is not public',
    );
    expect((await management.ask('GET', `${PATH}/${id}`)).body.data).toMatchObject({
      name: 'Traces',
      config,
    });
  });
});

describe('DELETE /observability/destinations/{id}', () => {
  it('is done by the deletion of its workspace too', async () => {
    const workspace = await management.data(201, 'POST', '/workspaces', { name: 'G', slug: 'gone' });
    const { id } = await created({ ...langfuse, workspace_id: workspace.id });
    const kept = await created(langfuse);
    expect((await management.ask('DELETE', '/workspaces/gone')).status).toBe(200);
    expect((await management.ask('GET', `${PATH}/${id}`)).status).toBe(404);
    const left = (await management.ask('GET', `${PATH}?all_workspaces=true`)).body;
    expect(left).toMatchObject({ data: [{ id: kept.id }], total_count: 1 });
  });

  it('deletes it once', async () => {
    const { id } = await created();
    expect(await management.ask('DELETE', `${PATH}/${id}`)).toEqual({ status: 200, body: { deleted: true } });
    expect((await management.ask('DELETE', `${PATH}/${id}`)).status).toBe(404);
    expect((await management.ask('GET', `${PATH}/${id}`)).status).toBe(404);
  });
});

describe('secrets', () => {
  const filesWith = (text: string, directory = gateway.dataDir): string[] =>
    readdirSync(directory).flatMap((name) => {
      const path = join(directory, name);
      const status = statSync(path, { throwIfNoEntry: false });
      if (status?.isDirectory()) return filesWith(text, path);
      return status?.isFile() && readFileSync(path).includes(text) ? [name] : [];
    });

  it('are in no file, log line or answer, and survive a change of the key', async () => {
    const { id } = await created({
      ...webhook,
      config: { url: originOf(other), headers: { authorization: CANARY } },
    });
    expect(filesWith(CANARY)).toEqual([]);
    const rotation = await management.command('encryption.rotate', {});
    expect(rotation.credentials).toBe(1);
    await management.ask('POST', `${PATH}/${id}/test`);
    expect(seen.at(-1)?.headers.authorization).toBe(CANARY);
    expect(gateway.logText()).not.toContain(CANARY);
    expect(JSON.stringify((await management.ask('GET', PATH)).body)).not.toContain('canary');
  });
});
