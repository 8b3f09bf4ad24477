import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  type Script,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer } from '../../kit/fakes/mcp-server.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

let issuer: FakeUpstream;
let docs: FakeMcpServer;
let gateway: TestGateway;
let management: Management;
/** The access token that the server takes. */
let valid: string;

beforeAll(async () => {
  [issuer, docs] = await Promise.all([openFakeUpstream(), openMcpServer()]);
  gateway = await openTestGateway({
    egress: { allow: [`127.0.0.1:${issuer.port}`] },
    tools: { mcp_servers: { docs: { url: docs.url } } },
  });
  management = managementOf(gateway);
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([issuer.close(), docs.close()]);
});
beforeEach(() => {
  issuer.clear();
  docs.messages.length = 0;
  docs.behaviour = {
    status: ({ headers }) => (headers.authorization === `Bearer ${valid}` ? undefined : 401),
  };
});

let made = 0;

/** A key of a user with an OAuth token. */
async function userWith(members: object): Promise<{ readonly key: string; readonly id: string }> {
  const user = `user-${++made}`;
  const { body } = await management.ask('POST', '/keys', { name: user, creator_user_id: user });
  const token = {
    access_token: `first-access-token-${made}`,
    refresh_token: `first-refresh-token-${made}`,
    token_endpoint: `http://127.0.0.1:${issuer.port}/token`,
    client_id: 'gateway',
    client_secret: 'secret-of-the-client',
    ...members,
  };
  const { id } = await management.data(201, 'POST', '/byok', {
    provider: 'mcp:docs',
    key: JSON.stringify(token),
    allowed_user_ids: [user],
  });
  return { key: body.key, id };
}

const renewing =
  (more: object = {}): Script =>
  ({ body }) => {
    const last = new URLSearchParams(body).get('refresh_token');
    valid = `access-after-${last}`;
    const token = { access_token: valid, refresh_token: `after-${last}`, expires_in: 3600, ...more };
    return [head(200, JSON_TYPE), write(JSON.stringify(token)), end()];
  };

async function call(key: string) {
  const params = { name: 'docs__echo', arguments: { text: 'hi' } };
  const response = await gateway.fetch('/mcp', {
    method: 'POST',
    key,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    headers: { 'content-type': 'application/json' },
  });
  return (await response.json()) as any;
}

const forms = () => issuer.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow;

describe('an OAuth token', () => {
  it('is used while it is valid', async () => {
    const { key } = await userWith({ expires_at: seconds(3600) });
    valid = `first-access-token-${made}`;
    expect((await call(key)).result.isError).toBe(false);
    expect(issuer.requests).toEqual([]);
  });

  it('is refreshed before it expires, once for requests at the same time', async () => {
    const { key } = await userWith({ expires_at: seconds(30), scope: 'docs.read' });
    issuer.answer(renewing());
    const all = await Promise.all(Array.from({ length: 5 }, () => call(key)));
    expect(all.map(({ result }) => result?.isError)).toEqual(Array.from({ length: 5 }, () => false));
    expect(forms()).toEqual([
      {
        grant_type: 'refresh_token',
        refresh_token: `first-refresh-token-${made}`,
        client_id: 'gateway',
        client_secret: 'secret-of-the-client',
        scope: 'docs.read',
      },
    ]);
    await call(key);
    expect(issuer.requests).toHaveLength(1);
  });

  it('is refreshed when the server refuses it, with the refresh token that came last', async () => {
    const { key } = await userWith({});
    issuer.answer(renewing());
    expect((await call(key)).result.isError).toBe(false);
    // The server forgets the token.
    valid = 'another';
    expect((await call(key)).result.isError).toBe(false);
    expect(forms().map(({ refresh_token }) => refresh_token)).toEqual([
      `first-refresh-token-${made}`,
      `after-first-refresh-token-${made}`,
    ]);
  });

  it('is kept encrypted, and its label shows nothing of it', async () => {
    const { key, id } = await userWith({ expires_at: seconds(-1) });
    issuer.answer(renewing());
    await call(key);
    const { label } = await management.data(200, 'GET', `/byok/${id}`);
    expect(label).toMatch(/^fir\.\.\.\S{4}$/);
    const files = readdirSync(gateway.dataDir).filter((name) => name.includes('sqlite'));
    const stored = files.map((name) => readFileSync(join(gateway.dataDir, name), 'latin1')).join();
    expect(stored).toContain(id);
    for (const secret of ['refresh-token', 'access-after', 'secret-of-the-client']) {
      expect(stored).not.toContain(secret);
      expect(gateway.logText()).not.toContain(secret);
    }
    expect(JSON.stringify(docs.messages)).not.toContain('secret-of-the-client');
  });

  it('that cannot be refreshed says what to do', async () => {
    const { key, id } = await userWith({ expires_at: seconds(-1) });
    issuer.answer(reply(400, { error: 'invalid_grant', error_description: 'first-refresh-token' }));
    docs.messages.length = 0;
    await call(key);
    const [line] = gateway.logged('an MCP server gave no list of its tools').slice(-1);
    expect(line?.reason).toBe(
      `the token for the server was not refreshed (invalid_grant): authorize again and store the new token with PATCH /byok/${id}`,
    );
    expect(docs.messages).toEqual([]);
  });

  it.each([
    [{ refresh_token: undefined }, 'lacks refresh_token'],
    [{ token_endpoint: 'ftp://a' }, 'token_endpoint is not an http address'],
    [{ token_endpoint: 'http://10.0.0.1/token' }, 'token_endpoint'],
  ])('is refused with %j', async (members, message) => {
    const key = { access_token: 'a', refresh_token: 'b', token_endpoint: 'https://a.test', client_id: 'c' };
    const { status, body } = await management.ask('POST', '/byok', {
      provider: 'mcp:docs',
      key: JSON.stringify({ ...key, ...members }),
    });
    expect(status).toBe(400);
    expect(body.error.message).toContain(message);
  });
});
