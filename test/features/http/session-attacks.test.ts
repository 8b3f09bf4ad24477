import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PERMISSIONS } from '../../../src/endpoints/permissions.ts';
import type { ListedRoute } from '../../../src/http/route.ts';
import { routesFor } from '../../../src/http/routes/routes.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

/** Every route that needs a key, tried with the cookie of a session by those who should not have it. */

let gateway: TestGateway;
let manage: Management;
/** Cookies of a management key and of a plain key. */
let manager: string;
let plain: string;
let victim: Victim;

/** Another key of the same workspace, and everything by which its data would show in an answer. */
interface Victim {
  readonly hash: string;
  readonly generationId: string;
  readonly marks: readonly string[];
}

const keyKindOf = ({ permission }: ListedRoute) => PERMISSIONS[permission];

const ROUTES = routesFor('signalbox').filter((route) => !['none', 'optional'].includes(keyKindOf(route)));
const PROMPT = 'prompt-of-the-victim';
const END_USER = 'end-user-of-the-victim';
const SESSION_NAME = 'session-of-the-victim';

beforeAll(async () => {
  // Pages of all origins may use keys: they get no further with cookies.
  gateway = await openTestGateway({
    providers: [{ slug: 'simulator' }],
    server: { cors: { origins: ['*'] } },
  });
  manage = managementOf(gateway);
  manager = await signIn(gateway.managementKey);
  plain = await signIn(gateway.apiKey);
  victim = await makeVictim();
});
afterAll(() => gateway.close());

async function signIn(key: string): Promise<string> {
  const response = await gateway.fetch('/sessions', { method: 'POST', key });
  expect(response.status).toBe(201);
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

async function makeVictim(): Promise<Victim> {
  const name = 'name-of-the-victim';
  const { key, data } = (await manage.ask('POST', '/keys', { name })).body;
  const answer = await gateway.fetch('/chat/completions', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json', 'x-session-id': SESSION_NAME },
    body: JSON.stringify({
      model: 'simulator/standard',
      messages: [{ role: 'user', content: PROMPT }],
      user: END_USER,
    }),
  });
  await answer.text();
  const generationId = answer.headers.get('x-generation-id') ?? '';
  await signIn(key);
  // Its row comes a moment later.
  await vi.waitFor(
    async () => expect((await manage.ask('GET', `/generations?key=${data.hash}`)).body.data).toHaveLength(1),
    { timeout: 20_000 },
  );
  return {
    hash: data.hash,
    generationId,
    marks: [data.hash, name, generationId, PROMPT, END_USER, SESSION_NAME],
  };
}

/** The path of a route with parameters that lead to the victim wherever they can. */
function pathOf(route: ListedRoute): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    /hash/.test(name)
      ? victim.hash
      : encodeURIComponent(route.example?.params?.[name] ?? victim.generationId),
  );
  return route.mount === 'root' ? gateway.origin + path : gateway.url + path;
}

interface Attack {
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

async function ask(route: ListedRoute, { cookie = '', headers = {}, query = '' }: Attack): Promise<Response> {
  const hasBody = route.method !== 'GET';
  return fetch(`${pathOf(route)}${query}`, {
    method: route.method,
    headers: { cookie, ...(hasBody && { 'content-type': 'application/json' }), ...headers },
    ...(hasBody && { body: JSON.stringify(route.example?.body ?? {}) }),
  });
}

const FROM_CONSOLE = { 'x-console-session': '1', 'sec-fetch-site': 'same-origin' };

/** What a page of another origin can make a browser send along with the cookie, and more. */
const FORGERIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a link or a form': {},
  'a form of text': { 'content-type': 'text/plain' },
  'a form': { 'content-type': 'application/x-www-form-urlencoded' },
  'an upload': { 'content-type': 'multipart/form-data; boundary=x' },
  'another value of the header': { 'x-console-session': 'true' },
  'a page of another site': { ...FROM_CONSOLE, 'sec-fetch-site': 'cross-site' },
  'a page of another port': { ...FROM_CONSOLE, 'sec-fetch-site': 'same-site' },
  'an address that was typed': { ...FROM_CONSOLE, 'sec-fetch-site': 'none' },
};

