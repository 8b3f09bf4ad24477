import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const UNKNOWN_HASH = '0'.repeat(64);
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let gateway: TestGateway;
let ask: Management['ask'];
let command: Management['command'];
/** Management key of a second account. */
let stranger: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  ({ ask, command } = managementOf(gateway));
  const { management_key } = await command('accounts.create', { name: 'stranger' });
  stranger = management_key;
});

afterAll(() => gateway.close());

async function created(more: JsonObject = {}, key = gateway.managementKey): Promise<any> {
  const { status, body } = await ask('POST', '/keys', { name: 'a key', ...more }, key);
  expect(body).toMatchObject({ data: {} });
  expect(status).toBe(201);
  return body;
}

const opens = async (secret: string) => (await gateway.fetch('/key', { key: secret })).status === 200;

describe('POST /keys', () => {
  it('makes a key, shows it once, and returns every member that clients expect', async () => {
    const { data, key } = await created();
    expect(key).toMatch(/^sk-sb-v1-[0-9a-f]{64}$/);
    expect(data).toEqual({
      hash: createHash('sha256').update(key).digest('hex'),
      label: `sk-...${key.slice(-4)}`,
      name: 'a key',
      disabled: false,
      limit: null,
      limit_remaining: null,
      limit_reset: null,
      include_byok_in_limit: false,
      usage: 0,
      usage_daily: 0,
      usage_weekly: 0,
      usage_monthly: 0,
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: null,
      expires_at: null,
      creator_user_id: null,
      external_user: null,
      managed_by: null,
      workspace_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      allowed_models: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      guardrails: [],
    });
    expect((await ask('GET', `/keys/${data.hash}`)).body).toEqual({ data });
    expect(await opens(key)).toBe(true);
  });

  it('takes every field, and a trailing slash', async () => {
    const given = {
      name: 'whole',
      limit: 12.5,
      limit_reset: 'monthly',
      include_byok_in_limit: true,
      expires_at: '2099-12-31T23:59:59Z',
      creator_user_id: 'user_1',
    };
    const { status, body } = await ask('POST', '/keys/', { ...given, external: { user: 'theirs' } });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      ...given,
      expires_at: '2099-12-31T23:59:59.000Z',
      limit_remaining: 12.5,
      external_user: 'theirs',
    });
    const itself = await ask('GET', '/key', undefined, body.key);
    expect(itself.body.data).toMatchObject({
      limit: 12.5,
      limit_remaining: 12.5,
      limit_reset: 'monthly',
      include_byok_in_limit: true,
      creator_user_id: 'user_1',
      is_management_key: false,
    });
    expect((await ask('GET', '/auth/key', undefined, body.key)).body).toEqual(itself.body);
  });

  it.each(['2099-01-01T00:00:00+00:00', '2099-01-01T00:00:00Z', '2099-01-01T00:00:00.000Z'])(
    'reads %s as the same moment',
    async (expires_at) => {
      expect((await created({ expires_at })).data.expires_at).toBe('2099-01-01T00:00:00.000Z');
    },
  );

  it('rounds what is finer than a nano-dollar half up', async () => {
    expect((await created({ limit: 0.0000000016 })).data.limit).toBe(2e-9);
    expect((await created({ limit: 0 })).data).toMatchObject({ limit: 0, limit_remaining: 0 });
  });

  it.each<[string, JsonObject, string]>([
    ['no name', { name: undefined as never }, 'name: is required'],
    ['an empty name', { name: '' }, 'name: must not be empty'],
    ['a name that is no text', { name: 5 }, 'name: must be a string'],
    ['a long name', { name: 'x'.repeat(256) }, 'name: must have at most 255 characters'],
    ['a negative limit', { limit: -0.01 }, 'limit: must be >= 0'],
    ['an absurd limit', { limit: 1e13 }, 'limit: must be <= 1000000000'],
    ['a limit that is no number', { limit: 'NaN' }, 'limit: must be'],
    [
      'an unknown reset',
      { limit_reset: 'hourly' },
      'limit_reset: must be one of "daily", "weekly", "monthly"',
    ],
    ['a flag that is none', { include_byok_in_limit: 1 }, 'include_byok_in_limit: must be a boolean'],
    ['a moment that is over', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
    ['another time zone', { expires_at: '2099-01-01T00:00:00+02:00' }, 'expires_at: must be a moment in UTC'],
    ['no time zone', { expires_at: '2099-01-01T00:00:00' }, 'expires_at: must be a moment in UTC'],
    ['a day', { expires_at: '2099-01-01' }, 'expires_at: must be a moment in UTC'],
    ['no day of the calendar', { expires_at: '2099-02-30T00:00:00Z' }, 'expires_at: is no moment'],
    ['no hour of the day', { expires_at: '2099-02-03T25:00:00Z' }, 'expires_at: is no moment'],
    ['a bad workspace', { workspace_id: 'default' }, 'workspace_id: must be a UUID'],
    ['an unknown member', { external: { user: 'x', mail: 'y' } }, 'external.mail: is not a known field'],
    ['a field of ours', { hash: UNKNOWN_HASH }, 'hash: is not a known field'],
    ['more rights', { is_management_key: true }, 'is_management_key: is not a known field'],
    ['what only changes', { disabled: true }, 'disabled: is not a known field'],
  ])('refuses %s', async (_name, more, message) => {
    const { status, body } = await ask('POST', '/keys', { name: 'bad', ...more });
    expect(body.error?.message).toContain(message);
    expect([status, body.error.code]).toEqual([400, 400]);
  });

  it('refuses numbers that JSON has and money does not', async () => {
    const { status, body } = await ask('POST', '/keys', '{"name":"n","limit":1e999}');
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('limit: must be')]);
  });
});

