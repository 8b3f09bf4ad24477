import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, type Script, stall } from '../../kit/fakes/fake-upstream.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';

const server = await postgresForTests();

const API_KEY = 'sk-sb-v1-api-key-of-the-tests';
const MANAGEMENT_KEY = 'sk-sb-v1-management-key-of-the-tests';

const CONVERSATIONS = 40;

/** Calls of the model that are answered before the gateway is killed. */
const ANSWERED = 22;

/** Generations that a run may ask again after a crash. */
const BATCH = 16;

const SHIPPING = chatAnswer({ text: '{"q1":{"choice":"shipping","confidence":1}}' });

const engines: [string, () => Promise<Record<string, string>>][] = [['embedded', async () => ({})]];
if (server !== undefined) {
  engines.push(['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })]);
}

let upstream: FakeUpstream;
let folder: string;
let program: StartedProgram | undefined;

beforeEach(async () => {
  upstream = await openFakeUpstream();
  folder = mkdtempSync(join(tmpdir(), 'signalbox-runs-'));
  const pricing = { prompt: '0.000001', completion: '0.000002' };
  const config = {
    providers: [
      { slug: 'simulator' },
      { slug: 'up', name: 'Up', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
    ],
    models: [{ id: 'up/chat', endpoints: [{ provider: 'up', model: 'm', pricing }] }],
    workspaces: [{ slug: 'default', is_observability_io_logging_enabled: true }],
  };
  writeFileSync(join(folder, 'signalbox.yaml'), stringify(config));
});

afterEach(async () => {
  if (program !== undefined) await stopped(program.child, 'SIGKILL');
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(env: Record<string, string>): Promise<StartedProgram> {
  program = await startProgram(folder, {
    SIGNALBOX_DATA_DIR: folder,
    SIGNALBOX_API_KEY: API_KEY,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
    ...env,
  });
  return program;
}

async function asked(
  { url }: StartedProgram,
  method: string,
  path: string,
  body?: object,
  key = MANAGEMENT_KEY,
) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
  return ((await response.json()) as any).data;
}

describe.each(engines)('a run over the past whose gateway is killed, %s', (_, envOf) => {
  it('goes on where it was: each conversation is tagged once, and few are asked again', async () => {
    const env = await envOf();
    const first = await start(env);
    for (let index = 0; index < CONVERSATIONS; index++) {
      const messages = [{ role: 'user', content: `Parcel ${index}` }];
      await asked(first, 'POST', '/chat/completions', { model: 'simulator/standard', messages }, API_KEY);
    }
    const booked = async () => (await asked(first, 'GET', '/generations?limit=100')).length;
    await expect.poll(booked).toBe(CONVERSATIONS);
    const { id } = await asked(first, 'POST', '/classifiers', {
      name: 'Topics',
      model: 'up/chat',
      is_active: false,
      dimensions: [{ name: 'topic', values: [{ value: 'billing' }, { value: 'shipping' }] }],
    });
    let calls = 0;
    const until: Script = (request) => {
      const script: Script = ++calls > ANSWERED ? [stall(600_000)] : SHIPPING;
      return typeof script === 'function' ? script(request) : script;
    };
    upstream.answer(until);
    const { id: runId } = await asked(first, 'POST', `/classifiers/${id}/runs`, {});
    await expect.poll(() => upstream.requests.length).toBeGreaterThan(ANSWERED);
    await stopped(first.child, 'SIGKILL');
    const before = upstream.requests.length;

    upstream.clear();
    upstream.answer(SHIPPING);
    const second = await start(env);
    const run = () => asked(second, 'GET', `/classifiers/${id}/runs/${runId}`);
    await expect.poll(async () => (await run()).state).toBe('done');
    expect(await run()).toMatchObject({
      seen: CONVERSATIONS,
      tagged: CONVERSATIONS,
      failed: 0,
      problem: null,
    });
    const after = upstream.requests.length;
    expect(before + after).toBeLessThanOrEqual(CONVERSATIONS + BATCH);
    // The first batch was whole, and is not asked again.
    expect(after).toBeLessThanOrEqual(CONVERSATIONS - BATCH);
    await asked(second, 'PATCH', `/classifiers/${id}`, { is_active: true });
    const tags = async () =>
      (
        await asked(second, 'POST', '/analytics/query', {
          metrics: ['request_count'],
          classifier_dimensions: { classifier_id: id, dimension_names: ['topic'] },
        })
      ).data;
    await expect.poll(tags).toEqual([{ topic: 'shipping', request_count: CONVERSATIONS }]);
  });
});
