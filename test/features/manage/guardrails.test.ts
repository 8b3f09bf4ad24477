import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const simulated = (slug: string) => ({ slug, dialect: 'simulator' });
const model = (id: string, providers: readonly string[], aliases: string[] = []) => ({
  id,
  aliases,
  endpoints: providers.map((provider) => ({ provider, model: 'standard' })),
});

const DEAR = {
  id: 'acme/dear',
  endpoints: [
    { provider: 'one', model: 'standard', pricing: { prompt: '0', completion: '0', request: '0.01' } },
  ],
};

let gateway: TestGateway;
let ask: Management['ask'];
let data: Management['data'];
/** Management key of a second account. */
let stranger: string;

beforeAll(async () => {
  gateway = await openTestGateway({
    providers: [simulated('one'), simulated('two')],
    models: [model('acme/large', ['one', 'two'], ['large']), model('acme/small', ['two']), DEAR],
  });
  const management = managementOf(gateway);
  ({ ask, data } = management);
  stranger = (await management.command('accounts.create', { name: 'stranger' })).management_key;
});

afterAll(() => gateway.close());

const created = (more: JsonObject = {}) => data(201, 'POST', '/guardrails', { name: 'Rules', ...more });

async function newKey(more: JsonObject = {}): Promise<{ hash: string; secret: string }> {
  const { body } = await ask('POST', '/keys', { name: 'a key', ...more });
  return { hash: body.data.hash, secret: body.key };
}

async function generate(secret: string, body: JsonObject, path = '/responses') {
  const response = await gateway.fetch(path, {
    method: 'POST',
    key: secret,
    body: JSON.stringify({ input: 'Hi', ...body }),
    headers: { 'content-type': 'application/json', 'x-signalbox-metadata': 'enabled' },
  });
  const id = response.headers.get('x-generation-id');
  return { id, status: response.status, body: (await response.json()) as any };
}

/** A new key with a guardrail of its own. */
async function guarded(rules: JsonObject, more: JsonObject = {}): Promise<string> {
  const { hash, secret } = await newKey(more);
  const { id } = await created(rules);
  const answer = await ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
  expect(answer).toEqual({ status: 200, body: { assigned_count: 1 } });
  return secret;
}

