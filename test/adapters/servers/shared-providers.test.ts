import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, openModelServer } from '../../kit/fakes/model-server.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const postgres = await postgresForTests();

/** A change must be everywhere within a second; a busy machine gets more. */
const EVERYWHERE = { timeout: 20_000, interval: 100 };

const KEY = 'sk-right-4a7f19c3e8d25b60-WXYZ';

describe.skipIf(postgres === undefined)('a provider that is added to gateways on one database', () => {
  let upstream: ModelServer;
  let both: readonly TestGateway[];
  let key: string;

  beforeAll(async () => {
    upstream = await openModelServer([{ id: 'small' }], KEY);
    const env = {
      DATABASE_URL: (await postgres?.createDatabase()) ?? '',
      SIGNALBOX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    both = [await openTestGateway({}, { env }), await openTestGateway({}, { env })];
    key = (await managementOf(both[0]!).ask('POST', '/keys', { name: 'k' })).body.key;
  });
  afterAll(async () => {
    await Promise.all(both.map((gateway) => gateway.close()));
    await upstream.close();
  });

  const asked = async (gateway: TestGateway) => {
    const question = { model: 'workshop/small', messages: [{ role: 'user', content: 'Hi' }] };
    const response = await gateway.post('/chat/completions', question, { authorization: `Bearer ${key}` });
    return response.status;
  };

  it('is served by all of them, changed at any of them, and gone everywhere', async () => {
    const [one, other] = both as readonly [TestGateway, TestGateway];
    const added = {
      slug: 'workshop',
      dialect: 'openai-chat',
      base_url: upstream.url,
      key: KEY,
      models: [{ model: 'small' }],
    };
    expect((await managementOf(one).ask('POST', '/gateway/providers', added)).status).toBe(201);
    expect(await asked(one)).toBe(200);
    await expect.poll(() => asked(other), EVERYWHERE).toBe(200);
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    const off = await managementOf(other).ask('PATCH', '/gateway/providers/workshop', { disabled: true });
    expect(off.status).toBe(200);
    expect(await asked(other)).toBe(400);
    await expect.poll(() => asked(one), EVERYWHERE).toBe(400);
    await managementOf(other).ask('PATCH', '/gateway/providers/workshop', { disabled: false });
    await expect.poll(() => asked(one), EVERYWHERE).toBe(200);
    expect((await managementOf(one).ask('DELETE', '/gateway/providers/workshop')).status).toBe(200);
    await expect.poll(() => asked(other), EVERYWHERE).toBe(400);
  });
});
