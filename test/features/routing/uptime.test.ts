import { cpSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { end, type FakeUpstream, head, openFakeUpstream, write } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway, type TestOptions } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { proxied } from '../../kit/servers/proxied-database.ts';

const postgres = await postgresForTests();

/** Answers are shown again for two seconds; a busy machine gets more. */
const SOON = { timeout: 30_000, interval: 500 };

const FAILS = [head(500), write('{"error":{"message":"broken"}}'), end()];
const REFUSES = [head(400), write('{"error":{"message":"bad request"}}'), end()];

const NO_CALLS = { percent: null, calls: 0, failures: 0 };

let upstream: FakeUpstream;
const opened: TestGateway[] = [];

beforeAll(async () => {
  upstream = await openFakeUpstream();
});
afterAll(() => upstream.close());
afterEach(async () => {
  await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
});

async function open(options: TestOptions = {}): Promise<TestGateway> {
  const gateway = await openTestGateway(
    {
      providers: [
        { slug: 'east', name: 'East', dialect: 'openai-chat', base_url: upstream.url, api_key: 'none' },
      ],
      models: ['one', 'idle'].map((name) => ({
        id: `m/${name}`,
        endpoints: [{ provider: 'east', model: name }],
      })),
    } as never,
    options,
  );
  opened.push(gateway);
  return gateway;
}

/** Asks the model so often, with this answer of the upstream. */
async function ask(gateway: TestGateway, times: number, answer: Parameters<FakeUpstream['answer']>[0]) {
  upstream.clear();
  upstream.answer(answer);
  const statuses = new Set<number>();
  for (let count = 0; count < times; count++) {
    const body = { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] };
    statuses.add((await gateway.post('/chat/completions', body)).status);
  }
  return [...statuses];
}

const endpointOf = async (gateway: TestGateway, model = 'm/one') =>
  (await managementOf(gateway).data(200, 'GET', `/gateway/endpoints?model=${model}`))[0];

const uptimeOf = async (gateway: TestGateway, model?: string) => (await endpointOf(gateway, model)).uptime;

/** The same, once the database has answered in time: on a busy machine it may be late. */
const knownUptimeOf = (gateway: TestGateway, model?: string) =>
  vi.waitFor(async () => {
    const uptime = await uptimeOf(gateway, model);
    expect(uptime).not.toBeNull();
    return uptime;
  }, SOON);

const providerUptimeOf = async (gateway: TestGateway) => {
  const providers = await managementOf(gateway).data(200, 'GET', '/gateway/providers');
  return providers.find(({ slug }: { slug: string }) => slug === 'east').uptime;
};

describe('the uptime of endpoints', () => {
  it('has the calls with a verdict, and survives a restart', async () => {
    const first = await open();
    expect(await knownUptimeOf(first)).toEqual({
      last_1d: NO_CALLS,
      last_7d: NO_CALLS,
      last_30d: NO_CALLS,
      days: null,
    });
    expect(await ask(first, 3, chatAnswer({ text: 'Hello' }))).toEqual([200]);
    // The fault of the request: it counts for no endpoint.
    expect(await ask(first, 1, REFUSES)).toEqual([400]);
    const [failed = 0] = await ask(first, 1, FAILS);
    expect(failed).toBeGreaterThanOrEqual(500);
    await first.drain(0);

    const second = await open({
      prepare: async (dataDir) => cpSync(first.dataDir, dataDir, { recursive: true }),
    });
    const uptime = await knownUptimeOf(second);
    const { calls, failures } = uptime.last_1d;
    expect(calls - failures).toBe(3);
    // A failing call may be tried again.
    expect(failures).toBeGreaterThanOrEqual(1);
    expect(uptime.last_1d.percent).toBe(Math.floor((10_000 * 3) / calls) / 100);
    expect([uptime.last_7d, uptime.last_30d]).toEqual([uptime.last_1d, uptime.last_1d]);
    expect(uptime.days.calls).toEqual([...new Array(29).fill(0), calls]);
    expect(uptime.days.failures).toEqual([...new Array(29).fill(0), failures]);
    await expect.poll(() => providerUptimeOf(second), SOON).toEqual(uptime);
    expect((await knownUptimeOf(second, 'm/idle')).last_30d).toEqual(NO_CALLS);
    // What the contract has from before is counted since the start.
    expect((await endpointOf(second)).uptime_last_1d).toBeNull();
  });

  it.skipIf(postgres === undefined)(
    'is that of all gateways on a database, also after an outage',
    async () => {
      const url = (await postgres?.createDatabase()) ?? '';
      const { url: proxiedUrl, proxy } = await proxied(url);
      try {
        const cut = await open({ env: { DATABASE_URL: proxiedUrl } });
        const other = await open({ env: { DATABASE_URL: url } });
        expect(await ask(cut, 2, chatAnswer({ text: 'Hello' }))).toEqual([200]);
        expect(await ask(other, 3, chatAnswer({ text: 'Hello' }))).toEqual([200]);
        const calls = async (gateway: TestGateway) => (await uptimeOf(gateway))?.last_1d.calls;
        // A gateway stores its own calls before it reads, and every minute.
        await expect.poll(() => calls(other), SOON).toBeGreaterThanOrEqual(3);
        await expect.poll(() => calls(cut), SOON).toBe(5);
        await expect.poll(() => calls(other), SOON).toBe(5);

        proxy.setFault('cut');
        expect(await ask(cut, 4, chatAnswer({ text: 'Hello' }))).toEqual([200]);
        await expect.poll(() => uptimeOf(cut), SOON).toBeNull();
        await expect.poll(() => calls(other), SOON).toBe(5);
        proxy.setFault('none');
        await expect.poll(() => calls(cut), SOON).toBe(9);
        await expect.poll(() => calls(other), SOON).toBe(9);
        await cut.drain(0);
        expect((await knownUptimeOf(other)).last_1d.calls).toBe(9);
      } finally {
        await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
        await proxy.close();
      }
    },
  );
});
