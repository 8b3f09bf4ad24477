// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { hashSecret } from '../../../src/manage/keys/hash-secret.ts';
import { type OtlpReceiver, openOtlpReceiver } from '../../kit/fakes/otlp-receiver.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const PATH = '/observability/destinations';
const TEAM_KEY = 'sk-team-key-0123456789abcdef';
const SECRET = 'canary-of-the-collector-WXYZ';
const MOVED_SECRET = 'canary-of-another-time-EFGH';
const REFUSED = 'the configuration was not reloaded; the running one stays';
const ENV = { TEAM_KEY, COLLECTOR_TOKEN: SECRET, LATER_TOKEN: MOVED_SECRET };

let gateway: TestGateway;
let receiver: OtlpReceiver;
let management: Management;
let collector: JsonObject;
let hook: JsonObject;

beforeAll(async () => {
  receiver = await openOtlpReceiver();
  collector = {
    type: 'otel-collector',
    name: 'Collector',
    config: { endpoint: receiver.origin, protocol: null, headers: { authorization: '${COLLECTOR_TOKEN}' } },
  };
  hook = { type: 'webhook', name: 'Hook', config: { url: 'https://hooks.example.com/a' } };
  gateway = await openTestGateway(
    {
      providers: [{ slug: 'simulator' }],
      workspaces: [{ slug: 'lab', keys: [{ name: 'CI', secret: '${TEAM_KEY}' }] }],
    },
    { env: ENV },
  );
  management = managementOf(gateway);
});

afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

beforeEach(() => reload({}));

/** Changes the only workspace of the file. */
async function reload(
  members: JsonObject,
  message = 'the configuration was reloaded',
): Promise<Record<string, unknown>> {
  const config = parse(readFileSync(gateway.configFile, 'utf8'));
  const [{ slug, keys }] = config.workspaces;
  const text = stringify({ ...config, workspaces: [{ slug, keys, ...members }] });
  if (text === readFileSync(gateway.configFile, 'utf8')) return {};
  const before = gateway.logged(message).length;
  writeFileSync(gateway.configFile, text);
  await expect.poll(() => gateway.logged(message).length).toBe(before + 1);
  return gateway.logged(message).at(-1) ?? {};
}

const lab = async () => (await management.ask('GET', '/workspaces/lab')).body.data;
const listed = async (): Promise<any[]> =>
  (await management.ask('GET', `${PATH}?workspace_id=${(await lab()).id}`)).body.data;
const names = async () => (await listed()).map(({ name }) => name);

function filesWith(text: string, directory = gateway.dataDir): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const status = statSync(path, { throwIfNoEntry: false });
    if (status?.isDirectory()) return filesWith(text, path);
    return status?.isFile() && readFileSync(path).includes(text) ? [name] : [];
  });
}

