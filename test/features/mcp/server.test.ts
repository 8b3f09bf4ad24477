import { request, type ServerResponse } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, type McpMessage, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const OPERATOR_TOKEN = 'token-of-the-operator-for-docs';
const OWN_TOKEN = 'token-of-one-user-for-docs';
const SHOWN = {
  title: 'Find pages',
  icons: [{ src: 'https://docs.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
  execution: { taskSupport: 'optional' },
  annotations: { title: 'Find', readOnlyHint: true, destructiveHint: false, openWorldHint: false },
};
const TOOLS = { tools: [tool('search', SHOWN), tool('delete')] };

const OUTPUT_SCHEMA = {
  type: 'object',
  properties: { found: { type: 'array', items: { type: 'string' } } },
  required: ['found'],
};

let docs: FakeMcpServer;
let shapes: FakeMcpServer;
let gateway: TestGateway;
let management: Management;

beforeAll(async () => {
  docs = await openMcpServer();
  shapes = await openMcpServer({
    tools: () => ({
      tools: [tool('look', { outputSchema: OUTPUT_SCHEMA, annotations: { title: 'A private title' } })],
    }),
  });
  gateway = await openTestGateway({
    server: { cors: { origins: ['https://app.example'] } },
    tools: {
      mcp_servers: {
        docs: { url: docs.url, authorization: OPERATOR_TOKEN, allowed_tools: ['search'] },
        writable: { url: docs.url, description: 'Our files.', workspaces: ['other'] },
        shapes: { url: shapes.url, allowed_tools: ['look'] },
        down: { url: 'http://127.0.0.1:9/mcp' },
      },
    },
  });
  management = managementOf(gateway);
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([docs.close(), shapes.close()]);
});

beforeEach(() => {
  docs.behaviour = { tools: () => TOOLS };
  docs.messages.length = 0;
});

async function withClient<T>(work: (client: Client) => Promise<T>, key = gateway.apiKey): Promise<T> {
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function newKey(members: JsonObject): Promise<{ readonly key: string; readonly hash: string }> {
  const { body } = await management.ask('POST', '/keys', members);
  return { key: body.key, hash: body.data.hash };
}

const search = (key?: string, text = 'hi') =>
  withClient((client) => client.callTool({ name: 'docs__search', arguments: { text } }), key);

const send = (body: object, headers = {}) => gateway.post('/mcp', { jsonrpc: '2.0', ...body }, headers);

describe('POST /mcp, with the official client', () => {
  it('introduces itself and lists the tools of granted servers that can be reached', async () => {
    const { info, tools } = await withClient(async (client) => ({
      info: client.getServerVersion(),
      tools: (await client.listTools()).tools,
    }));
    expect(info).toMatchObject({ name: 'signalbox' });
    expect(tools.map(({ name }) => name)).toContain('docs__search');
    expect(tools.map(({ name }) => name).filter((name) => /delete|writable|down/.test(name))).toEqual([]);
    expect(gateway.logged('an MCP server gave no list of its tools')[0]).toMatchObject({ server: 'down' });
  });

  it('shows title, icons, execution and all annotations of a tool', async () => {
    const { tools } = await withClient((client) => client.listTools());
    expect(tools.find(({ name }) => name === 'docs__search')).toMatchObject(SHOWN);
  });

  it('leaves out what a server runs only as a task, and says so if it is called', async () => {
    const isTask = { execution: { taskSupport: 'required' } };
    const server = await openMcpServer({ tools: () => ({ tools: [tool('now'), tool('later', isTask)] }) });
    const other = await openTestGateway({ tools: { mcp_servers: { work: { url: server.url } } } });
    const ask = async (method: string, params = {}) =>
      (await (await other.post('/mcp', { jsonrpc: '2.0', id: 1, method, params })).json()) as any;
    try {
      const { tools } = (await ask('tools/list')).result;
      const names = tools.map(({ name }: { name: string }) => name);
      expect(names).toContain('work__now');
      expect(names).not.toContain('work__later');
      expect((await ask('tools/call', { name: 'work__later', arguments: {} })).result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('only as a task') }],
      });
    } finally {
      await other.close();
      await server.close();
    }
  });

  it('offers the tools of the gateway that need no model', async () => {
    const { tools } = await withClient((client) => client.listTools());
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['datetime', 'web_fetch', 'files']));
    expect(names.filter((name) => /advisor|subagent|fusion|apply_patch|web_search/.test(name))).toEqual([]);
    const told = await withClient((client) =>
      client.callTool({ name: 'datetime', arguments: { timezone: 'Europe/Berlin' } }),
    );
    expect(told).toMatchObject({
      isError: false,
      content: [{ text: expect.stringContaining('Europe/Berlin') }],
    });
    const wrong = await withClient((client) =>
      client.callTool({ name: 'datetime', arguments: { timezone: 'Moon/Sea' } }),
    );
    expect(wrong.isError).toBe(true);
  });

  it('calls a tool with the credential of the operator', async () => {
    expect(await search()).toMatchObject({ content: [{ type: 'text', text: '{"text":"hi"}' }] });
    expect(docs.messages.at(-1)?.headers.authorization).toBe(`Bearer ${OPERATOR_TOKEN}`);
  });

  it('calls it with the token that the user of the key stored', async () => {
    const { key } = await newKey({ name: 'Ada', creator_user_id: 'ada' });
    const token = { provider: 'mcp:docs', key: OWN_TOKEN, allowed_user_ids: ['ada'] };
    await management.data(201, 'POST', '/byok', token);
    await search(key);
    expect(docs.messages.at(-1)?.headers.authorization).toBe(`Bearer ${OWN_TOKEN}`);
    await search();
    expect(docs.messages.at(-1)?.headers.authorization).toBe(`Bearer ${OPERATOR_TOKEN}`);
  });

  it('reports a failure of the server as the result of the tool', async () => {
    docs.behaviour = { tools: () => TOOLS, call: () => ({ content: [], isError: true }) };
    expect(await search()).toMatchObject({ isError: true });
    docs.behaviour = { tools: () => TOOLS, status: () => 500 };
    const result = await search();
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'the server answered with status 500' }],
    });
  });

  it('refuses tools that are not offered, and arguments that do not fit', async () => {
    await expect(
      withClient((client) => client.callTool({ name: 'docs__delete', arguments: {} })),
    ).rejects.toThrow('there is no tool "docs__delete"');
    const result = await withClient((client) =>
      client.callTool({ name: 'docs__search', arguments: { text: 1 } }),
    );
    expect(result.isError).toBe(true);
    expect(docs.messages.some(({ method }) => method === 'tools/call')).toBe(false);
  });
});

