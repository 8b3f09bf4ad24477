import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let gateway: TestGateway;
let ask: Management['ask'];
let data: Management['data'];
/** Management key of a second account. */
let stranger: string;
let slugs = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
  const management = managementOf(gateway);
  ({ ask, data } = management);
  stranger = (await management.command('accounts.create', { name: 'stranger' })).management_key;
});

afterAll(() => gateway.close());

const created = (more: JsonObject = {}, key?: string) =>
  data(201, 'POST', '/workspaces', { name: 'Team', slug: `team-${++slugs}`, ...more }, key);

describe('POST /workspaces', () => {
  it('makes a workspace and returns every member that clients expect', async () => {
    const workspace = await created({ slug: 'plain' });
    expect(workspace).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Team',
      slug: 'plain',
      description: null,
      default_text_model: null,
      default_image_model: null,
      default_provider_sort: null,
      default_guardrail_id: expect.stringMatching(UUID),
      is_observability_io_logging_enabled: false,
      is_observability_broadcast_enabled: false,
      is_data_discount_logging_enabled: false,
      io_logging_sampling_rate: 1,
      io_logging_api_key_ids: null,
      include_byok_in_budgets: false,
      created_by: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: null,
      managed_by: null,
    });
    for (const name of [workspace.id, workspace.id.toUpperCase(), 'plain']) {
      expect(await data(200, 'GET', `/workspaces/${name}`)).toEqual(workspace);
    }
  });

  it('takes every field', async () => {
    const given = {
      name: 'Research',
      slug: 'research-2',
      description: 'What we try',
      default_text_model: 'simulator/standard',
      default_image_model: 'a/b',
      default_provider_sort: 'throughput',
      is_observability_io_logging_enabled: true,
      is_observability_broadcast_enabled: true,
      is_data_discount_logging_enabled: true,
      io_logging_sampling_rate: 0.5,
      io_logging_api_key_ids: [1],
    };
    expect(await created(given)).toMatchObject(given);
  });

  it.each<[string, JsonObject, string]>([
    ['no name', { name: undefined as never }, 'name: is required'],
    ['a long name', { name: 'x'.repeat(101) }, 'name: must have at most 100 characters'],
    ['no slug', { slug: undefined as never }, 'slug: is required'],
    ['a slug with capitals', { slug: 'Team' }, 'slug: must match'],
    ['a slug with two hyphens', { slug: 'a--b' }, 'slug: must match'],
    ['a long slug', { slug: 'x'.repeat(51) }, 'slug: must have at most 50 characters'],
    ['a long description', { description: 'x'.repeat(501) }, 'description: must have at most 500'],
    ['an unknown order', { default_provider_sort: 'luck' }, 'default_provider_sort: must be'],
    ['no sampling', { io_logging_sampling_rate: 0 }, 'io_logging_sampling_rate: must be >= 0.0001'],
    ['too much sampling', { io_logging_sampling_rate: 1.1 }, 'io_logging_sampling_rate: must be <= 1'],
    ['hashes as numbers', { io_logging_api_key_ids: ['a'] }, 'io_logging_api_key_ids[0]: must be an integer'],
    ['a field of ours', { id: UNKNOWN_ID }, 'id: is not a known field'],
    [
      'a field of budgets',
      { include_byok_in_budgets: true },
      'include_byok_in_budgets: is not a known field',
    ],
  ])('refuses %s', async (_name, more, message) => {
    const { status, body } = await ask('POST', '/workspaces', { name: 'n', slug: 'refused', ...more });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('refuses a slug that is taken in the account, not elsewhere', async () => {
    await created({ slug: 'taken' });
    const { status, body } = await ask('POST', '/workspaces', { name: 'n', slug: 'taken' });
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('slug: ')]);
    await created({ slug: 'taken' }, stranger);
  });
});

describe('GET /workspaces', () => {
  it('lists oldest first, in pages, with the count of all', async () => {
    await created();
    const { body } = await ask('GET', '/workspaces?limit=100');
    expect(body.data[0].slug).toBe('default');
    expect(body.total_count).toBe(body.data.length);
    const { body: page } = await ask('GET', '/workspaces?offset=1&limit=1');
    expect(page).toEqual({ data: [body.data[1]], total_count: body.total_count });
  });

  it.each(['limit=0', 'limit=101', 'offset=-1'])('refuses %s', async (query) => {
    expect((await ask('GET', `/workspaces?${query}`)).status).toBe(400);
  });
});