describe('/guardrails', () => {
  it('makes, shows, changes, lists and deletes a guardrail', async () => {
    const plain = await created({ name: 'Plain' });
    expect(plain).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Plain',
      description: null,
      workspace_id: expect.stringMatching(UUID),
      limit_usd: null,
      reset_interval: null,
      include_byok_in_budgets: false,
      allowed_providers: null,
      ignored_providers: null,
      allowed_models: null,
      ignored_models: null,
      enforce_zdr: null,
      enforce_zdr_anthropic: null,
      enforce_zdr_openai: null,
      enforce_zdr_google: null,
      enforce_zdr_xai: null,
      enforce_zdr_other: null,
      enable_paid_model_training: null,
      enable_free_model_training: null,
      enable_free_model_publication: null,
      allowed_data_regions: null,
      content_filter_builtins: null,
      content_filters: null,
      service: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: null,
      default_of: null,
      managed_by: null,
    });
    const path = `/guardrails/${plain.id}`;
    expect(await data(200, 'GET', path)).toEqual(plain);
    const changed = await data(200, 'PATCH', path, {
      description: 'x',
      enforce_zdr: true,
      enforce_zdr_xai: false,
    });
    expect(changed).toEqual({
      ...plain,
      description: 'x',
      enforce_zdr_anthropic: true,
      enforce_zdr_openai: true,
      enforce_zdr_google: true,
      enforce_zdr_xai: false,
      enforce_zdr_other: true,
      updated_at: expect.stringMatching(/Z$/),
    });
    const list = await ask('GET', '/guardrails?limit=100');
    expect(list.body.data).toContainEqual(changed);
    expect(list.body.total_count).toBe(list.body.data.length);
    expect(await ask('DELETE', path)).toEqual({ status: 200, body: { deleted: true } });
    for (const method of ['GET', 'DELETE']) expect((await ask(method, path)).status).toBe(404);
    expect((await ask('PATCH', path, { name: 'x' })).status).toBe(404);
  });

  it('takes every field, and shows models by their canonical slugs', async () => {
    const given = {
      name: 'All',
      description: 'of it',
      limit_usd: 12.5,
      reset_interval: 'weekly',
      include_byok_in_budgets: true,
      allowed_providers: ['one', 'openai'],
      ignored_providers: ['two'],
      ignored_models: ['acme/small'],
      enforce_zdr_anthropic: true,
      enable_paid_model_training: false,
      enable_free_model_training: true,
      enable_free_model_publication: false,
      allowed_data_regions: ['europe', 'us'],
      content_filter_builtins: [
        { slug: 'credit-card', action: 'flag', label: 'mine' },
        { slug: 'regex-prompt-injection', action: 'block', scan_scope: 'user_only' },
      ],
      content_filters: [
        { pattern: 'a+', action: 'redact', label: 'A' },
        { pattern: 'b', action: 'flag' },
      ],
    };
    expect(await created({ ...given, allowed_models: ['large'] })).toMatchObject({
      ...given,
      allowed_models: ['acme/large'],
      content_filter_builtins: [
        { slug: 'credit-card', action: 'flag', label: '[CREDIT_CARD]' },
        {
          slug: 'regex-prompt-injection',
          action: 'block',
          label: '[PROMPT_INJECTION]',
          scan_scope: 'user_only',
        },
      ],
      content_filters: [
        { pattern: 'a+', action: 'redact', label: 'A' },
        { pattern: 'b', action: 'flag', label: null },
      ],
      service: null,
    });
  });

  it.each<[string, JsonObject, string]>([
    ['no name', { name: undefined as never }, 'name: is required'],
    ['a long name', { name: 'x'.repeat(201) }, 'name: must have at most 200 characters'],
    ['a long description', { description: 'x'.repeat(1001) }, 'description: must have at most 1000'],
    ['an unknown member', { colour: 'red' }, 'colour: is not a known field'],
    ['a negative limit', { limit_usd: -1 }, 'limit_usd:'],
    ['an unknown interval', { reset_interval: 'yearly' }, 'reset_interval:'],
    ['an empty list', { allowed_models: [] }, 'allowed_models:'],
    [
      'a misspelt model',
      { allowed_models: ['acme/smal'] },
      'allowed_models[0]: "acme/smal" is not a model that this gateway knows; did you mean "acme/small"?',
    ],
    [
      'a misspelt provider',
      { ignored_providers: ['opanai'] },
      'ignored_providers[0]: "opanai" is not a provider that this gateway knows; did you mean "openai"?',
    ],
    ['an unknown model', { ignored_models: ['acme/none'] }, 'ignored_models[0]: "acme/none" is not a model'],
    [
      'an unknown provider',
      { allowed_providers: ['one', 'nobody'] },
      'allowed_providers[1]: "nobody" is not',
    ],
    ['an unknown region', { allowed_data_regions: ['mars'] }, 'allowed_data_regions[0]:'],
    [
      'an unknown filter',
      { content_filter_builtins: [{ slug: 'x', action: 'block' }] },
      'content_filter_builtins[0].slug:',
    ],
    [
      'a filter without an action',
      { content_filter_builtins: [{ slug: 'email' }] },
      'content_filter_builtins[0].action: is required',
    ],
    [
      'a filter twice',
      {
        content_filter_builtins: [
          { slug: 'email', action: 'flag' },
          { slug: 'email', action: 'block' },
        ],
      },
      'content_filter_builtins[1].slug: email is given twice',
    ],
    [
      'a scope for another filter',
      { content_filter_builtins: [{ slug: 'email', action: 'flag', scan_scope: 'user_only' }] },
      'content_filter_builtins[0].scan_scope: is for regex-prompt-injection only',
    ],
    [
      'names of people without a service',
      { content_filter_builtins: [{ slug: 'person-name', action: 'flag' }] },
      'content_filter_builtins[0].slug: person-name needs a Presidio-compatible service',
    ],
    [
      'an empty pattern',
      { content_filters: [{ pattern: '', action: 'block' }] },
      'content_filters[0].pattern:',
    ],
    [
      'a long label',
      { content_filters: [{ pattern: 'a', action: 'block', label: 'x'.repeat(101) }] },
      'content_filters[0].label: must have at most 100',
    ],
    [
      'a service at a private address',
      { service: { url: 'http://127.0.0.1:9/judge' } },
      'service.url: the URL ',
    ],
    ['a service that is no address', { service: { url: 'ftp://x' } }, 'service.url: must be an http'],
    ['a workspace id that is no UUID', { workspace_id: 'x' }, 'workspace_id: must be a UUID'],
  ])('refuses %s with the path', async (_, body, message) => {
    const answer = await ask('POST', '/guardrails', { name: 'Wrong', ...body });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 400 } } });
    expect(answer.body.error.message).toContain(message);
  });

  it.each([['('], ['(?=x)y'], ['(a)\\1'], ['(?<!a)b'], ['(((a{100}){100}){100}){100}']])(
    'refuses the pattern %s with the reason',
    async (pattern) => {
      const filters = {
        content_filters: [
          { pattern: 'fine', action: 'flag' },
          { pattern, action: 'flag' },
        ],
      };
      const answer = await ask('POST', '/guardrails', { name: 'Wrong', ...filters });
      const path = 'content_filters[1].pattern';
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { type: 'invalid_regex_pattern', metadata: { issues: [{ path }] } } },
      });
      expect(answer.body.error.message).toMatch(
        /^content_filters\[1\]\.pattern: invalid_regex_pattern: the pattern ./,
      );
    },
  );

  it('lists those of all workspaces, with how many keys and members each is assigned to', async () => {
    const workspace = await data(201, 'POST', '/workspaces', { name: 'Elsewhere', slug: 'elsewhere' });
    const there = await created({ name: 'There', workspace_id: workspace.id });
    await data(200, 'PATCH', `/guardrails/${workspace.default_guardrail_id}`, { name: 'Of all there' });
    const { hash } = await newKey();
    await ask('POST', `/guardrails/${there.id}/assignments/keys`, { key_hashes: [hash] });
    const list = await ask('GET', '/guardrails?all_workspaces=true&include_assigned_counts=true&limit=100');
    const row = (id: string) => list.body.data.find((each: JsonObject) => each.id === id);
    expect(row(there.id)).toEqual({ ...there, assigned_keys: 1, assigned_members: 0 });
    expect(row(workspace.default_guardrail_id)).toMatchObject({ default_of: 'workspace', assigned_keys: 0 });
    const plain = await ask('GET', `/guardrails?workspace_id=${workspace.id}`);
    expect(plain.body.data).toContainEqual(there);
    const both = await ask('GET', `/guardrails?workspace_id=${workspace.id}&all_workspaces=true`);
    expect(both.status).toBe(400);
    expect(both.body.error.message).toContain('all_workspaces: must not be true together');
  });

  it('needs a management key, and shows other accounts nothing', async () => {
    expect((await ask('GET', '/guardrails', undefined, gateway.apiKey)).status).toBe(403);
    const { id } = await created();
    expect((await ask('GET', `/guardrails/${id}`, undefined, stranger)).status).toBe(404);
    const { hash } = await newKey();
    const foreign = await data(201, 'POST', '/guardrails', { name: 'Theirs' }, stranger);
    const body = { key_hashes: [hash] };
    const refused = await ask('POST', `/guardrails/${foreign.id}/assignments/keys`, body, stranger);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 400 } } });
    expect(refused.body.error.message).toContain('key_hashes[0]: is not the hash of an API key');
  });
});

