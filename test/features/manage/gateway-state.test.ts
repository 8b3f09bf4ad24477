// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const SECRET = 'provider-secret-that-must-never-be-shown';
const ROUTES = ['providers', 'endpoints', 'prices', 'presets', 'configuration', 'findings'];

let upstream: FakeUpstream;
let gateway: TestGateway;
let manage: Management;

const configOf = (promptPrice: string) => ({
  routing: { cooldown: { failures: 2, base_ms: 600_000, max_ms: 600_000 }, attempts_per_model: 1 },
  providers: [
    {
      slug: 'workshop',
      name: 'Workshop',
      dialect: 'openai-chat',
      base_url: upstream.url,
      api_key: '${WORKSHOP_KEY}',
    },
    { slug: 'simulator' },
    { slug: 'databricks', base_url: upstream.url },
  ],
  models: [
    {
      id: 'workshop/qwen',
      endpoints: [
        { provider: 'workshop', model: 'qwen', pricing: { prompt: promptPrice, completion: '0.000004' } },
      ],
    },
  ],
  presets: { careful: { model: 'workshop/qwen', temperature: 0 } },
});

beforeAll(async () => {
  upstream = await openFakeUpstream();
  upstream.answer([head(529, JSON_TYPE), write('{"error":{"message":"busy","code":"overloaded"}}'), end()]);
  gateway = await openTestGateway(configOf('0.000001'), {
    env: { WORKSHOP_KEY: SECRET, DATABRICKS_TOKEN: `${SECRET}-too` },
  });
  manage = managementOf(gateway);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const read = (route: string) => manage.data(200, 'GET', `/gateway/${route}`);

/** Replaces a piece of the configuration file. */
function edit(from: string | RegExp, to: string): void {
  writeFileSync(gateway.configFile, readFileSync(gateway.configFile, 'utf8').replace(from, to));
}

describe('the state of the gateway', () => {
  it.each(ROUTES)('is shown to management keys of the first account alone: %s', async (route) => {
    const path = `/gateway/${route}`;
    expect((await manage.ask('GET', path, undefined, gateway.apiKey)).status).toBe(403);
    expect((await manage.ask('GET', path, undefined, null)).status).toBe(401);
    const other = await manage.command('accounts.create', { name: `other ${route}` });
    const refused = await manage.ask('GET', path, undefined, other.management_key);
    expect(refused.status).toBe(403);
    expect(refused.body.error.message).toContain('first account');
  });

  it('names providers with the variables of their keys, and never a key', async () => {
    const providers = await read('providers');
    const of = (slug: string) => providers.find((each: any) => each.slug === slug);
    expect(of('workshop')).toMatchObject({
      name: 'Workshop',
      is_on: true,
      hosts: [new URL(upstream.url).host],
      credential: { source: 'file' },
      models: 1,
      endpoints: 1,
    });
    expect(of('databricks')).toMatchObject({
      is_on: true,
      credential: { source: 'environment', variables: [{ name: 'DATABRICKS_TOKEN', is_set: true }] },
    });
    expect(of('simulator').credential.source).toBe('none_needed');
    expect(of('anthropic')).toMatchObject({
      is_on: false,
      credential: { source: 'missing', variables: [{ name: 'ANTHROPIC_API_KEY', is_set: false }] },
    });
    // Findings are kept for a while: they are asked for below.
    for (const route of ROUTES.filter((name) => name !== 'findings')) {
      expect(JSON.stringify((await manage.ask('GET', `/gateway/${route}`)).body)).not.toContain(SECRET);
    }
  });

  it('shows a cool-down with its cause and end, and the calls of the last day', async () => {
    const body = { model: 'workshop/qwen', messages: [{ role: 'user', content: 'Hello' }] };
    const [endpoint] = await vi.waitFor(
      async () => {
        await gateway.post('/chat/completions', body);
        const found = await read('endpoints?model=workshop/qwen');
        expect(found[0].cooldown).not.toBeNull();
        return found;
      },
      { timeout: 10_000 },
    );
    expect(endpoint).toMatchObject({ model: 'workshop/qwen', endpoint: 'workshop', provider: 'workshop' });
    expect(endpoint.cooldown.cause).toMatchObject({ status: 529 });
    expect(Date.parse(endpoint.cooldown.until)).toBeGreaterThan(Date.now());
    const { slot_seconds: seconds, calls, failures } = endpoint.history;
    expect([seconds, calls.length, failures.length]).toEqual([900, 96, 96]);
    expect(failures.at(-1)).toBeGreaterThanOrEqual(2);
    const workshop = (await read('providers')).find((each: any) => each.slug === 'workshop');
    expect(workshop.history.failures.at(-1)).toBe(failures.at(-1));
    expect(workshop.last_failure).toMatchObject({ model: 'workshop/qwen', status: 529, is_over: false });
    expect(workshop.changes[0]).toMatchObject({
      kind: 'cooling',
      endpoint: 'workshop',
      cause: { status: 529 },
    });
    expect(await read('endpoints?provider=simulator')).not.toHaveLength(0);
    expect(await read('endpoints?model=nobody/none')).toEqual([]);
    expect((await manage.ask('GET', '/gateway/endpoints?modle=x')).status).toBe(400);
  });

  it('lists presets with their fields', async () => {
    expect(await read('presets')).toEqual([
      { slug: 'careful', fields: { model: 'workshop/qwen', temperature: 0 } },
    ]);
  });

  it('finds what doctor finds, in the running gateway', async () => {
    const { verdict, findings } = await read('findings');
    expect(['ok', 'warning', 'problem']).toContain(verdict);
    const checks = new Set(findings.map(({ check }: any) => check));
    expect([...checks]).toEqual(
      expect.arrayContaining(['configuration', 'data directory', 'ledger', 'server']),
    );
    expect(findings.map(({ what }: any) => what).join()).toContain('workshop/qwen at workshop cools down');
    expect(JSON.stringify(findings)).not.toContain(SECRET);
  });
});

describe('the configuration in force', () => {
  it('says where each value comes from', async () => {
    const { file, values, total_count: total } = await read('configuration');
    expect(file).toBe(gateway.configFile);
    expect(values).toHaveLength(total);
    const of = (key: string) => values.find((value: any) => value.key === key);
    const lineOf = (text: string) =>
      readFileSync(gateway.configFile, 'utf8')
        .split('\n')
        .findIndex((line) => line.includes(text)) + 1;
    expect(of('routing.cooldown.base_ms')).toEqual({
      key: 'routing.cooldown.base_ms',
      value: 600_000,
      source: { kind: 'file', line: lineOf('base_ms'), variables: [], flag: null },
    });
    expect(of('providers[0].api_key').source).toEqual({
      kind: 'environment',
      line: lineOf('api_key'),
      variables: ['WORKSHOP_KEY'],
      flag: null,
    });
    expect(of('models[0].endpoints[0].pricing.prompt_per_million')).toMatchObject({
      value: 1,
      source: { kind: 'file', line: lineOf('prompt: ') },
    });
    expect(of('providers[2].api_key').source).toMatchObject({
      kind: 'environment',
      line: null,
      variables: ['DATABRICKS_TOKEN'],
    });
    expect(of('server.request_deadline_ms').source).toMatchObject({ kind: 'default', line: null });
    expect(of('runtime.data_dir').source).toMatchObject({ kind: 'flag', flag: '--data-dir' });
    expect(of('runtime.management_key')).toMatchObject({
      value: expect.stringContaining('***'),
      source: { kind: 'environment', variables: ['SIGNALBOX_MANAGEMENT_KEY'] },
    });
    const { values: ofServer } = await read('configuration?section=server');
    expect(ofServer.every(({ key }: any) => key.startsWith('server'))).toBe(true);
  });

  it('says how the last reload ended', async () => {
    expect((await read('configuration')).last_reload).toBeNull();
    edit('routing:', 'routng: {}\nrouting:');
    const refused = await vi.waitFor(
      async () => {
        const { last_reload: reload } = await read('configuration');
        expect(reload).not.toBeNull();
        return reload;
      },
      { timeout: 10_000 },
    );
    expect(refused.is_accepted).toBe(false);
    expect(refused.problems[0]).toMatchObject({ path: 'routng', line: 1 });
    edit('routng: {}\n', 'vendor: acme\n');
    const accepted = await vi.waitFor(
      async () => {
        const { last_reload: reload } = await read('configuration');
        expect(reload.is_accepted).toBe(true);
        return reload;
      },
      { timeout: 10_000 },
    );
    expect(accepted).toMatchObject({ problems: [], waiting_keys: ['vendor'] });
  });
});

describe('the history of prices', () => {
  const changesOf = async (of: Management) =>
    (await of.data(200, 'GET', '/gateway/prices?model=workshop/qwen')).filter(
      ({ member }: any) => member === 'prompt',
    );

  it('has the first price, and every change after it', async () => {
    expect(await changesOf(manage)).toMatchObject([{ before: null, after: '0.000001', is_first: true }]);
    edit(/prompt: .*/, 'prompt: "0.000002"');
    const [newest, first] = await vi.waitFor(
      async () => {
        const changes = await changesOf(manage);
        expect(changes).toHaveLength(2);
        return changes;
      },
      { timeout: 10_000 },
    );
    expect(newest).toMatchObject({ before: '0.000001', after: '0.000002', is_first: false });
    expect(Date.parse(newest.at)).toBeGreaterThan(Date.parse(first.at));
    const all = (await manage.ask('GET', '/gateway/prices')).body;
    expect(all).toMatchObject({ total_count: 1, data: [{ model: 'workshop/qwen', member: 'prompt' }] });
  });

  it('outlives a restart, and notices what was changed meanwhile', async () => {
    await gateway.drain(0);
    const next = await openTestGateway(configOf('0.000003'), {
      env: { WORKSHOP_KEY: SECRET },
      prepare: async (dataDir) => cpSync(gateway.dataDir, dataDir, { recursive: true }),
    });
    try {
      const after = (await changesOf(managementOf(next))).map((change: any) => change.after);
      expect(after).toEqual(['0.000003', '0.000002', '0.000001']);
    } finally {
      await next.close();
    }
  });
});