describe('PATCH /workspaces/{id}', () => {
  it('changes what is given and clears what is null', async () => {
    const workspace = await created({ description: 'old', default_text_model: 'a/b' });
    const path = `/workspaces/${workspace.slug}`;
    expect(await data(200, 'PATCH', path, { name: 'New', description: null })).toEqual({
      ...workspace,
      name: 'New',
      description: null,
      updated_at: expect.any(String),
    });
    expect((await ask('PATCH', path, { slug: 'default' })).status).toBe(409);
    expect((await ask('PATCH', path, { name: null })).status).toBe(400);
    expect((await ask('PATCH', path, { created_by: 'me' })).body.error.message).toBe(
      'created_by: is not a known field',
    );
    await data(200, 'PATCH', path, { slug: 'moved' });
    expect((await ask('GET', path)).status).toBe(404);
    expect((await data(200, 'GET', '/workspaces/moved')).id).toBe(workspace.id);
  });
});

describe('DELETE /workspaces/{id}', () => {
  it('deletes a workspace without active keys, and what is in it', async () => {
    const { id } = await created();
    const { key, data: made } = (await ask('POST', '/keys', { name: 'k', workspace_id: id })).body;
    const credential = await data(201, 'POST', '/byok', {
      key: 'sk-some-key-of-ours',
      provider: 'openai',
      workspace_id: id,
    });
    await ask('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 1 });
    const { status, body } = await ask('DELETE', `/workspaces/${id}`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('active API keys')]);
    await ask('PATCH', `/keys/${made.hash}`, { disabled: true });
    expect(await ask('DELETE', `/workspaces/${id}`)).toEqual({ status: 200, body: { deleted: true } });
    for (const path of [`/workspaces/${id}`, `/keys/${made.hash}`, `/byok/${credential.id}`]) {
      expect((await ask('GET', path)).status).toBe(404);
    }
    expect((await ask('GET', '/key', undefined, key)).status).toBe(401);
  });

  it('does not delete the default one', async () => {
    const { status, body } = await ask('DELETE', '/workspaces/default');
    expect([status, body.error.message]).toEqual([403, 'The default workspace cannot be deleted']);
  });
});

