import { existsSync, readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ListedRoute } from '../../../src/http/route.ts';
import { routesFor } from '../../../src/http/routes/routes.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer } from '../../kit/fakes/mcp-server.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { rawExchange } from '../../kit/http-harness.ts';

/** Holes that were published in other gateways in 2024 to 2026, each tried on this one. */

let upstream: FakeUpstream;
let docs: FakeMcpServer;
/** A service of the inner network, which callers may not reach. */
let inner: Server;
let innerRequests: string[] = [];
let gateway: TestGateway;
let port = 0;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  docs = await openMcpServer();
  inner = createServer((request, response) => {
    innerRequests.push(String(request.url));
    response.end('secret-of-the-inner-network');
  });
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' }],
    models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] }],
    prompts: { greet: { instructions: 'Greet {{name}}.', input: 'Hello' } },
    tools: { mcp_servers: { docs: { url: docs.url, authorization: 'token-of-the-operator' } } },
  } as never);
  port = Number(new URL(gateway.origin).port);
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream.close(), docs.close(), new Promise((resolve) => inner.close(resolve))]);
});

beforeEach(() => {
  upstream.clear();
  upstream.answer(chatAnswer({ text: 'Hello' }));
  docs.messages.length = 0;
  innerRequests = [];
});

const innerUrl = () => `http://127.0.0.1:${(inner.address() as AddressInfo).port}/secret`;

/** Pages that answer without a key. */
const PUBLIC = new Set([
  'GET /',
  'GET /docs',
  'GET /healthz',
  'GET /readyz',
  'GET /openapi.json',
  'GET /providers',
  'GET /models',
  'GET /models/count',
  'GET /models/{id}',
  'GET /model/{author}/{slug}',
  'GET /models/{author}/{slug}',
  'GET /models/{author}/{slug}/endpoints',
  // Says null to whoever has no session.
  'GET /sessions/current',
]);

const ROUTES = routesFor('signalbox');

function pathOf({ path, mount, example }: ListedRoute): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(example?.params?.[name] ?? 'x'),
  );
  return mount === 'root' ? filled : `/api/v1${filled}`;
}

describe('a route without a key', () => {
  it('is none but the pages that are meant for all', async () => {
    const open: string[] = [];
    for (const route of ROUTES) {
      const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
      const response = await fetch(gateway.origin + pathOf(route), {
        method: route.method,
        ...(hasBody && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(route.example?.body ?? {}),
        }),
      });
      await response.arrayBuffer();
      if (response.status !== 401) open.push(`${route.method} ${route.path}`);
    }
    // Routes that were removed refuse every request, with or without a key.
    const described = new Set(
      ROUTES.filter(({ example }) => example !== null).map(({ method, path }) => `${method} ${path}`),
    );
    expect(open.filter((name) => described.has(name) && !PUBLIC.has(name))).toEqual([]);
    expect(open.length).toBeGreaterThan(5);
  });

  it.each(['/healthz', '/readyz', '/docs', '/api/v1/providers', '/api/v1/models'])(
    'shows no credential on %s',
    async (path) => {
      const text = await (await fetch(gateway.origin + path)).text();
      for (const secret of ['token-of-the-operator', gateway.apiKey, gateway.managementKey, upstream.url]) {
        expect(text).not.toContain(secret);
      }
    },
  );
});

describe('a crafted Host, from which a path is made (CVE-2026-49468)', () => {
  const HOSTS = [
    'localhost/healthz#@evil.example',
    'localhost/healthz?x=',
    'localhost/#@evil.example',
    'localhost\\healthz',
    'localhost:80/healthz#',
    '[::1]/healthz#',
  ];
  const TARGETS = ['GET /api/v1/keys', 'POST /api/v1/keys', 'GET /api/v1/credits', 'POST /api/v1/byok'];

  it.each(TARGETS.flatMap((target) => HOSTS.map((host) => ({ target, host }))))(
    'opens no route: $target with $host',
    async ({ target, host }) => {
      const { text } = await rawExchange(
        port,
        `${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(text).toMatch(/^HTTP\/1\.1 40[01] /);
    },
  );

  it.each(TARGETS)('opens no route by an address in place of a path: %s', async (target) => {
    const [method = '', path = ''] = target.split(' ');
    const { text } = await rawExchange(
      port,
      `${method} http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\nX-Original-URL: ${path}\r\nX-Rewrite-URL: ${path}\r\nX-Forwarded-Prefix: ${path}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    expect(text).not.toContain('"data"');
    expect(text).not.toContain('sk-sb-');
  });
});

describe('a false bearer', () => {
  const FALSE = [
    'x',
    'sk-',
    'sk-sb-v1-0000000000000000000000000000',
    'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.',
    // Into the statement that looks the key up (CVE-2026-42208).
    "' OR '1'='1",
    "x' UNION SELECT * FROM api_keys --",
    "x'; SELECT pg_sleep(5); --",
    '"} OR {"$ne": null}',
  ];
  const MESSAGES = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'docs__echo', arguments: {} } },
  ];

  it.each(FALSE)('opens no MCP session: %s (CVE-2026-59822)', async (token) => {
    for (const message of MESSAGES) {
      const response = await gateway.fetch('/mcp', {
        method: 'POST',
        key: null,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain('tools');
    }
    expect(docs.messages).toEqual([]);
  });

  it('is answered alike on every route, whatever is in it', async () => {
    const answers = new Set<string>();
    for (const token of FALSE) {
      const response = await gateway.fetch('/keys', {
        key: null,
        headers: { authorization: `Bearer ${token}` },
      });
      const { error } = (await response.json()) as any;
      answers.add(`${response.status} ${error.message}`);
    }
    expect([...answers]).toHaveLength(1);
    expect([...answers][0]).toMatch(/^401 /);
    expect(gateway.logText()).not.toMatch(/syntax error|SqliteError|SQLITE_/);
  });
});

