import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const SECRET = 'sk-of-the-declared-key';

const CONFIG = {
  providers: [{ slug: 'one', dialect: 'simulator' }],
  models: ['acme/large', 'acme/small'].map((id) => ({
    id,
    endpoints: [{ provider: 'one', model: 'standard' }],
  })),
  workspaces: [
    {
      slug: 'lab',
      keys: [{ name: 'CI', secret: SECRET }],
      guardrails: [
        { name: 'House', default: true, content_filter_builtins: [{ slug: 'email', action: 'redact' }] },
        { name: 'Small', keys: ['CI'], members: ['ada'], allowed_models: ['acme/small'], limit_usd: 5 },
      ],
    },
  ],
};

let gateway: TestGateway;
let ask: Management['ask'];
let command: Management['command'];

beforeAll(async () => {
  gateway = await openTestGateway(CONFIG);
  ({ ask, command } = managementOf(gateway));
});

afterAll(() => gateway.close());

it('stores the guardrails of the file and assigns them', async () => {
  const { body: workspaces } = await ask('GET', '/workspaces');
  const lab = workspaces.data.find(({ slug }: { slug: string }) => slug === 'lab');
  const { body } = await ask('GET', `/guardrails?workspace_id=${lab.id}`);
  expect(body.total_count).toBe(2);
  const [house, small] = ['House', 'Small'].map((name) =>
    body.data.find((guardrail: { name: string }) => guardrail.name === name),
  );
  expect(house).toMatchObject({ id: lab.default_guardrail_id, managed_by: 'file' });
  expect(small).toMatchObject({ allowed_models: ['acme/small'], limit_usd: 5, managed_by: 'file' });
  const statusOf = async (model: string) =>
    (await ask('POST', '/responses', { model, input: 'Hi' }, SECRET)).status;
  expect([await statusOf('acme/large'), await statusOf('acme/small')]).toEqual([403, 200]);
  for (const method of ['PATCH', 'DELETE']) {
    const refused = await ask(
      method,
      `/guardrails/${small.id}`,
      method === 'PATCH' ? { name: 'x' } : undefined,
    );
    expect(refused.status).toBe(409);
    expect(refused.body.error.message).toContain('workspaces[0].guardrails[1]');
  }
  const removal = `/guardrails/${small.id}/assignments/members/remove`;
  expect((await ask('POST', removal, { member_user_ids: ['ada'] })).status).toBe(409);
});

it('tries the filters of a guardrail on a text', async () => {
  const { body: made } = await ask('POST', '/guardrails', {
    name: 'Tried',
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
    content_filters: [{ pattern: 'PROJ-[0-9]{4}', action: 'block', label: 'Project number' }],
  });
  const path = `/guardrails/${made.data.id}/test`;
  const tried = async (text: string) => (await ask('POST', path, { text })).body.data;
  expect(await tried('Write to ada@example.com')).toEqual({
    action: 'redacted',
    text: 'Write to [EMAIL]',
    findings: [
      {
        name: 'email',
        label: 'Email address',
        kind: 'content-filter',
        engine: 'regex',
        action: 'redact',
        start: 9,
        end: 24,
        text: 'ada@example.com',
        redaction: '[EMAIL]',
      },
    ],
    failures: [],
  });
  expect(await tried('PROJ-1234')).toMatchObject({
    action: 'blocked',
    findings: [{ label: 'Project number' }],
  });
  expect(await tried('Nothing')).toMatchObject({ action: 'allowed', text: 'Nothing', findings: [] });
  expect((await ask('POST', path, {})).body.error.message).toBe('text: is required');
  expect((await ask('POST', path, { text: 'x', direction: 'up' })).status).toBe(400);
});

it('tries filters that are not stored in place of those that are', async () => {
  const { body: made } = await ask('POST', '/guardrails', {
    name: 'Edited',
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
    content_filters: [{ pattern: 'PROJ-[0-9]{4}', action: 'block' }],
  });
  const path = `/guardrails/${made.data.id}/test`;
  const text = 'ada@example.com about PROJ-1234';
  const blocked = await ask('POST', path, { text, content_filter_builtins: null });
  expect(blocked.body.data).toMatchObject({ action: 'blocked', findings: [{ text: 'PROJ-1234' }] });
  const passed = await ask('POST', path, { text, content_filter_builtins: null, content_filters: null });
  expect(passed.body.data).toMatchObject({ action: 'allowed', findings: [] });
  const refused = await ask('POST', path, {
    text,
    content_filters: [{ pattern: '(?<=x)y', action: 'flag' }],
  });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 400 } } });
  expect(refused.body.error.message).toContain('content_filters[0].pattern');
  const { body: stored } = await ask('GET', `/guardrails/${made.data.id}`);
  expect(stored.data.content_filters).toHaveLength(1);
});

it('lists guardrails on the terminal with what they apply to', async () => {
  const listed = await command('guardrails.list', {});
  expect(listed.find(({ name }) => name === 'House')).toMatchObject({ default_of: 'workspace' });
  expect(listed.find(({ name }) => name === 'Small')).toMatchObject({
    assigned_keys: 1,
    assigned_members: 1,
  });
});

it('no longer applies a guardrail that has left the file', async () => {
  const statusOf = async (model: string) =>
    (await ask('POST', '/responses', { model, input: 'Hi' }, SECRET)).status;
  const reloadWith = async (guardrails: unknown[]) => {
    const config = parse(readFileSync(gateway.configFile, 'utf8'));
    config.workspaces[0].guardrails = guardrails;
    const message = 'the configuration was reloaded';
    const before = gateway.logged(message).length;
    writeFileSync(gateway.configFile, stringify(config));
    await expect.poll(() => gateway.logged(message).length).toBe(before + 1);
  };
  const [house, small] = CONFIG.workspaces[0]?.guardrails ?? [];
  expect(await statusOf('acme/large')).toBe(403);
  await reloadWith([house]);
  expect(await statusOf('acme/large')).toBe(200);
  expect((await command('guardrails.list', {})).map(({ name }) => name)).not.toContain('Small');
  // Nor the default of the workspace; one that comes back applies again.
  await reloadWith([small]);
  expect((await command('guardrails.list', {})).map(({ name }) => name)).not.toContain('House');
  expect(await statusOf('acme/large')).toBe(403);
});