describe('a call', () => {
  const call = (text: string) =>
    send({ id: 1, method: 'tools/call', params: { name: 'docs__search', arguments: { text } } });

  it('is recorded like a generation', async () => {
    const reply = await call('hello');
    const id = reply.headers.get('x-generation-id');
    expect(reply.status).toBe(200);
    const found = await gateway.fetch(`/generation?id=${id}`);
    expect(found.status).toBe(200);
    expect(((await found.json()) as any).data).toMatchObject({
      id,
      model: 'tools/docs__search',
      total_cost: 0,
      finish_reason: 'stop',
      cancelled: false,
    });
  });

  it('is recorded too if its arguments do not fit, and the tool is not run', async () => {
    const params = { name: 'docs__search', arguments: { text: 1 } };
    const reply = await send({ id: 1, method: 'tools/call', params });
    expect(((await reply.json()) as any).result.isError).toBe(true);
    const found = await gateway.fetch(`/generation?id=${reply.headers.get('x-generation-id')}`);
    expect(((await found.json()) as any).data).toMatchObject({
      model: 'tools/docs__search',
      tool_calls: [
        {
          outcome: 'error',
          error: 'the arguments do not fit the schema of the tool: text: must be of type string',
        },
      ],
    });
    expect(docs.messages.some(({ method }) => method === 'tools/call')).toBe(false);
  });

  it('passes the guardrails of its key, which see arguments and results', async () => {
    const { key, hash } = await newKey({ name: 'guarded' });
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'secrets',
      content_filters: [
        { pattern: 'forbidden', action: 'block' },
        { pattern: 'hide-me', action: 'redact', label: 'HIDDEN' },
      ],
    });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
    await expect(search(key, 'forbidden')).rejects.toThrow('blocked by content filter');
    expect(docs.messages.some(({ method }) => method === 'tools/call')).toBe(false);
    expect(await search(key, 'hide-me')).toMatchObject({ content: [{ text: '{"text":"[HIDDEN]"}' }] });
    docs.behaviour = {
      tools: () => TOOLS,
      call: () => ({ content: [{ type: 'text', text: 'found hide-me' }] }),
    };
    expect(await search(key, 'what')).toMatchObject({ content: [{ text: 'found [HIDDEN]' }] });
    docs.behaviour = { tools: () => TOOLS, call: () => ({ content: [{ type: 'text', text: 'forbidden' }] }) };
    await expect(search(key, 'what')).rejects.toThrow('blocked by content filter');
  });

  it('shows no credential anywhere', async () => {
    docs.behaviour = {
      tools: () => TOOLS,
      call: ({ headers }) => ({ content: [{ type: 'text', text: `${headers.authorization}` }] }),
    };
    expect(await (await call('x')).text()).toContain('[redacted]');
    expect(gateway.logText()).not.toContain(OPERATOR_TOKEN);
    expect(gateway.logText()).not.toContain(OWN_TOKEN);
  });
});

