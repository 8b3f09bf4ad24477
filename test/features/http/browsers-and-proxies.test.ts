import { afterEach, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let gateway: TestGateway;

afterEach(() => gateway.close());

const APP = 'https://app.example.com';
const BODY = { model: 'simulator/standard', messages: [{ role: 'user', content: 'Hello' }] };

const open = async (origins: string[], trusted: string[] = []) => {
  gateway = await openTestGateway({ server: { cors: { origins }, trusted_proxies: trusted } });
};

const preflight = (origin: string) =>
  gateway.fetch('/chat/completions', {
    method: 'OPTIONS',
    key: null,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  });

it('answers the preflight of an allowed origin without a key, and no other', async () => {
  await open([`${APP}:443`]);
  const allowed = await preflight(APP);
  expect(allowed.status).toBe(204);
  expect(Object.fromEntries(allowed.headers)).toMatchObject({
    'access-control-allow-origin': APP,
    'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
    'access-control-allow-methods': expect.stringContaining('POST'),
    vary: 'Origin',
  });
  expect(allowed.headers.get('content-length')).toBeNull();
  const other = await preflight('https://evil.example');
  expect(other.status).toBe(405);
  expect(other.headers.get('access-control-allow-origin')).toBeNull();
});

it('lets a page read answers, streams and errors with their headers', async () => {
  await open([APP]);
  const answers = [
    await gateway.post('/chat/completions', BODY, { origin: APP }),
    await gateway.post('/chat/completions', { ...BODY, stream: true }, { origin: APP }),
    await gateway.post('/chat/completions', {}, { origin: APP }),
    await gateway.fetch('/models', { headers: { origin: APP } }),
    await gateway.fetch('/key', { key: 'sk-wrong', headers: { origin: APP } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 200, 401]);
  for (const answer of answers) {
    expect(answer.headers.get('access-control-allow-origin')).toBe(APP);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Generation-Id');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    await answer.text();
  }
});

it('sends no such headers unless origins are configured, and lets any page call with "*"', async () => {
  await open([]);
  const closed = await gateway.fetch('/models', { headers: { origin: APP } });
  expect(closed.headers.get('access-control-allow-origin')).toBeNull();
  expect((await preflight(APP)).status).toBe(405);
  await gateway.close();
  await open(['*']);
  const any = await gateway.fetch('/models', { headers: { origin: 'http://localhost:3000' } });
  expect(any.headers.get('access-control-allow-origin')).toBe('*');
});

it('logs refused keys with the address behind trusted proxies, once a minute and address', async () => {
  await open([], ['127.0.0.1']);
  const refused = (forwarded: string) =>
    gateway.fetch('/key', { key: 'sk-wrong', headers: { 'x-forwarded-for': forwarded } });
  for (const forwarded of ['6.6.6.6, 203.0.113.9', '203.0.113.9', '203.0.113.10']) {
    expect((await refused(forwarded)).status).toBe(401);
  }
  const clients = gateway.logged('a key was refused').map(({ client }) => client);
  expect(clients).toEqual(['203.0.113.9', '203.0.113.10']);
  expect(gateway.logText()).not.toContain('sk-wrong');
});

it('believes no forwarded address without trusted proxies', async () => {
  await open([]);
  await gateway.fetch('/key', { key: 'sk-revoked-9fb4', headers: { 'x-forwarded-for': '203.0.113.9' } });
  const refused = gateway.logged('a key was refused');
  expect(refused).toMatchObject([{ client: '127.0.0.1', key: 'sk-...9fb4' }]);
});
