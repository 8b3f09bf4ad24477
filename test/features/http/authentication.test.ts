import { afterEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  ask,
  CHAT_BODY,
  MANAGEMENT_KEY,
  MESSAGES_BODY,
  PLAIN_KEY,
  RESPONSES_BODY,
  rawBody,
  rawExchange,
  startServer,
  stopServers,
} from '../../kit/http-harness.ts';

afterEach(stopServers);

const NO_KEY = [
  ['no header', {}],
  ['an empty value', { Authorization: '' }],
  ['Bearer without a token', { Authorization: 'Bearer' }],
] as const;

const WRONG_KEY = [
  ['another scheme', { Authorization: 'Basic c2VjcmV0' }],
  ['an unknown key', { Authorization: 'Bearer sk-unknown' }],
  ['text for a database', { Authorization: "Bearer ' OR 1=1 --" }],
  ['wildcards', { Authorization: 'Bearer sk-test-%' }],
  ['non-ASCII text', { Authorization: 'Bearer sk-t\u00e9st' }],
  ['an unknown x-api-key', { 'x-api-key': 'sk-unknown' }],
] as const;

describe('authentication', () => {
  it.each(NO_KEY)('answers 401 to %s', async (_, headers) => {
    const { port } = await startServer();
    const { status, json } = await ask(port, { path: '/api/v1/responses', body: RESPONSES_BODY, headers });
    expect(status).toBe(401);
    expect(json).toEqual({
      error: {
        code: 401,
        message: 'Missing Authentication header',
        metadata: { error_type: 'authentication' },
      },
    });
  });

  it.each(WRONG_KEY)('answers the same 401 to %s', async (_, headers) => {
    const { port } = await startServer();
    const { status, json } = await ask(port, { path: '/api/v1/responses', body: RESPONSES_BODY, headers });
    expect(status).toBe(401);
    expect(json).toEqual({
      error: { code: 401, message: 'Invalid API key', metadata: { error_type: 'authentication' } },
    });
  });

  it.each([
    ['sk-ant-api03-abcdef', 'Anthropic'],
    ['sk-proj-abcdef', 'OpenAI'],
    ['AIzaSyabcdef', 'Google'],
  ])("says whose a provider's key is, but not the key: %s", async (secret, provider) => {
    const { port } = await startServer();
    const { status, text } = await ask(port, {
      path: '/api/v1/responses',
      body: RESPONSES_BODY,
      key: secret,
    });
    expect(status).toBe(401);
    expect(JSON.parse(text).error.message).toContain(
      `Invalid API key: this looks like a key of ${provider}.`,
    );
    expect(text).not.toContain(secret);
  });

  it('refuses two Authorization headers, the second of which is valid, without looking either up', async () => {
    const { port, lookups } = await startServer();
    const { text } = await rawExchange(
      port,
      `GET /api/v1/key HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer sk-unknown\r\n` +
        `Authorization: Bearer ${PLAIN_KEY}\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(rawBody(text).error.code).toBe(401);
    expect(lookups).toEqual([]);
  });

  it('takes no key from the query or a cookie, and logs neither', async () => {
    const { port, log } = await startServer();
    const { status } = await ask(port, {
      path: `/api/v1/key?api_key=${PLAIN_KEY}`,
      headers: { Cookie: `key=${PLAIN_KEY}` },
    });
    expect(status).toBe(401);
    expect(JSON.stringify(log)).not.toContain(PLAIN_KEY);
  });

  it('takes x-api-key where Authorization is absent, and Authorization where both are there', async () => {
    const { port } = await startServer();
    const alone = await ask(port, { path: '/api/v1/key', headers: { 'x-api-key': PLAIN_KEY } });
    expect(alone.status).toBe(200);
    const both = await ask(port, {
      path: '/api/v1/key',
      headers: { 'x-api-key': PLAIN_KEY, Authorization: 'Bearer sk-unknown' },
    });
    expect(both.status).toBe(401);
  });

  it('refuses management keys on generation routes and names the account', async () => {
    const { port } = await startServer();
    for (const [path, body] of [
      ['/api/v1/responses', RESPONSES_BODY],
      ['/api/v1/messages', MESSAGES_BODY],
      ['/api/v1/chat/completions', CHAT_BODY],
    ] as const) {
      const { status, json } = await ask(port, { path, body, key: MANAGEMENT_KEY });
      expect(status).toBe(403);
      expect(json.error.message).toMatch(/^Management keys cannot be used for inference: send an API key/);
      expect(json.user_id).toBe(ACCOUNT);
    }
  });

  it('decides before the body is read', async () => {
    const { port } = await startServer();
    const { text } = await rawExchange(
      port,
      'POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n\r\n{',
    );
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
  });

  it('speaks the messages format on the messages routes, the envelope elsewhere', async () => {
    const { port } = await startServer();
    const messages = await ask(port, { path: '/api/v1/messages', body: MESSAGES_BODY });
    expect(messages.json).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error', code: 401, message: 'Missing Authentication header' },
      request_id: null,
    });
    const count = await ask(port, { path: '/v1/messages/count_tokens', body: MESSAGES_BODY });
    expect(count.json.type).toBe('error');
    const responses = await ask(port, { path: '/api/v1/responses', body: RESPONSES_BODY });
    expect(responses.json.type).toBeUndefined();
  });

  it('is needed by /models/user and /key, not by the public pages', async () => {
    const { port } = await startServer();
    const statusOf = async (path: string) => (await ask(port, { path })).status;
    expect(await statusOf('/api/v1/models/user')).toBe(401);
    expect(await statusOf('/api/v1/key')).toBe(401);
    expect(await statusOf('/api/v1/auth/key')).toBe(401);
    for (const path of [
      '/api/v1/models',
      '/api/v1/models/count',
      '/api/v1/model/acme/large',
      '/api/v1/models/acme/large/endpoints',
      '/api/v1/providers',
      '/api/v1/openapi.json',
      '/docs',
      '/healthz',
      '/readyz',
    ]) {
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    }
    const user = await ask(port, { path: '/api/v1/models/user', key: MANAGEMENT_KEY });
    expect(user.status).toBe(200);
  });

  it('shows a key to itself, under both paths', async () => {
    const { port } = await startServer();
    const { json } = await ask(port, { path: '/api/v1/key', key: MANAGEMENT_KEY });
    expect(json.data).toMatchObject({ label: 'sk-...test', is_management_key: true });
    const alias = await ask(port, { path: '/v1/auth/key/', key: MANAGEMENT_KEY });
    expect(alias.json).toEqual(json);
  });
});