describe('results with more than text', () => {
  const IMAGE = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
  const AUDIO = { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' };
  const TEXT = { type: 'text', text: 'see' };

  /** Lists first: then the official client checks results by the schema of the tool. */
  const look = (result: JsonObject, key?: string) => {
    shapes.behaviour = { ...shapes.behaviour, call: () => result };
    return withClient(async (client) => {
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === 'shapes__look')?.outputSchema).toEqual(OUTPUT_SCHEMA);
      return client.callTool({ name: 'shapes__look', arguments: {} });
    }, key);
  };

  it('pass with their images, audio and structured content', async () => {
    const structuredContent = { found: ['a', 'b'] };
    const result = await look({ content: [TEXT, IMAGE, AUDIO], structuredContent });
    expect(result).toMatchObject({ content: [TEXT, IMAGE, AUDIO], structuredContent, isError: false });
  });

  it('pass without media that is malformed, and fail without the structured content that is declared', async () => {
    const structuredContent = { found: [] };
    const content = [{ ...IMAGE, data: '<no base64>' }];
    expect(await look({ content, structuredContent })).toMatchObject({
      content: [{ type: 'text', text: '[image image/png, not text]' }],
    });
    expect(await look({ content: [TEXT] })).toMatchObject({ isError: true });
    const tooLong = { found: ['x'.repeat(200_000)] };
    expect(await look({ content: [TEXT], structuredContent: tooLong })).toMatchObject({ isError: true });
  });

  it('are scanned by guardrails, structured content included', async () => {
    const { key, hash } = await newKey({ name: 'shaped' });
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'shapes',
      content_filters: [
        { pattern: 'forbidden', action: 'block' },
        { pattern: 'hide-me', action: 'redact', label: 'HIDDEN' },
      ],
    });
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
    const found = (text: string) => ({ content: [TEXT, IMAGE, TEXT], structuredContent: { found: [text] } });
    expect(await look(found('a "hide-me"'), key)).toMatchObject({
      content: [TEXT, IMAGE, TEXT],
      structuredContent: { found: ['a "[HIDDEN]"'] },
    });
    await expect(look(found('forbidden'), key)).rejects.toThrow('blocked by content filter');
  });

  it('are listed as guardrails let them pass', async () => {
    const { key, hash } = await newKey({ name: 'listing' });
    const guard = async (content_filters: JsonObject[]) => {
      const { id } = await management.data(201, 'POST', '/guardrails', { name: 'lists', content_filters });
      await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
    };
    const listed = async () => (await withClient((client) => client.listTools(), key)).tools;
    await guard([
      { pattern: 'does look', action: 'redact', label: 'HIDDEN' },
      { pattern: 'docs__search', action: 'redact', label: 'HIDDEN' },
      { pattern: 'private title', action: 'redact', label: 'HIDDEN' },
    ]);
    const tools = await listed();
    expect(tools.find(({ name }) => name === 'shapes__look')).toMatchObject({
      description: '[HIDDEN]',
      inputSchema: tool('look').inputSchema,
      outputSchema: OUTPUT_SCHEMA,
    });
    expect(tools.map(({ name }) => name)).toContain('datetime');
    expect(tools.map(({ name }) => name)).not.toContain('docs__search');
    expect(tools.find(({ name }) => name === 'shapes__look')?.annotations).toEqual({ title: 'A [HIDDEN]' });
    await guard([{ pattern: 'does look', action: 'block' }]);
    await expect(listed()).rejects.toThrow('blocked by content filter');
  });
});