describe('GET /keys', () => {
  it('lists plain keys newest first, those of the environment too, and no management key', async () => {
    const { guardrails: _, ...data } = (await created({ name: 'newest' })).data;
    const { status, body } = await ask('GET', '/keys');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data[0]).toEqual(data);
    const names = body.data.map(({ name }: { name: string }) => name);
    expect(names.at(-1)).toBe('SIGNALBOX_API_KEY');
    expect(names).not.toContain('SIGNALBOX_MANAGEMENT_KEY');
  });

  it('lists disabled keys only on request, in pages of 100', async () => {
    const { data: workspace } = (await ask('POST', '/workspaces', { name: 'Many', slug: 'many' })).body;
    const place = { workspace_id: workspace.id };
    const { data: off } = await created({ ...place, name: 'off' });
    await ask('PATCH', `/keys/${off.hash}`, { disabled: true });
    for (let count = 0; count < 100; count++) await created(place);
    const list = async (query: string) =>
      (await ask('GET', `/keys?workspace_id=${workspace.id}${query}`)).body.data.length;
    expect(await list('&include_disabled=true')).toBe(100);
    expect(await list('&include_disabled=true&offset=100')).toBe(1);
    expect(await list('&include_disabled=false&offset=100')).toBe(0);
    expect(await list('&offset=null')).toBe(100);
  });

  it('finds keys by name, label or hash, in one workspace or in all', async () => {
    const { data: workspace } = (await ask('POST', '/workspaces', { name: 'Found', slug: 'found' })).body;
    const { data: near } = await created({ name: 'needle one' });
    const { data: far } = await created({ name: 'a NEEDLE', workspace_id: workspace.id });
    await created({ name: 'needle of another account' }, stranger);
    const found = async (query: string) =>
      (await ask('GET', `/keys?${query}`)).body.data.map(({ hash }: { hash: string }) => hash);
    expect(await found('search=needle')).toEqual([near.hash]);
    expect(await found('search=needle&all_workspaces=true')).toEqual([far.hash, near.hash]);
    expect(await found(`search=needle&workspace_id=${workspace.id}`)).toEqual([far.hash]);
    expect(await found(`search=${far.hash.slice(0, 16)}&all_workspaces=true`)).toEqual([far.hash]);
    expect(await found('search=%25&all_workspaces=true')).toEqual([]);
    expect(await found('all_workspaces=true')).toContain(far.hash);
  });

  it('says on request when a key was last used', async () => {
    const place = { search: 'sometimes used', include_last_used: 'true' };
    const list = async (query: Record<string, string>) =>
      (await ask('GET', `/keys?${new URLSearchParams(query)}`)).body.data;
    const { key } = await created({ name: 'sometimes used' });
    await created({ name: 'sometimes used, never yet' });
    expect((await list(place)).map((row: JsonObject) => row.last_used_at)).toEqual([null, null]);
    const sentAtMs = Date.now();
    const answer = await gateway.fetch('/chat/completions', {
      method: 'POST',
      key,
      body: JSON.stringify({ model: 'simulator/standard', messages: [{ role: 'user', content: 'Hello' }] }),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const [unused, used] = await list(place);
    expect(unused.last_used_at).toBeNull();
    expect(Date.parse(used.last_used_at)).toBeGreaterThanOrEqual(sentAtMs - 1_000);
    expect(Date.parse(used.last_used_at)).toBeLessThanOrEqual(Date.now());
    const [plain] = await list({ search: 'sometimes used' });
    expect(plain).not.toHaveProperty('last_used_at');
  });

  it.each([
    ['search=', 'search: must'],
    [`all_workspaces=true&workspace_id=${UNKNOWN_ID}`, 'all_workspaces: must not be true together with'],
    ['include_disabled=maybe', 'include_disabled: must be'],
    ['include_last_used=maybe', 'include_last_used: must be'],
    ['offset=-1', 'offset: must be >= 0'],
    ['workspace_id=x', 'workspace_id: must be a UUID'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await ask('GET', `/keys?${query}`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('PATCH /keys/{hash}', () => {
  it('changes what is given, clears what is null, keeps the rest', async () => {
    const { data, key } = await created({ limit: 5, limit_reset: 'daily', include_byok_in_limit: true });
    const change = async (body: JsonObject) => (await ask('PATCH', `/keys/${data.hash}`, body)).body.data;
    expect(await change({ name: 'renamed' })).toEqual({
      ...data,
      name: 'renamed',
      updated_at: expect.any(String),
    });
    expect(await change({ limit: 7 })).toMatchObject({ limit: 7, limit_remaining: 7, limit_reset: 'daily' });
    expect(await change({ limit: null, limit_reset: null })).toMatchObject({
      limit: null,
      limit_remaining: null,
      limit_reset: null,
      include_byok_in_limit: true,
    });
    await change({ disabled: true });
    expect(await opens(key)).toBe(false);
    await change({ disabled: false });
    expect(await opens(key)).toBe(true);
    expect((await ask('PATCH', `/keys/${data.hash.toUpperCase()}`, {})).status).toBe(200);
  });

  it.each<[JsonObject, string]>([
    [{ limit: -1 }, 'limit: must be >= 0'],
    [{ name: null }, 'name: must be a string'],
    [{ disabled: null }, 'disabled: must be a boolean'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
    [{ expires_at: 'tomorrow' }, 'expires_at: must be a moment in UTC'],
    [{ workspace_id: UNKNOWN_ID }, 'workspace_id: is not a known field'],
  ])('refuses %j', async (change, message) => {
    const { data } = await created();
    const { status, body } = await ask('PATCH', `/keys/${data.hash}`, change);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('DELETE /keys/{hash}', () => {
  it('deletes for good, at once', async () => {
    const { data, key } = await created();
    expect(await opens(key)).toBe(true);
    expect(await ask('DELETE', `/keys/${data.hash}`)).toEqual({ status: 200, body: { deleted: true } });
    expect(await opens(key)).toBe(false);
    expect((await ask('DELETE', `/keys/${data.hash}`)).status).toBe(404);
    expect((await ask('GET', `/keys/${data.hash}`)).status).toBe(404);
  });
});

describe('keys of others', () => {
  it('are not found by any operation, with the same message as unknown keys', async () => {
    const { data } = await created();
    const management = createHash('sha256').update(gateway.managementKey).digest('hex');
    const foreign = (await created({}, stranger)).data;
    const theirs = (await ask('GET', '/workspaces', undefined, stranger)).body.data[0].id;
    const attempts: [string, string, JsonObject?][] = [
      ['GET', '/keys/HASH'],
      ['PATCH', '/keys/HASH', { name: 'mine now' }],
      ['DELETE', '/keys/HASH'],
    ];
    for (const [method, path, body] of attempts) {
      const answers = [];
      for (const hash of [UNKNOWN_HASH, foreign.hash, management, 'x', '%27']) {
        answers.push(await ask(method, path.replace('HASH', hash), body));
      }
      for (const answer of answers) {
        expect(answer.status).toBe(404);
        expect(answer.body).toEqual(answers[0]?.body);
      }
    }
    for (const path of ['/keys?workspace_id=ID', '/keys']) {
      const method = path === '/keys' ? 'POST' : 'GET';
      const [unknown, others] = [UNKNOWN_ID, theirs].map((id) =>
        ask(method, path.replace('ID', id), method === 'POST' ? { name: 'n', workspace_id: id } : undefined),
      );
      expect(await others).toEqual(await unknown);
      expect((await others)?.status).toBe(404);
    }
    expect((await ask('GET', `/keys/${foreign.hash}`, undefined, stranger)).body.data.name).toBe('a key');
    expect((await ask('GET', `/keys/${data.hash}`)).body).toEqual({ data });
  });

  it('are not managed with a plain key, nor without one', async () => {
    const { data } = await created();
    const attempts: [string, string, JsonObject?][] = [
      ['GET', '/keys'],
      ['POST', '/keys', { name: 'n' }],
      ['GET', `/keys/${data.hash}`],
      ['PATCH', `/keys/${data.hash}`, { limit: null }],
      ['DELETE', `/keys/${data.hash}`],
    ];
    for (const [method, path, body] of attempts) {
      const refused = await ask(method, path, body, gateway.apiKey);
      expect([refused.status, refused.body.error.message]).toEqual([
        403,
        'Only management keys can perform this operation',
      ]);
      expect((await ask(method, path, body, null)).status).toBe(401);
    }
  });
});

describe('commands beside the gateway', () => {
  it('make keys that it sees at once, with limits, and list them', async () => {
    const made = await command('keys.create', {
      name: 'from the shell',
      limit: 2.5,
      limit_reset: 'daily',
      include_byok_in_limit: true,
    });
    expect(made).toMatchObject({ limit: 2.5, limit_reset: 'daily', include_byok_in_limit: true, usage: 0 });
    expect((await ask('GET', `/keys/${made.hash}`)).body.data).toMatchObject({
      limit: 2.5,
      limit_reset: 'daily',
    });
    const listed = await command('keys.list', {});
    expect(listed.filter(({ is_management_key }) => is_management_key)).toHaveLength(2);
    expect(listed.find(({ hash }) => hash === made.hash)).toMatchObject({ limit_remaining: 2.5 });
    await command('keys.revoke', { hash: made.hash });
    expect(await opens(made.key)).toBe(false);
  });

  it('refuse an unknown window', async () => {
    const bad = command('keys.create', { name: 'n', limit: 1, limit_reset: 'hourly' });
    await expect(bad).rejects.toThrow('limit_reset: must be one of "daily", "weekly", "monthly"');
  });
});
