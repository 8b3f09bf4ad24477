import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { hashSecret } from '../../../src/manage/keys/hash-secret.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const TEAM_KEY = 'sk-team-key-0123456789abcdef';
const OPENAI_KEY = 'sk-openai-of-the-team-012345';
const HASHED_KEY = 'sk-hashed-key-0123456789abcdef';

const KEYS = [
  { name: 'CI', secret: `\${TEAM_KEY}`, limit: 20, limit_reset: 'monthly' },
  {
    name: 'By hash',
    hash: hashSecret(HASHED_KEY),
    allowed_models: ['simulator/standard'],
    requests_per_minute: 60,
    tokens_per_minute: 0,
  },
];
const RESEARCH = {
  slug: 'research',
  name: 'Research',
  description: 'Papers',
  budgets: { daily: 5, monthly: 100, include_byok_in_budgets: true },
  keys: KEYS,
  byok: [{ provider: 'openai', name: 'Team', api_key: `\${TEAM_OPENAI}` }],
};
const CONFIG = { providers: [{ slug: 'simulator' }], workspaces: [RESEARCH] };
const ENV = { TEAM_KEY, TEAM_OPENAI: OPENAI_KEY };

const open: TestGateway[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

async function openWith(config: object = CONFIG, env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await openTestGateway(config as never, { env: { ...ENV, ...env } });
  open.push(gateway);
  return gateway;
}

async function manage(gateway: TestGateway, path: string, method = 'GET', body?: object) {
  const response = await gateway.fetch(path, {
    method,
    key: gateway.managementKey,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, body: (await response.json()) as any };
}

async function workspaceState(gateway: TestGateway) {
  const { data: workspace } = (await manage(gateway, '/workspaces/research')).body;
  const { body: budgets } = await manage(gateway, '/workspaces/research/budgets');
  const { data: keys } = (await manage(gateway, `/keys?workspace_id=${workspace.id}&include_disabled=true`))
    .body;
  const { data: credentials } = (await manage(gateway, `/byok?workspace_id=${workspace.id}`)).body;
  return { workspace, budgets, keys, credentials };
}

const statusOf = async (gateway: TestGateway, key: string) => (await gateway.fetch('/key', { key })).status;

async function reload(gateway: TestGateway, config: object): Promise<void> {
  const message = 'the configuration was reloaded';
  const before = gateway.logged(message).length;
  writeFileSync(gateway.configFile, stringify(config));
  await expect.poll(() => gateway.logged(message).length).toBe(before + 1);
}

describe('workspaces of the configuration file', () => {
  it('are there after the start, with secrets only as hashes or encrypted', async () => {
    const gateway = await openWith();
    const { workspace, budgets, keys, credentials } = await workspaceState(gateway);
    expect(workspace).toMatchObject({ name: 'Research', description: 'Papers', managed_by: 'file' });
    expect(budgets).toMatchObject({
      data: [
        { limit_usd: 5, reset_interval: 'daily', managed_by: 'file' },
        { limit_usd: 100, reset_interval: 'monthly', managed_by: 'file' },
      ],
      include_byok_in_budgets: true,
    });
    const shown = Object.fromEntries(keys.map((key: any) => [key.name, key]));
    expect(shown).toMatchObject({
      CI: { hash: hashSecret(TEAM_KEY), label: 'sk-...cdef', limit: 20, managed_by: 'file' },
      'By hash': { hash: hashSecret(HASHED_KEY), label: '...', limit: null, managed_by: 'file' },
    });
    expect(shown['By hash']).toMatchObject({
      allowed_models: ['simulator/standard'],
      requests_per_minute: 60,
      tokens_per_minute: null,
    });
    expect(credentials).toMatchObject([{ provider: 'openai', label: 'sk-...2345', managed_by: 'file' }]);
    expect(await statusOf(gateway, TEAM_KEY)).toBe(200);
    expect(await statusOf(gateway, HASHED_KEY)).toBe(200);
    const stored = ['signalbox.sqlite', 'signalbox.sqlite-wal']
      .map((name) => readFileSync(join(gateway.dataDir, name), 'latin1'))
      .join('');
    expect(stored).not.toContain(TEAM_KEY);
    expect(stored).not.toContain(OPENAI_KEY);
    expect(gateway.logText()).not.toContain(TEAM_KEY);
  });

  it('are not changed by the API, which names their place in the file', async () => {
    const gateway = await openWith();
    const { credentials, workspace } = await workspaceState(gateway);
    const key = `/keys/${hashSecret(HASHED_KEY)}`;
    const credential = `/byok/${credentials[0].id}`;
    for (const [method, path, body, member] of [
      ['PATCH', '/workspaces/research', { name: 'x' }, 'workspaces[0]'],
      ['DELETE', '/workspaces/research', undefined, 'workspaces[0]'],
      ['PUT', '/workspaces/research/budgets/weekly', { limit_usd: 9 }, 'workspaces[0].budgets'],
      ['DELETE', '/workspaces/research/budgets/daily', undefined, 'workspaces[0].budgets'],
      ['PATCH', key, { disabled: true }, 'workspaces[0].keys[1]'],
      ['DELETE', key, undefined, 'workspaces[0].keys[1]'],
      ['PATCH', credential, { disabled: true }, 'workspaces[0].byok[0]'],
      ['DELETE', credential, undefined, 'workspaces[0].byok[0]'],
    ] as const) {
      const { status, body: reply } = await manage(gateway, path, method, body);
      expect({ method, path, status }).toEqual({ method, path, status: 409 });
      expect(reply.error.message).toContain(`is managed by the configuration file: change ${member} there`);
    }
    // What the file does not declare is free.
    const made = await manage(gateway, '/keys', 'POST', { name: 'by hand', workspace_id: workspace.id });
    expect(made.body.data).toMatchObject({ name: 'by hand', managed_by: null });
    expect((await manage(gateway, `/keys/${made.body.data.hash}`, 'DELETE')).status).toBe(200);
  });

  it('follow the file: what leaves it is disabled and may be changed by hand, and comes back with it', async () => {
    const gateway = await openWith();
    const before = await workspaceState(gateway);
    await reload(gateway, {
      ...CONFIG,
      workspaces: [{ ...RESEARCH, budgets: { daily: 6 }, keys: KEYS.slice(0, 1), byok: [] }],
    });
    expect(await statusOf(gateway, HASHED_KEY)).toBe(401);
    expect(await statusOf(gateway, TEAM_KEY)).toBe(200);
    const less = await workspaceState(gateway);
    expect(less.budgets).toMatchObject({
      data: [{ limit_usd: 6, managed_by: 'file' }],
      include_byok_in_budgets: false,
    });
    expect(less.credentials).toMatchObject([{ disabled: true, managed_by: null }]);

    await reload(gateway, { providers: CONFIG.providers });
    const none = await workspaceState(gateway);
    expect(none.workspace).toMatchObject({ description: 'Papers', managed_by: null });
    expect(none.budgets.data).toMatchObject([{ limit_usd: 6, managed_by: null }]);
    expect(none.keys).toMatchObject([{ disabled: true }, { disabled: true }]);
    expect(await statusOf(gateway, TEAM_KEY)).toBe(401);

    await reload(gateway, { ...CONFIG, workspaces: [{ slug: 'first' }, RESEARCH] });
    const again = await workspaceState(gateway);
    expect(again.workspace.id).toBe(before.workspace.id);
    expect(again.credentials).toMatchObject([
      { id: before.credentials[0].id, disabled: false, managed_by: 'file' },
    ]);
    expect(await statusOf(gateway, HASHED_KEY)).toBe(200);
    const { body } = await manage(gateway, `/keys/${hashSecret(HASHED_KEY)}`, 'PATCH', { limit: 1 });
    expect(body.error.message).toContain('workspaces[1].keys[1]');
  });

  it('change nothing when the same file is loaded again', async () => {
    const gateway = await openWith();
    const before = await workspaceState(gateway);
    await reload(gateway, { ...CONFIG, drain_ms: 20_000 });
    expect(await workspaceState(gateway)).toEqual(before);
    expect(gateway.logged('workspaces of the configuration file were stored')).toHaveLength(1);
  });

  it('refuse a file whose key is a management key, and change nothing', async () => {
    const gateway = await openWith();
    const stolen = { name: 'stolen', hash: hashSecret(gateway.managementKey) };
    writeFileSync(
      gateway.configFile,
      stringify({ ...CONFIG, workspaces: [{ ...RESEARCH, name: 'Other', keys: [stolen] }] }),
    );
    const refused = () => gateway.logged('the configuration was not reloaded; the running one stays');
    await expect.poll(() => refused().length).toBe(1);
    expect(refused()[0]).toMatchObject({
      path: 'workspaces[0].keys[0].hash',
      reason: expect.stringContaining('is of a management key'),
      line: expect.any(Number),
    });
    expect(await workspaceState(gateway)).toMatchObject({ workspace: { name: 'Research' } });
    expect(await statusOf(gateway, TEAM_KEY)).toBe(200);
  });
});

const server = await postgresForTests();

if (server !== undefined) {
  describe('workspaces of the file of several gateways on PostgreSQL', () => {
    it('are stored once when the gateways start at the same time', async () => {
      const env = { DATABASE_URL: await server.createDatabase() };
      const encryption = { SIGNALBOX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
      const gateways = await Promise.all([1, 2, 3].map(() => openWith(CONFIG, { ...env, ...encryption })));
      const states = await Promise.all(gateways.map(workspaceState));
      expect(states[0]).toMatchObject({ keys: [{}, {}], credentials: [{ sort_order: 0 }] });
      expect(states[1]).toEqual(states[0]);
      expect(states[2]).toEqual(states[0]);
      const { body } = await manage(gateways[0] as TestGateway, '/workspaces');
      expect(body.total_count).toBe(2);
      for (const gateway of gateways) expect(await statusOf(gateway, TEAM_KEY)).toBe(200);
    });
  });
}