describe('destinations of the configuration file', () => {
  it('are stored with every setting, and their secrets encrypted', async () => {
    const settings = {
      enabled: false,
      privacy_mode: true,
      sampling_rate: 0.25,
      api_key_hashes: [hashSecret(TEAM_KEY)],
      broadcast_generation_cost: true,
      broadcast_generation_identity: true,
      broadcast_generation_request_context: true,
    };
    const rules = [{ field: 'model', operator: 'exists', value: null }];
    const filter_rules = { enabled: null, groups: [{ logic: null, rules }] };
    await reload({ destinations: [{ ...collector, ...settings, filter_rules }, hook] });
    const [first, second] = await listed();
    expect(first).toMatchObject({
      type: 'otel-collector',
      name: 'Collector',
      config: { endpoint: receiver.origin, headers: { authorization: 'can...WXYZ' } },
      ...settings,
      filter_rules: {
        enabled: true,
        groups: [{ logic: 'and', rules: [{ field: 'model', operator: 'exists' }] }],
      },
      managed_by: 'file',
    });
    expect(first.config).not.toHaveProperty('protocol');
    expect(second).toMatchObject({ name: 'Hook', enabled: true, api_key_hashes: null, managed_by: 'file' });
    expect(filesWith(SECRET)).toEqual([]);
    expect(gateway.logText()).not.toContain(SECRET);
  });

  it('may name private addresses, which the API may not', async () => {
    const config = { endpoint: receiver.origin };
    const refused = await management.ask('POST', PATH, { type: 'otel-collector', name: 'x', config });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('config.endpoint: names a port other than 80 and 443');
    await reload({ destinations: [collector] });
    const [{ id }] = await listed();
    receiver.requests.length = 0;
    expect(await management.data(200, 'POST', `${PATH}/${id}/test`)).toMatchObject({ success: true });
    expect(receiver.requests).toMatchObject([
      { contentType: 'application/json', headers: { authorization: SECRET } },
    ]);
  });

  it('are not changed by the API, which names their place in the file', async () => {
    await reload({ destinations: [hook, collector] });
    const { id } = (await listed()).find(({ name }) => name === 'Collector');
    for (const [method, body] of [
      ['PATCH', { name: 'x' }],
      ['PATCH', { config: { endpoint: 'https://attacker.example.com' } }],
      ['DELETE', undefined],
    ] as const) {
      const { status, body: reply } = await management.ask(method, `${PATH}/${id}`, body);
      expect(status).toBe(409);
      expect(reply.error.message).toContain(
        'This destination is managed by the configuration file: change workspaces[0].destinations[1] there',
      );
    }
  });

  it('keep their ids over changes, and nothing is written for the same file', async () => {
    await reload({ destinations: [hook, collector] });
    const before = await listed();
    const moved = {
      ...collector,
      config: { endpoint: `${receiver.origin}/`, headers: { authorization: '${LATER_TOKEN}' } },
    };
    await reload({ destinations: [moved, hook] });
    const after = await listed();
    const idsOf = (all: any[]) => all.map(({ id }) => id).sort();
    expect(idsOf(after)).toEqual(idsOf(before));
    const changed = after.find(({ name }) => name === 'Collector');
    expect(changed.config.headers.authorization).toBe('can...EFGH');
    receiver.requests.length = 0;
    await management.ask('POST', `${PATH}/${changed.id}/test`);
    expect(receiver.requests[0]?.headers.authorization).toBe(MOVED_SECRET);
    expect(filesWith(SECRET)).toEqual([]);
    const message = 'workspaces of the configuration file were stored';
    const stored = gateway.logged(message).length;
    const untouched = parse(readFileSync(gateway.configFile, 'utf8'));
    const reloaded = gateway.logged('the configuration was reloaded').length;
    writeFileSync(gateway.configFile, `# The same.\n${stringify(untouched)}`);
    await expect.poll(() => gateway.logged('the configuration was reloaded').length).toBe(reloaded + 1);
    expect(gateway.logged(message)).toHaveLength(stored);
  });

  it('are deleted with their secrets when they leave the file, and room is made first', async () => {
    const many = (from: number) =>
      Array.from({ length: 5 }, (_, index) => ({ ...collector, name: `Collector ${from + index}` }));
    await reload({ destinations: many(1) });
    await reload({ destinations: [...many(6), hook] });
    expect(await names()).toEqual([...many(6).map(({ name }) => name), 'Hook']);
    await reload({});
    expect(await names()).toEqual([]);
  });

  it('switch the broadcast of their workspace on, unless the file says otherwise', async () => {
    expect((await lab()).is_observability_broadcast_enabled).toBe(false);
    await reload({ destinations: [hook] });
    expect((await lab()).is_observability_broadcast_enabled).toBe(true);
    await reload({ destinations: [hook], is_observability_broadcast_enabled: false });
    expect((await lab()).is_observability_broadcast_enabled).toBe(false);
  });

  it('count with those of the API, and a file with one too many is refused as a whole', async () => {
    const workspace_id = (await lab()).id;
    const byHand = [];
    for (let count = 0; count < 4; count++) {
      byHand.push(await management.data(201, 'POST', PATH, { ...hook, name: `${count}`, workspace_id }));
    }
    const two = [hook, { ...hook, name: 'Second' }];
    await reload({ destinations: two, description: 'Changed' }, REFUSED);
    expect(gateway.logText()).toContain('workspaces[0].destinations[1]');
    expect(gateway.logText()).toContain('at most 5 destinations of type webhook, with those that were made');
    expect((await lab()).description).toBeNull();
    expect(await names()).toEqual(['0', '1', '2', '3']);
    await reload({ destinations: [hook] });
    expect(await names()).toEqual(['0', '1', '2', '3', 'Hook']);
    const fifth = await management.ask('POST', PATH, { ...hook, workspace_id });
    expect(fifth.status).toBe(409);
    for (const { id } of byHand) await management.ask('DELETE', `${PATH}/${id}`);
  });

  it('refuse a hash of an unknown key', async () => {
    const api_key_hashes = [hashSecret(TEAM_KEY), 'a'.repeat(64)];
    await reload({ destinations: [{ ...hook, api_key_hashes }] }, REFUSED);
    expect(gateway.logText()).toContain('workspaces[0].destinations[0].api_key_hashes[1]');
    expect(await names()).toEqual([]);
  });
});
