import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  openFakeUpstream,
  reset,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;
let otherKey: string;
let doctor: () => Promise<any>;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway(
    {
      providers: [
        { slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
        { slug: 'dead', dialect: 'openai-chat', base_url: 'http://127.0.0.1:1', api_key: 'k' },
      ],
      models: [
        { id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] },
        { id: 'm/drops', endpoints: [{ provider: 'acme', model: 'drops' }] },
        { id: 'm/dead', endpoints: [{ provider: 'dead', model: 'dead' }] },
      ],
      routing: {},
    },
    { healthClock: new HandClock() },
  );
  const management = managementOf(gateway);
  const other = await management.command('accounts.create', { name: 'other' });
  otherKey = (await management.ask('POST', '/keys', { name: 'k' }, other.management_key)).body.key;
  doctor = () => management.command('doctor.inspect', {});
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const FAILURE = [
  head(500, { 'content-type': 'application/json' }),
  write('{"error":{"message":"no"}}'),
  end(),
];

async function ask(key: string, model = 'm/one', path = '/chat/completions') {
  const response = await gateway.post(
    path,
    { model, format: 'chat', messages: [{ role: 'user', content: 'Hi' }] },
    { authorization: `Bearer ${key}` },
  );
  return { status: response.status, body: (await response.json()) as any };
}
const healthSeenBy = async (key: string, model?: string) =>
  (await ask(key, model, '/routing/explain')).body.data.candidates[0].health;
const cooling = async () => (await doctor()).server.cooling;

it('failures of one account leave a shared endpoint in service for another', async () => {
  upstream.answer(FAILURE);
  for (let count = 0; count < 8; count++) await ask(gateway.apiKey);
  expect(await healthSeenBy(gateway.apiKey)).toMatchObject({ state: 'cooling', scope: 'account' });
  expect((await ask(gateway.apiKey)).status).toBe(503);
  upstream.clear();
  upstream.answer(chatAnswer({ text: 'ok' }));
  const seen = await healthSeenBy(otherKey);
  expect(seen.state).toBe('ok');
  expect(seen).not.toHaveProperty('scope');
  expect((await ask(otherKey)).status).toBe(200);
  expect(await cooling()).toEqual([
    { model: 'm/one', tag: 'acme', accounts: 1, seconds_left: expect.any(Number) },
  ]);
});

it('a connection that is closed after the request was sent counts for its account, and for all with others', async () => {
  upstream.clear();
  upstream.answer([reset()]);
  for (let count = 0; count < 8; count++) await ask(gateway.apiKey, 'm/drops');
  expect(await healthSeenBy(gateway.apiKey, 'm/drops')).toMatchObject({ state: 'cooling', scope: 'account' });
  expect((await healthSeenBy(otherKey, 'm/drops')).state).toBe('ok');
  const lines = () => gateway.logged('endpoint cools down').filter(({ model }) => model === 'm/drops');
  expect(lines()).toEqual([
    expect.objectContaining({ account: expect.any(String), errno: 'ECONNRESET', upstream_status: null }),
  ]);
  expect((await ask(otherKey, 'm/drops')).status).toBe(502);
  expect((await ask(otherKey, 'm/drops')).status).toBe(502);
  expect(await healthSeenBy(otherKey, 'm/drops')).toMatchObject({ state: 'cooling', scope: 'everyone' });
  expect(lines()).toHaveLength(2);
  expect(lines()[1]).not.toHaveProperty('account');
});

it('failed connections of one account count for all', async () => {
  for (let count = 0; count < 5; count++) await ask(gateway.apiKey, 'm/dead');
  expect(await healthSeenBy(otherKey, 'm/dead')).toMatchObject({ state: 'cooling', scope: 'everyone' });
  expect(await cooling()).toContainEqual(expect.objectContaining({ model: 'm/dead', accounts: 0 }));
});