describe('assignments', () => {
  it('assigns, lists and removes keys; a new assignment replaces the old one', async () => {
    const [one, two] = [await created(), await created()];
    const { hash } = await newKey({ name: 'listed' });
    const body = { key_hashes: [hash] };
    await ask('POST', `/guardrails/${one.id}/assignments/keys`, body);
    const moved = await ask('POST', `/guardrails/${two.id}/assignments/keys`, body);
    expect(moved.body).toEqual({
      assigned_count: 1,
      replaced: [{ key_hash: hash, guardrail_id: one.id }],
    });
    const listed = (path: string) => ask('GET', `${path}/assignments/keys`);
    expect((await listed(`/guardrails/${one.id}`)).body).toEqual({ data: [], total_count: 0 });
    const row = {
      id: expect.stringMatching(UUID),
      guardrail_id: two.id,
      key_hash: hash,
      key_name: 'listed',
      key_label: expect.stringContaining('...'),
      assigned_by: null,
      created_at: expect.stringMatching(/Z$/),
    };
    expect((await listed(`/guardrails/${two.id}`)).body).toEqual({ data: [row], total_count: 1 });
    const before = await ask('GET', `/guardrails/assignments/keys?key_hash=${hash}`);
    expect(before.body).toEqual({ data: [row], total_count: 1 });
    expect((await listed('/guardrails')).body.data).toContainEqual(row);
    const remove = (id: string) => ask('POST', `/guardrails/${id}/assignments/keys/remove`, body);
    expect((await remove(one.id)).body).toEqual({ unassigned_count: 0 });
    expect((await remove(two.id)).body).toEqual({ unassigned_count: 1 });
  });

  it('assigns, lists and removes members', async () => {
    const { id } = await created();
    const body = { member_user_ids: ['ada', 'bob', 'ada'] };
    const members = `/guardrails/${id}/assignments/members`;
    expect((await ask('POST', members, body)).body).toEqual({ assigned_count: 2 });
    const { body: list } = await ask('GET', `${members}?limit=1&offset=1`);
    expect(list.total_count).toBe(2);
    expect(list.data).toEqual([
      {
        id: expect.stringMatching(UUID),
        guardrail_id: id,
        user_id: expect.stringMatching(/ada|bob/),
        organization_id: expect.stringMatching(UUID),
        assigned_by: null,
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect((await ask('GET', '/guardrails/assignments/members')).body.total_count).toBe(2);
    expect((await ask('POST', `${members}/remove`, body)).body).toEqual({ unassigned_count: 2 });
  });

  it.each([
    ['keys', {}, 'key_hashes: is required'],
    ['keys', { key_hashes: [] }, 'key_hashes:'],
    ['keys', { key_hashes: ['x'] }, 'key_hashes[0]: must be the hash of a key'],
    ['members', { member_user_ids: [] }, 'member_user_ids:'],
    ['members', { member_user_ids: ['a'], more: 1 }, 'more: is not a known field'],
  ])('refuses a wrong body for %s', async (kind, body, message) => {
    const { id } = await created();
    const answer = await ask('POST', `/guardrails/${id}/assignments/${kind}`, body as JsonObject);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toContain(message);
    const missing = await ask('GET', `/guardrails/${UNKNOWN_ID}/assignments/${kind}`);
    expect(missing.status).toBe(404);
  });
});

describe('where a guardrail applies', () => {
  const rules = { ignored_models: ['acme/small'] };
  const small = { model: 'acme/small' };

  it('holds for a key from the moment it is assigned, until it is taken away', async () => {
    const { hash, secret } = await newKey();
    expect((await generate(secret, small)).status).toBe(200);
    const { id } = await created(rules);
    expect((await generate(secret, small)).status).toBe(200);
    await ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
    expect((await generate(secret, small)).status).toBe(403);
    await ask('PATCH', `/guardrails/${id}`, { ignored_models: null });
    expect((await generate(secret, small)).status).toBe(200);
    await ask('PATCH', `/guardrails/${id}`, rules);
    expect((await generate(secret, small)).status).toBe(403);
    await ask('DELETE', `/guardrails/${id}`);
    expect((await generate(secret, small)).status).toBe(200);
  });

  it('holds for the keys that a member created', async () => {
    const keys = [await newKey({ creator_user_id: 'carol' }), await newKey({ creator_user_id: 'dave' })];
    const { id } = await created(rules);
    await ask('POST', `/guardrails/${id}/assignments/members`, { member_user_ids: ['carol'] });
    const statuses = await Promise.all(
      keys.map(async ({ secret }) => (await generate(secret, small)).status),
    );
    expect(statuses).toEqual([403, 200]);
  });

  it('holds for a workspace by its default guardrail, which its first change makes', async () => {
    const workspace = await data(201, 'POST', '/workspaces', { name: 'Lab', slug: 'lab' });
    const { secret } = await newKey({ workspace_id: workspace.id });
    const path = `/guardrails/${workspace.default_guardrail_id}`;
    expect((await ask('GET', path)).status).toBe(404);
    expect(await data(200, 'PATCH', path, rules)).toMatchObject({
      id: workspace.default_guardrail_id,
      name: `Workspace ${workspace.id} Default`,
      workspace_id: workspace.id,
      ...rules,
    });
    expect(await data(200, 'GET', path)).toMatchObject(rules);
    expect((await generate(secret, small)).status).toBe(403);
    expect((await generate((await newKey()).secret, small)).status).toBe(200);
  });

  it('holds for the account by /guardrails/default', async () => {
    expect((await ask('GET', '/guardrails/default')).status).toBe(404);
    const guardrail = await data(200, 'PATCH', '/guardrails/default', rules);
    expect(await data(200, 'GET', `/guardrails/${guardrail.id}`)).toEqual(guardrail);
    expect((await generate((await newKey()).secret, small)).status).toBe(403);
    expect((await ask('DELETE', '/guardrails/default')).status).toBe(200);
    expect((await generate((await newKey()).secret, small)).status).toBe(200);
  });
});

describe('rules of models and providers', () => {
  it('refuses a forbidden model with the reason, and records that', async () => {
    const secret = await guarded({ allowed_models: ['acme/large'] });
    const { status, body, id } = await generate(secret, { model: 'acme/small' });
    expect(status).toBe(403);
    const reason = `the model is not in allowed_models of the key's guardrail "Rules", which allows acme/large`;
    expect(body.error.message).toBe(`This key may not use acme/small: ${reason}`);
    expect(body.error.metadata).toMatchObject({ patterns: ['allowed_models'] });
    expect(body.signalbox_metadata).toMatchObject({
      attempt: 0,
      endpoints: {
        total: 1,
        available: [],
        rejected: [
          {
            provider: 'two',
            model: 'acme/small',
            filter: 'allowed_models',
            reason,
          },
        ],
      },
    });
    const record = await ask('GET', `/generation?id=${id}`, undefined, secret);
    expect(record).toMatchObject({ status: 200, body: { data: { id, total_cost: 0, model: 'acme/small' } } });
  });

  it('skips the forbidden ones of a list', async () => {
    const secret = await guarded({ ignored_models: ['acme/small'] });
    const { status, body } = await generate(secret, { models: ['acme/small', 'acme/large'] });
    expect({ status, model: body.model }).toEqual({ status: 200, model: 'acme/large' });
  });

  it('routes past forbidden providers, and refuses a request for one of them', async () => {
    const secret = await guarded({ ignored_providers: ['one'] });
    const { body } = await generate(secret, { model: 'acme/large' });
    expect(body.signalbox_metadata.endpoints.available).toMatchObject([{ provider: 'two' }]);
    const only = await generate(secret, { model: 'acme/large', provider: { only: ['one'] } });
    expect(only.status).toBe(403);
  });

  it('gives 404 where the preferences of the request alone leave nothing', async () => {
    const secret = await guarded({ ignored_providers: ['one'] });
    const { status } = await generate(secret, { model: 'acme/small', provider: { only: ['nobody'] } });
    expect(status).toBe(404);
  });

  it('holds for routers, and says so in the format of the request', async () => {
    const secret = await guarded({ allowed_models: ['acme/small'] });
    const auto = await generate(secret, { model: 'signalbox/auto' });
    expect({ status: auto.status, model: auto.body.model }).toEqual({ status: 200, model: 'acme/small' });
    const body = { model: 'acme/large', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    const message = await generate(secret, { ...body, input: undefined as never }, '/messages');
    expect(message).toMatchObject({
      status: 403,
      body: { type: 'error', error: { type: 'permission_error' } },
    });
  });

  it('leaves forbidden models out of /models/user and explains them', async () => {
    const secret = await guarded({ ignored_models: ['acme/large'] });
    const listed = await ask('GET', '/models/user', undefined, secret);
    const ids = listed.body.data.map(({ id }: { id: string }) => id);
    expect(ids).toContain('acme/small');
    expect(ids).not.toContain('acme/large');
    const { status, body } = await generate(secret, { model: 'acme/large' }, '/routing/explain');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      candidates: [],
      rejected: [{ filter: 'ignored_models' }, { filter: 'ignored_models' }],
      error: { code: 403 },
    });
  });
});

describe('budgets', () => {
  /** About 0.01 USD a request: `dear` costs that much whatever is asked. */
  const dear = { model: 'acme/dear', max_output_tokens: 16 };
  const small = { limit_usd: 0.015, reset_interval: 'daily' };

  const statusesOf = async (...secrets: string[]) => {
    const statuses: number[] = [];
    for (const secret of secrets) statuses.push((await generate(secret, dear)).status);
    return statuses;
  };

  it('refuses what a budget no longer covers, and records that', async () => {
    const secret = await guarded(small);
    expect(await statusesOf(secret)).toEqual([200]);
    const { status, body, id } = await generate(secret, dear);
    expect(status).toBe(403);
    expect(body.error.message).toMatch(/^Guardrail daily budget of \$0\.015 exceeded\./);
    expect(body.error.metadata).toMatchObject({ limit_source: 'guardrail', limit_usd: 0.015 });
    expect(body.signalbox_metadata?.pipeline).toBeUndefined();
    const record = await ask('GET', `/generation?id=${id}`, undefined, secret);
    expect(record).toMatchObject({ status: 200, body: { data: { total_cost: 0 } } });
  });

  it('gives each key under a guardrail a budget of its own', async () => {
    const [one, two] = [await newKey(), await newKey()];
    const { id } = await created(small);
    await ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [one.hash, two.hash] });
    expect(await statusesOf(one.secret, one.secret, two.secret, two.secret)).toEqual([200, 403, 200, 403]);
  });

  it('gives a member one budget for all keys that they created', async () => {
    const created_by = { creator_user_id: 'erin' };
    const [one, two] = [await newKey(created_by), await newKey(created_by)];
    const other = await newKey({ creator_user_id: 'frank' });
    const { id } = await created(small);
    await ask('POST', `/guardrails/${id}/assignments/members`, { member_user_ids: ['erin', 'frank'] });
    expect(await statusesOf(one.secret, two.secret, other.secret)).toEqual([200, 403, 200]);
  });

  it('checks every budget by itself, beside the limit of the key', async () => {
    const secret = await guarded({ limit_usd: 100 }, { limit: 0.015 });
    expect(await statusesOf(secret, secret)).toEqual([200, 402]);
  });

  it('holds under concurrency', async () => {
    const secret = await guarded({ limit_usd: 0.035 });
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => (await generate(secret, dear)).status),
    );
    expect(statuses.filter((status) => status === 200).length).toBe(3);
    expect(statuses.filter((status) => status === 403).length).toBe(9);
  });
});