describe('budgets', () => {
  it('are set, shown and deleted by window', async () => {
    const { id, slug } = await created();
    const path = `/workspaces/${slug}/budgets`;
    expect((await ask('GET', path)).body).toEqual({ data: [], include_byok_in_budgets: false });
    const set = await ask('PUT', `${path}/monthly`, { limit_usd: 10, include_byok_in_budgets: true });
    expect(set).toEqual({
      status: 200,
      body: {
        data: {
          id: expect.stringMatching(UUID),
          workspace_id: id,
          limit_usd: 10,
          used_usd: 0,
          left_usd: 10,
          reset_interval: 'monthly',
          created_at: expect.any(String),
          updated_at: expect.any(String),
          managed_by: null,
        },
        include_byok_in_budgets: true,
      },
    });
    expect((await ask('GET', `${path}/monthly`)).body).toEqual(set.body);
    const again = await ask('PUT', `${path}/monthly`, { limit_usd: 12.5 });
    expect(again.body.data).toMatchObject({ id: set.body.data.id, limit_usd: 12.5 });
    expect(again.body.include_byok_in_budgets).toBe(true);
    const lifetime = await data(200, 'PUT', `${path}/lifetime`, { limit_usd: 100 });
    expect(lifetime.reset_interval).toBe(null);
    await data(200, 'PUT', `${path}/daily`, { limit_usd: 1 });
    const { body } = await ask('GET', path);
    expect(body.data.map(({ limit_usd }: { limit_usd: number }) => limit_usd)).toEqual([1, 12.5, 100]);
    expect((await data(200, 'GET', `/workspaces/${id}`)).include_byok_in_budgets).toBe(true);
    expect((await ask('GET', `${path}/weekly`)).status).toBe(404);
    for (let time = 0; time < 2; time++) {
      expect(await ask('DELETE', `${path}/daily`)).toEqual({ status: 200, body: { deleted: true } });
    }
  });

  it('show what is spent of them, one by one and in the list of workspaces', async () => {
    const { id } = await created();
    await data(200, 'PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 1 });
    await data(200, 'PUT', `/workspaces/${id}/budgets/lifetime`, { limit_usd: 5 });
    const { body: issued } = await ask('POST', '/keys', { name: 'spender', workspace_id: id });
    const sent = await gateway.fetch('/chat/completions', {
      method: 'POST',
      key: issued.key,
      body: JSON.stringify({ model: 'simulator/standard', messages: [{ role: 'user', content: 'Hello' }] }),
      headers: { 'content-type': 'application/json' },
    });
    const { usage } = (await sent.json()) as { usage: { cost: number } };
    expect(usage.cost).toBeGreaterThan(0);
    const used = { used_usd: usage.cost, left_usd: expect.closeTo(1 - usage.cost, 9) };
    expect(await data(200, 'GET', `/workspaces/${id}/budgets/daily`)).toMatchObject(used);
    const { body } = await ask('GET', '/workspaces?limit=100&include_budgets=true');
    const listed = body.data.find((workspace: { id: string }) => workspace.id === id);
    expect(listed.budgets).toMatchObject([
      { reset_interval: 'daily', ...used },
      { reset_interval: null, used_usd: usage.cost },
    ]);
    const first = body.data.find(({ slug }: { slug: string }) => slug === 'default');
    expect(first.budgets).toEqual([]);
    expect((await ask('GET', '/workspaces')).body.data[0]).not.toHaveProperty('budgets');
  });

  it.each<[string, JsonObject, string]>([
    ['daily', {}, 'limit_usd: is required'],
    ['daily', { limit_usd: 0 }, 'limit_usd: must be > 0'],
    ['daily', { limit_usd: -1 }, 'limit_usd: must be > 0'],
    ['daily', { limit_usd: 1e13 }, 'limit_usd: must be <= 1000000000'],
    ['daily', { limit_usd: 1e-10 }, 'limit_usd: must be a nano-dollar or more'],
    ['daily', { limit_usd: '5' }, 'limit_usd: must be a number'],
    ['daily', { limit_usd: 5, reset_interval: 'daily' }, 'reset_interval: is not a known field'],
    ['hourly', { limit_usd: 5 }, 'interval: must be one of daily, weekly, monthly, lifetime'],
    ['daily', { limit_usd: 20 }, 'limit_usd: must be less than the weekly budget'],
    ['monthly', { limit_usd: 20 }, 'limit_usd: must be more than the weekly budget'],
    ['lifetime', { limit_usd: 5 }, 'limit_usd: must be more than the weekly budget'],
  ])('refuse %s %j', async (interval, body, message) => {
    const { id } = await created();
    await data(200, 'PUT', `/workspaces/${id}/budgets/weekly`, { limit_usd: 20 });
    const answer = await ask('PUT', `/workspaces/${id}/budgets/${interval}`, body);
    expect([answer.status, answer.body.error.message]).toEqual([400, message]);
    expect((await ask('GET', `/workspaces/${id}/budgets`)).body.data).toHaveLength(1);
  });
});

describe('workspaces of others', () => {
  const OPERATIONS: [string, string, JsonObject?][] = [
    ['GET', '/workspaces/ID'],
    ['PATCH', '/workspaces/ID', { name: 'mine now' }],
    ['DELETE', '/workspaces/ID'],
    ['GET', '/workspaces/ID/budgets'],
    ['GET', '/workspaces/ID/budgets/daily'],
    ['PUT', '/workspaces/ID/budgets/daily', { limit_usd: 1 }],
    ['DELETE', '/workspaces/ID/budgets/daily'],
  ];

  it.each(OPERATIONS)('are not found by %s %s', async (method, path, body) => {
    const theirs = await created({ slug: `secret-${++slugs}` }, stranger);
    await data(200, 'PUT', `/workspaces/${theirs.id}/budgets/daily`, { limit_usd: 3 }, stranger);
    const unknown = await ask(method, path.replace('ID', UNKNOWN_ID), body);
    expect(unknown.status).toBe(404);
    for (const name of [theirs.id, theirs.slug, '__proto__', "'"]) {
      expect(await ask(method, path.replace('ID', name), body)).toEqual(unknown);
    }
    expect(await data(200, 'GET', `/workspaces/${theirs.id}`, undefined, stranger)).toEqual(theirs);
    const budget = await data(200, 'GET', `/workspaces/${theirs.id}/budgets/daily`, undefined, stranger);
    expect(budget.limit_usd).toBe(3);
  });

  it.each(OPERATIONS)('are not managed with a plain key: %s %s', async (method, path, body) => {
    expect((await ask(method, path.replace('ID', 'default'), body, gateway.apiKey)).status).toBe(403);
  });
});