describe('the cookie of a session', () => {
  it.each(Object.entries(FORGERIES))('is refused on every route from %s', async (_, headers) => {
    const taken = await takenBy({ cookie: manager, headers });
    expect(taken).toEqual([]);
  });

  it('is refused on every route under another name, twice, or changed', async () => {
    const [name = '', token = ''] = manager.split('=');
    const cookies = [
      `signalbox_session=${token}`,
      `${name}_=${token}`,
      `${name}=${token.toUpperCase()}`,
      `${name}=${token}0`,
      `${name}=${hashLike(token)}`,
      `${name}=${plain.split('=')[1]}; ${manager}`,
      `${manager}; ${name}=${'0'.repeat(64)}`,
    ];
    for (const cookie of cookies) {
      expect([cookie, await takenBy({ cookie, headers: FROM_CONSOLE })]).toEqual([cookie, []]);
    }
  });

  it('counts for a page of the gateway', async () => {
    const origin = { origin: gateway.origin };
    expect(
      (await asked('GET', '/key', { cookie: manager, headers: { ...FROM_CONSOLE, ...origin } })).status,
    ).toBe(200);
  });

  it('cannot be used by pages of another origin, even if these may use keys', async () => {
    const { headers } = await fetch(`${gateway.url}/keys`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,X-Console-Session, x-console-key',
      },
    });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-headers')).toBe('authorization');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('is called so that other hosts and plain HTTP cannot set it, if the page came by HTTPS', async () => {
    const byHttps = { 'x-forwarded-proto': 'https' };
    const opened = await gateway.fetch('/sessions', {
      method: 'POST',
      key: gateway.apiKey,
      headers: byHttps,
    });
    const setCookie = opened.headers.get('set-cookie') ?? '';
    expect(setCookie).toMatch(
      /^__Host-signalbox_session_\d+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/,
    );
    const cookie = setCookie.split(';')[0] ?? '';
    const headers = { ...FROM_CONSOLE, ...byHttps };
    expect((await asked('GET', '/key', { cookie, headers })).status).toBe(200);
    expect((await asked('GET', '/key', { cookie, headers: FROM_CONSOLE })).status).toBe(401);
    expect((await asked('GET', '/key', { cookie: plain, headers })).status).toBe(401);
    const ended = await asked('DELETE', '/sessions/current', { cookie, headers });
    expect(ended.headers.get('set-cookie')).toMatch(/^__Host-.*Max-Age=0; Secure$/);
  });
});

/** Routes that did not refuse the caller, with the status that they gave. */
async function takenBy(attack: Attack): Promise<string[]> {
  const answers = await Promise.all(
    ROUTES.map(async (route) => {
      const { status } = await ask(route, attack);
      return status === 401 ? [] : [`${status} ${route.method} ${route.path}`];
    }),
  );
  return answers.flat();
}

async function asked(method: string, path: string, { cookie = '', headers = {} }: Attack): Promise<Response> {
  return fetch(gateway.url + path, { method, headers: { cookie, ...headers } });
}

const hashLike = (token: string): string => [...token].reverse().join('');

