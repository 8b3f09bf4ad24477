import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

let gateway: TestGateway;
let manage: Management;

beforeAll(async () => {
  gateway = await openTestGateway({ providers: [{ slug: 'simulator' }] });
  manage = managementOf(gateway);
});
afterAll(() => gateway.close());

/** Signs in with a key; the cookie as a browser sends it back. */
async function signIn(key: string): Promise<{ cookie: string; id: string; setCookie: string }> {
  const response = await gateway.fetch('/sessions', { method: 'POST', key });
  expect(response.status).toBe(201);
  const setCookie = response.headers.get('set-cookie') ?? '';
  const { data } = (await response.json()) as { data: { id: string } };
  return { cookie: setCookie.split(';')[0] ?? '', id: data.id, setCookie };
}

function withCookie(
  path: string,
  cookie: string,
  init: RequestInit & { headers?: Record<string, string> } = {},
) {
  const headers = { cookie, 'x-console-session': '1', ...init.headers };
  return gateway.fetch(path, { ...init, key: null, headers });
}

describe('a session', () => {
  it('acts for the key that signed in', async () => {
    const { cookie, setCookie } = await signIn(gateway.managementKey);
    expect(setCookie).toMatch(
      /^signalbox_session_\d+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Expires=[^;]+ GMT$/,
    );
    const answer = (await (await withCookie('/key', cookie)).json()) as any;
    expect(answer.data.is_management_key).toBe(true);
    expect((await withCookie('/keys', cookie)).status).toBe(200);
  });

  it('is asked for without a refusal: the key of the session, or null', async () => {
    const { cookie } = await signIn(gateway.managementKey);
    const whoWith = async (sent: string, headers = {}) => {
      const response = await withCookie('/sessions/current', sent, { headers });
      return [response.status, ((await response.json()) as any).data];
    };
    expect(await whoWith(cookie)).toMatchObject([200, { is_management_key: true }]);
    expect(await whoWith('')).toEqual([200, null]);
    expect(await whoWith(cookie.replace(/.{8}$/, '01234567'))).toEqual([200, null]);
    expect(await whoWith(cookie, { 'x-console-session': '' })).toEqual([200, null]);
    expect(await whoWith('', { authorization: 'Bearer sk-of-nobody' })).toEqual([200, null]);
    await withCookie('/sessions/current', cookie, { method: 'DELETE' });
    expect(await whoWith(cookie)).toEqual([200, null]);
  });

  it('gets a cookie for HTTPS alone behind a proxy that speaks HTTPS', async () => {
    const response = await gateway.fetch('/sessions', {
      method: 'POST',
      key: gateway.apiKey,
      headers: { 'x-forwarded-proto': 'https' },
    });
    expect(response.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  it('is opened, and reads its key, after the requests of the minute are used up', async () => {
    const limited = await openTestGateway({ limits: { per_key: { requests_per_minute: 1 } } });
    try {
      const ask = () => limited.post('/responses', { model: 'simulator/standard', input: 'hello' });
      expect((await ask()).status).toBe(200);
      expect((await ask()).status).toBe(429);
      const opened = await limited.fetch('/sessions', { method: 'POST', key: limited.apiKey });
      expect(opened.status).toBe(201);
      const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const read = await limited.fetch('/key', { key: null, headers: { cookie, 'x-console-session': '1' } });
      expect(read.status).toBe(200);
      // A generation counts for its key, whoever asks for it.
      expect((await ask()).status).toBe(429);
    } finally {
      await limited.close();
    }
  });

  it('is worth nothing without the header of the console, or from another site', async () => {
    const { cookie } = await signIn(gateway.managementKey);
    const bare = await gateway.fetch('/keys', { key: null, headers: { cookie } });
    expect(bare.status).toBe(401);
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await withCookie('/keys', cookie, { headers: { 'sec-fetch-site': site } })).status).toBe(401);
    }
    expect((await withCookie('/keys', cookie, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(
      200,
    );
  });

  it('cannot open another session, and a wrong or ended one is refused', async () => {
    const { cookie, id } = await signIn(gateway.managementKey);
    expect((await withCookie('/sessions', cookie, { method: 'POST' })).status).toBe(403);
    const name = cookie.split('=')[0];
    expect((await withCookie('/key', `${name}=${'0'.repeat(64)}`)).status).toBe(401);
    expect((await withCookie(`/sessions/${id}`, cookie, { method: 'DELETE' })).status).toBe(200);
    const ended = await withCookie('/key', cookie);
    expect(ended.status).toBe(401);
    expect(((await ended.json()) as any).error.message).toContain('Sign in again');
  });

  it('ends with its key', async () => {
    const { key, data } = (await manage.ask('POST', '/keys', { name: 'temporary' })).body;
    const { cookie } = await signIn(key);
    expect((await withCookie('/key', cookie)).status).toBe(200);
    await manage.ask('PATCH', `/keys/${data.hash}`, { disabled: true });
    expect((await withCookie('/key', cookie)).status).toBe(401);
    await manage.ask('PATCH', `/keys/${data.hash}`, { disabled: false });
    expect((await withCookie('/key', cookie)).status).toBe(200);
    await manage.ask('DELETE', `/keys/${data.hash}`);
    expect((await withCookie('/key', cookie)).status).toBe(401);
  });

  it('does not outlast a key that expires', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { key } = (await manage.ask('POST', '/keys', { name: 'an hour', expires_at })).body;
    const response = await gateway.fetch('/sessions', { method: 'POST', key });
    expect(((await response.json()) as any).data.expires_at).toBe(expires_at);
  });
});

describe('the list of sessions', () => {
  it('holds those of all keys for a management key, and its own for another', async () => {
    const { key } = (await manage.ask('POST', '/keys', { name: 'reader' })).body;
    const own = await signIn(key);
    const other = await signIn(gateway.managementKey);
    const all = (await (await withCookie('/sessions', other.cookie)).json()) as any;
    const ids = all.data.map(({ id }: any) => id);
    expect(ids).toContain(own.id);
    expect(all.data.find(({ id }: any) => id === own.id).key_name).toBe('reader');
    expect(all.data.filter((session: any) => session.is_current).map(({ id }: any) => id)).toEqual([
      other.id,
    ]);
    const mine = (await (await withCookie('/sessions', own.cookie)).json()) as any;
    expect(mine.data.map(({ id }: any) => id)).toEqual([own.id]);
    expect((await withCookie(`/sessions/${other.id}`, own.cookie, { method: 'DELETE' })).status).toBe(404);
    expect((await withCookie(`/sessions/${own.id}`, other.cookie, { method: 'DELETE' })).status).toBe(200);
    expect((await withCookie('/key', own.cookie)).status).toBe(401);
  });

  it('has 50 of a key: a further sign-in ends the oldest', async () => {
    const { key } = (await manage.ask('POST', '/keys', { name: 'eager' })).body;
    const oldest = await signIn(key);
    // Later by the clock too, which counts milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (let count = 1; count < 50; count++) await signIn(key);
    expect((await withCookie('/key', oldest.cookie)).status).toBe(200);
    const last = await signIn(key);
    expect((await withCookie('/key', oldest.cookie)).status).toBe(401);
    const { data } = (await (await withCookie('/sessions', last.cookie)).json()) as any;
    expect(data).toHaveLength(50);
  });

  it('never shows a token', async () => {
    const { cookie } = await signIn(gateway.managementKey);
    const token = cookie.split('=')[1] ?? '';
    const text = await (await withCookie('/sessions', cookie)).text();
    expect(token).toHaveLength(64);
    expect(text).not.toContain(token);
    expect(gateway.logText()).not.toContain(token);
  });
});

describe('a session of a plain key', () => {
  it('sees no record and no content of another key, which the key itself may ask for', async () => {
    const { id: workspaceId } = await manage.data(201, 'POST', '/workspaces', {
      name: 'Kept',
      slug: 'kept',
      is_observability_io_logging_enabled: true,
    });
    const keyOf = async (name: string): Promise<string> =>
      (await manage.ask('POST', '/keys', { name, workspace_id: workspaceId })).body.key;
    const [own, other] = [await keyOf('own'), await keyOf('other')];
    const answer = await gateway.fetch('/responses', {
      method: 'POST',
      key: own,
      body: JSON.stringify({ model: 'simulator/standard', input: 'hello' }),
      headers: { 'content-type': 'application/json' },
    });
    await answer.text();
    const id = answer.headers.get('x-generation-id');
    const paths = [`/generation?id=${id}`, `/generation/content?id=${id}`];
    const statuses = async (cookie: string) =>
      (await Promise.all(paths.map((path) => withCookie(path, cookie)))).map(({ status }) => status);
    expect(await statuses((await signIn(own)).cookie)).toEqual([200, 200]);
    expect(await statuses((await signIn(other)).cookie)).toEqual([404, 404]);
    expect(await statuses((await signIn(gateway.managementKey)).cookie)).toEqual([200, 200]);
    const asked = await Promise.all(paths.map((path) => gateway.fetch(path, { key: other })));
    expect(asked.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('a generation of a management session', () => {
  const body = JSON.stringify({
    model: 'simulator/standard',
    messages: [{ role: 'user', content: 'hello' }],
  });
  const send = (cookie: string, headers: Record<string, string>) =>
    withCookie('/chat/completions', cookie, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });

  it('is sent as a key of the account, which pays and is limited', async () => {
    const { cookie } = await signIn(gateway.managementKey);
    expect((await send(cookie, {})).status).toBe(403);
    const [{ hash }] = (await manage.ask('GET', '/keys')).body.data.filter((key: any) => !key.disabled);
    const answer = await send(cookie, { 'x-console-key': hash });
    expect(answer.status).toBe(200);
    const { id } = (await answer.json()) as { id: string };
    const record = await withCookie(`/generation?id=${id}`, cookie, { headers: { 'x-console-key': hash } });
    expect(record.status).toBe(200);
  });

  it('is refused as an unknown key, and as another key from a session of a plain key', async () => {
    const { cookie } = await signIn(gateway.managementKey);
    expect((await send(cookie, { 'x-console-key': 'f'.repeat(64) })).status).toBe(403);
    const plain = await signIn(gateway.apiKey);
    const [{ hash }] = (await manage.ask('GET', '/keys')).body.data;
    expect((await send(plain.cookie, { 'x-console-key': hash })).status).toBe(403);
  });
});