describe('an address that a caller names', () => {
  const ask = (body: object) =>
    gateway.post('/responses', { model: 'm/one', input: 'Look.', ...body }).then(async (response) => ({
      status: response.status,
      text: await response.text(),
    }));

  it.each([
    ['an MCP server', () => ({ tools: [{ type: 'mcp', server_label: 'x', server_url: innerUrl() }] })],
    [
      'a picture',
      () => ({
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: innerUrl(), detail: 'auto' }] }],
      }),
    ],
    [
      'a file',
      () => ({
        input: [{ role: 'user', content: [{ type: 'input_file', file_url: innerUrl(), filename: 'a.pdf' }] }],
        plugins: [{ id: 'file-parser' }],
      }),
    ],
    ['a page', () => ({ input: `Read ${innerUrl()}`, plugins: [{ id: 'web-fetch' }] })],
  ])('reaches no inner host as %s', async (_, body) => {
    const { text } = await ask(body());
    expect(text).not.toContain('secret-of-the-inner-network');
    expect(innerRequests).toEqual([]);
  });

  it('cannot be that of an upstream (CVE-2024-6587)', async () => {
    for (const name of ['api_base', 'base_url', 'api_key', 'organization', 'extra_headers']) {
      await ask({ [name]: innerUrl(), provider: {} });
    }
    const { status } = await ask({ provider: { base_url: innerUrl() } });
    expect(status).toBe(400);
    expect(innerRequests).toEqual([]);
    for (const { headers } of upstream.requests) expect(headers.authorization).toBe('Bearer k');
  });

  it('reaches no inner host by an own credential', async () => {
    const response = await gateway.fetch('/byok', {
      method: 'POST',
      key: gateway.managementKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'acme', key: 'own', base_url: innerUrl() }),
    });
    await response.text();
    await ask({});
    expect(innerRequests).toEqual([]);
  });
});

describe('a template', () => {
  it.each([
    '{{7*7}}',
    '{{constructor.constructor("return process.env")()}}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of another language.
    '${7*7}',
    '{% for x in ().__class__.__base__.__subclasses__() %}{{x}}{% endfor %}',
  ])('puts %s in as text', async (name) => {
    const response = await gateway.post('/responses', {
      model: 'm/one',
      prompt: { id: 'greet', variables: { name } },
    });
    expect(response.status, await response.text()).toBe(200);
    expect(upstream.requests[0]?.json.messages[0].content).toBe(`Greet ${name}.`);
  });
});

describe('a path', () => {
  it.each(['../../signalbox.yaml', '..\\..\\escaped.txt', '/etc/passwd', 'a/../../escaped.txt', '\0escaped'])(
    'leads out of no folder as the name of a file: %j',
    async (name) => {
      const form = new FormData();
      form.set('purpose', 'user_data');
      form.set('file', new Blob(['harmless'], { type: 'text/plain' }), name);
      const response = await gateway.fetch('/files', { method: 'POST', body: form });
      const text = await response.text();
      expect(response.status, text).toBeLessThan(500);
      expect(existsSync(join(gateway.dataDir, 'escaped.txt'))).toBe(false);
      // Other tests have folders of their own there.
      const outside = readdirSync(join(gateway.dataDir, '..'));
      expect(outside.filter((entry) => /escaped|passwd|signalbox\.yaml/.test(entry))).toEqual([]);
    },
  );

  it.each(['..%2f..%2fsignalbox.yaml', '%2e%2e/%2e%2e/signalbox.yaml', '....//signalbox.yaml', '%00'])(
    'leads out of no folder as the id of a file: %s',
    async (id) => {
      for (const suffix of ['', '/content']) {
        const { text } = await rawExchange(
          port,
          `GET /api/v1/files/${id}${suffix} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${gateway.apiKey}\r\nConnection: close\r\n\r\n`,
        );
        expect(text).toMatch(/^HTTP\/1\.1 40[04] /);
        expect(text).not.toContain('mcp_servers');
      }
    },
  );
});

describe('a command in place of an MCP server (CVE-2026-42271)', () => {
  it.each([
    { type: 'mcp', server_label: 'x', command: 'touch', args: ['MARK'], require_approval: 'never' },
    { type: 'mcp', server_label: 'x', transport: 'stdio', command: 'touch', args: ['MARK'] },
    { type: 'mcp', server_label: 'x', server_url: 'stdio:touch MARK' },
    { type: 'mcp', server_label: 'x', server_url: 'file:///bin/sh' },
  ])('runs nothing: %j', async (tool) => {
    const mark = join(gateway.dataDir, 'made-by-a-command');
    const text = JSON.stringify(tool).replaceAll('MARK', mark);
    const response = await gateway.post('/responses', {
      model: 'm/one',
      input: 'Run it.',
      tools: [JSON.parse(text)],
    });
    expect(response.status, await response.text()).toBe(400);
    expect(existsSync(mark)).toBe(false);
  });
});