describe('a session of a plain key', () => {
  it('is refused on every route of management', async () => {
    const management = ROUTES.filter((route) => ['management', 'operator'].includes(keyKindOf(route)));
    const statuses = await Promise.all(
      management.map(async (route) => {
        const { status } = await ask(route, { cookie: plain, headers: FROM_CONSOLE });
        return status === 403 ? [] : [`${status} ${route.method} ${route.path}`];
      }),
    );
    expect(statuses.flat()).toEqual([]);
  });

  it('reads nothing of another key, whatever it asks for', async () => {
    const reads = ROUTES.filter((route) => keyKindOf(route) === 'any' && route.method === 'GET');
    const queries = [
      '',
      `?key=${victim.hash}`,
      `?id=${victim.generationId}`,
      `?search=${END_USER}`,
      `?search=${SESSION_NAME}`,
      '?format=csv',
      '?format=ndjson',
      '?by=key',
      `?by=model&key=${victim.hash}`,
    ];
    const leaks: string[] = [];
    let answered = 0;
    for (const route of reads) {
      for (const query of queries) {
        const response = await ask(route, { cookie: plain, headers: FROM_CONSOLE, query });
        const text = await response.text();
        if (response.status === 200) answered++;
        // A refusal repeats what was asked for.
        const found = victim.marks.filter((mark) => response.status === 200 && text.includes(mark));
        if (found.length > 0) leaks.push(`${route.path}${query}: ${found.join(', ')}`);
      }
    }
    expect(answered).toBeGreaterThan(20);
    expect(leaks).toEqual([]);
  });

  it('cannot act as another key', async () => {
    const headers = { ...FROM_CONSOLE, 'x-console-key': victim.hash };
    for (const path of ['/key', '/generations', `/generation?id=${victim.generationId}`, '/sessions']) {
      expect((await asked('GET', path, { cookie: plain, headers })).status).toBe(403);
    }
  });
});

describe('paths of the console', () => {
  const raw = (path: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      httpRequest(
        { host: '127.0.0.1', port: new URL(gateway.origin).port, path, headers: { accept: 'text/html' } },
        async (response) => {
          let text = '';
          for await (const chunk of response) text += String(chunk);
          resolve({ status: response.statusCode ?? 0, text });
        },
      )
        .on('error', reject)
        .end();
    });

  it.each([
    '/assets/../index.html',
    '/assets/../../cli/signalbox.js',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/index.html',
    '/assets/....//index.html',
    '/assets/..\\index.html',
    '/assets//etc/passwd',
    '/assets/',
    '/assets/constructor',
    '/assets/__proto__',
  ])('lead to no file outside of it: %s', async (path) => {
    const { status, text } = await raw(path);
    expect([400, 404]).toContain(status);
    expect(text).not.toContain('root:');
    expect(text).not.toContain('"dependencies"');
  });
});

describe('pages for browsers', () => {
  it.each(['/', '/log', '/keys?from=-1h', '/docs', '/nonsense', '//evil.example/log', '/sign-in'])(
    '%s cannot be framed, runs nothing of others, and tells other hosts nothing',
    async (path) => {
      const response = await fetch(`${gateway.origin}${path}`, { headers: { accept: 'text/html' } });
      const { headers } = response;
      expect(headers.get('content-type')).toContain('text/html');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("base-uri 'none'");
      expect(policy).toContain("form-action 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toMatch(/^(?:same-origin|no-referrer)$/);
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    },
  );

  it('are all that caches may keep: no answer with data', async () => {
    const kept = await Promise.all(
      ROUTES.filter(({ method }) => method === 'GET').map(async (route) => {
        const { headers } = await ask(route, { cookie: manager, headers: FROM_CONSOLE });
        const caching = headers.get('cache-control');
        return caching === 'no-store' ? [] : [`${route.path}: ${caching}`];
      }),
    );
    expect(kept.flat()).toEqual([]);
  });
});

// Last: afterwards this address cannot sign in for a minute.
describe('keys that are tried one after the other', () => {
  it('are no longer looked at by the sign-in, while requests with keys are served', async () => {
    const statuses: number[] = [];
    for (let tried = 0; tried < 22; tried++) {
      const response = await gateway.fetch('/sessions', { method: 'POST', key: `sk-sb-v1-guessed-${tried}` });
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
    expect(statuses.slice(20)).toEqual([429, 429]);
    const refused = await gateway.fetch('/sessions', { method: 'POST', key: gateway.managementKey });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await gateway.fetch('/key', { key: gateway.managementKey })).status).toBe(200);
  });
});