describe('a configured server that hangs', () => {
  let hung: FakeMcpServer;
  let other: TestGateway;

  beforeAll(async () => {
    hung = await openMcpServer({ hangs: true });
    other = await openTestGateway({
      tools: {
        limits: { fetch_ms: 300 },
        mcp_servers: { hung: { url: hung.url }, picky: { url: hung.url, allowed_tools: ['search'] } },
      },
    });
  });
  afterAll(async () => {
    await other.close();
    await hung.close();
  });

  const ask = async (method: string, params = {}) =>
    (await (await other.post('/mcp', { jsonrpc: '2.0', id: 1, method, params })).json()) as any;
  const outages = () => other.logged('an MCP server gave no list of its tools').map(({ server }) => server);

  it('is not asked for calls of the tools of the gateway, nor for tools that it may not offer', async () => {
    const { result } = await ask('tools/call', { name: 'datetime', arguments: {} });
    expect(result.isError).toBe(false);
    const { error } = await ask('tools/call', { name: 'picky__delete', arguments: {} });
    expect(error.code).toBe(-32_602);
    expect(hung.messages).toEqual([]);
  });

  it('is asked once in a while, and logged once', async () => {
    for (let time = 0; time < 3; time++) {
      const { result } = await ask('tools/list');
      expect(result.tools.map(({ name }: { name: string }) => name)).toContain('datetime');
    }
    // Both names have one address and no credential.
    expect(hung.messages.map(({ method }) => method)).toEqual(['initialize']);
    expect(outages()).toHaveLength(1);
    const { result } = await ask('tools/call', { name: 'hung__search', arguments: {} });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'the server gave no list of its tools: the answer took too long' }],
    });
    expect(hung.messages).toHaveLength(1);
    expect(outages()).toHaveLength(1);
  });
});

describe('tools of the gateway', () => {
  const PRICE = 0.005;
  let engine: FakeUpstream;
  let paid: TestGateway;

  beforeAll(async () => {
    engine = await openFakeUpstream();
    const engines = { searxng: { url: engine.url, price_per_search: PRICE } };
    paid = await openTestGateway({
      plugins: { web: { engines } },
      tools: { sandbox: { url: engine.url }, image_generation: { model: 'm/image' } },
      providers: [{ slug: 'chatter', dialect: 'openai-chat', base_url: engine.url }],
      models: [{ id: 'm/image', endpoints: [{ provider: 'chatter' }], output_modalities: ['text', 'image'] }],
    } as never);
  });
  afterAll(async () => {
    await paid.close();
    await engine.close();
  });
  beforeEach(() => engine.clear());

  const searched = async (key = paid.apiKey) => {
    const params = { name: 'web_search', arguments: { query: 'letters' } };
    const reply = await paid.fetch('/mcp', {
      method: 'POST',
      key,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      headers: { 'content-type': 'application/json' },
    });
    const found = await paid.fetch(`/generation?id=${reply.headers.get('x-generation-id')}`, { key });
    return { body: (await reply.json()) as any, record: ((await found.json()) as any).data };
  };
  const results = { results: [{ url: 'https://a.test/', title: 'A', content: 'First.' }] };
  const usageOf = async (key: string) => {
    const { data } = (await (await paid.fetch('/key', { key })).json()) as any;
    return data.usage;
  };

  it('are those that run without a model', async () => {
    const reply = await paid.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const { result } = (await reply.json()) as any;
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([
      'datetime',
      'web_search',
      'web_fetch',
      'experimental__search_models',
      'files',
      'bash',
      'shell',
      'code_interpreter',
    ]);
  });

  it('keep the files of a sandbox for the session that the request names', async () => {
    engine.answer(reply(200, { stdout: 'hi', stderr: '', exit_code: 0 }));
    const params = { name: 'bash', arguments: { command: 'ls' } };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    for (const session of ['s', 's', '']) {
      const headers = { 'x-session-id': session };
      const { result } = (await (await paid.post('/mcp', body, headers)).json()) as any;
      expect(JSON.parse(result.content[0].text)).toMatchObject({ stdout: 'hi' });
    }
    const [first, second, third] = engine.requests.map(({ json }) => json?.session_id);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('charge a search to its key, and stop at the limit of the key', async () => {
    engine.answer(reply(200, results));
    const { body: made } = await managementOf(paid).ask('POST', '/keys', { name: 'k', limit: 2.5 * PRICE });
    const { body, record } = await searched(made.key);
    expect(body.result).toMatchObject({ isError: false });
    expect(record).toMatchObject({
      total_cost: PRICE,
      charges: [{ kind: 'web_search', cost: PRICE }],
      tool_calls: [{ name: 'web_search', outcome: 'ok', cost: PRICE, input_characters: 19 }],
    });
    await searched(made.key);
    expect(await usageOf(made.key)).toBeCloseTo(2 * PRICE, 9);
    const refused = await searched(made.key);
    expect(refused.body.error).toMatchObject({ code: -32_000, data: { code: 402 } });
    expect(engine.requests).toHaveLength(2);
    expect(refused.record).toMatchObject({ total_cost: 0, finish_reason: 'error' });
    expect(await usageOf(made.key)).toBeCloseTo(2 * PRICE, 9);
  });

  it('cost nothing if a search has no answer', async () => {
    engine.answer(reply(500, {}));
    const { body, record } = await searched();
    expect(body.result).toMatchObject({ isError: true });
    expect(record).toMatchObject({ total_cost: 0, charges: [], tool_calls: [{ outcome: 'error', cost: 0 }] });
  });

  it('pass no limit, however many searches run at once', async () => {
    engine.answer(reply(200, results));
    const { body: made } = await managementOf(paid).ask('POST', '/keys', { name: 'k', limit: 3 * PRICE });
    const all = await Promise.all(Array.from({ length: 12 }, () => searched(made.key)));
    expect(all.filter(({ body }) => body.result !== undefined)).toHaveLength(3);
    expect(await usageOf(made.key)).toBeCloseTo(3 * PRICE, 9);
  });
});

describe('the protocol', () => {
  it.each([
    ['GET', 405],
    ['DELETE', 405],
  ])('%s answers %i: there are no sessions and no streams', async (method, status) => {
    const reply = await gateway.fetch('/mcp', { method });
    expect(reply.status).toBe(status);
    expect(reply.headers.get('allow')).toBe('POST');
  });

  it('needs a key, and says of which kind', async () => {
    const reply = await gateway.fetch('/mcp', { method: 'POST', key: null });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each([
    ['{"jsonrpc": "2.0", "id": 1,', -32_700],
    ['', -32_700],
    ['[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32_600],
    ['{"id": 1, "method": "ping"}', -32_600],
  ])('answers the body %j with error %i', async (body, code) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await gateway.fetch('/mcp', { method: 'POST', body, headers });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code, message: expect.any(String) },
    });
  });

  it.each([
    ['2025-06-18', '2025-06-18'],
    ['1999-01-01', '2025-11-25'],
  ])('answers a client of version %s with %s', async (protocolVersion, version) => {
    const reply = await send({ id: 1, method: 'initialize', params: { protocolVersion } });
    expect(((await reply.json()) as any).result.protocolVersion).toBe(version);
  });

  it('has no batches, and says so', async () => {
    const headers = { 'content-type': 'application/json', 'mcp-protocol-version': '2025-03-26' };
    const body = '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]';
    const reply = await gateway.fetch('/mcp', { method: 'POST', body, headers });
    expect(((await reply.json()) as any).error.message).toBe(
      'Batches are not supported: send each message in a request of its own',
    );
  });

  it.each([
    ['https://app.example', undefined, 200],
    ['https://evil.example', undefined, 403],
    ['null', undefined, 403],
    ['http://evil.example', 'evil.example', 403],
    ['http://127.0.0.1:8787', '127.0.0.1:8787', 200],
    ['http://localhost:8787', '127.0.0.1:8787', 403],
  ])('of a page of %s at the host %s answers %i', async (origin, host, status) => {
    const { port } = new URL(gateway.url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        origin,
        authorization: `Bearer ${gateway.apiKey}`,
        'content-type': 'application/json',
        ...(host !== undefined && { host }),
      };
      request({ port, path: '/api/v1/mcp', method: 'POST', headers }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      })
        .on('error', reject)
        .end(body);
    });
    expect(answered).toBe(status);
  });

  describe('the progress of a call', () => {
    const steps = [
      { progress: 1, total: 3, message: 'half of a secret' },
      { progress: 'far' },
      { progress: 3 },
    ];
    const telling = (ending?: JsonObject) => ({
      tools: () => TOOLS,
      call: ({ id, params }: McpMessage, response: ServerResponse) => {
        const { progressToken } = (params._meta ?? {}) as JsonObject;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const write = (message: JsonObject) => void response.write(`data: ${JSON.stringify(message)}\n\n`);
        for (const step of progressToken === undefined ? [] : steps) {
          for (const token of [progressToken, 'another']) {
            const told = { progressToken: token, ...step };
            write({ jsonrpc: '2.0', method: 'notifications/progress', params: told });
          }
        }
        const result = { content: [{ type: 'text', text: JSON.stringify(progressToken ?? 'none') }] };
        write({ jsonrpc: '2.0', id: id ?? 0, ...(ending ?? { result }) });
        response.end();
        return undefined;
      },
    });
    const CALL = { name: 'docs__search', arguments: { text: 'x' } };
    const withToken = { id: 5, method: 'tools/call', params: { ...CALL, _meta: { progressToken: 'mine' } } };

    it('reaches a client that asks for it, as numbers', async () => {
      docs.behaviour = telling();
      const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${gateway.apiKey}` } },
      });
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport);
      const told: unknown[] = [];
      const result = await client.callTool(CALL, { onprogress: (progress) => void told.push(progress) });
      expect(told).toEqual([{ progress: 1, total: 3 }, { progress: 3 }]);
      expect(result.content).toEqual([{ type: 'text', text: expect.stringMatching(/^\d+$/) }]);
      await client.close();
    });

    it('does not go to a client that takes no stream, nor is a server asked for it then', async () => {
      docs.behaviour = telling();
      const reply = await send(withToken, { accept: 'application/json' });
      expect(reply.headers.get('content-type')).toContain('application/json');
      expect(await reply.json()).toMatchObject({ id: 5, result: { content: [{ text: '"none"' }] } });
    });

    it('may end with a failure of the call, in the stream', async () => {
      docs.behaviour = telling({ error: { code: -32_603, message: 'broke' } });
      const reply = await send(withToken, { accept: 'application/json, text/event-stream' });
      const frames = (await reply.text()).split('\n\n').filter((frame) => frame !== '');
      const [first, , last] = frames.map((frame) => JSON.parse(frame.split('\ndata: ')[1] as string));
      expect(first).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress: 1, total: 3 },
      });
      expect(last).toMatchObject({ id: 5, result: { isError: true } });
    });
  });

  it('takes notifications, and refuses unknown methods and versions', async () => {
    expect((await send({ method: 'notifications/initialized' })).status).toBe(202);
    expect(await (await send({ id: 7, method: 'prompts/list' })).json()).toMatchObject({
      id: 7,
      error: { code: -32_601 },
    });
    const old = await send({ id: 1, method: 'ping' }, { 'mcp-protocol-version': '1999-01-01' });
    expect(old.status).toBe(400);
    const newer = await send({ id: 9, method: 'server/discover' }, { 'mcp-protocol-version': '2026-07-28' });
    expect([newer.status, await newer.json()]).toEqual([
      400,
      {
        jsonrpc: '2.0',
        id: 9,
        error: {
          code: -32_022,
          message: expect.stringContaining('Unsupported protocol version: the gateway speaks 2025-11-25'),
          data: { supported: expect.arrayContaining(['2025-11-25']), requested: '2026-07-28' },
        },
      },
    ]);
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${gateway.apiKey}` } },
    });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(transport);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
    expect((await send({ id: 1, method: 'constructor' })).status).toBe(200);
  });
});
