import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply, reset } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

/** Price of a run of the sandbox. Searches are free. */
const PRICE = 0.25;

let service: FakeUpstream;
let gateway: TestGateway;
let manage: Management;

const RESULT = { stdout: 'hi', stderr: '', exit_code: 0, results: [] };

beforeAll(async () => {
  service = await openFakeUpstream();
  gateway = await openTestGateway({
    plugins: { web: { engines: { searxng: { url: service.url, price_per_search: 0 } } } },
    tools: { sandbox: { url: service.url, price_per_run: PRICE } },
    egress: { allow: ['127.0.0.1'] },
    providers: [{ slug: 'chatter', dialect: 'openai-chat', base_url: service.url }],
    models: [
      {
        id: 'm/one',
        endpoints: [{ provider: 'chatter', pricing: { prompt: '0.000001', completion: '0.000001' } }],
      },
    ],
  } as never);
  manage = managementOf(gateway);
});
beforeEach(() => {
  service.clear();
  service.answer(reply(200, RESULT));
});
afterAll(async () => {
  await gateway.close();
  await service.close();
});

async function call(key: string, name: string, given: object) {
  const response = await gateway.fetch('/mcp', {
    method: 'POST',
    key,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
    headers: { 'content-type': 'application/json' },
  });
  const found = await gateway.fetch(`/generation?id=${response.headers.get('x-generation-id')}`, { key });
  return { body: (await response.json()) as any, record: ((await found.json()) as any).data };
}

/** Calls of tools that search, fetch or run code. */
const COSTLY: readonly (readonly [name: string, given: object])[] = [
  ['bash', { command: 'ls' }],
  ['shell', { commands: ['ls'] }],
  ['code_interpreter', { code: 'print(1)' }],
  ['web_search', { query: 'letters' }],
  ['web_fetch', { url: 'http://127.0.0.1:1/' }],
];

/** Calls of tools that cost nothing. */
const FREE: readonly (readonly [name: string, given: object])[] = [
  ['datetime', {}],
  ['files', { operation: 'list' }],
  ['experimental__search_models', { query: 'one' }],
];

describe('a caller whose limits leave nothing', () => {
  const keyOf = async (more: object = {}): Promise<any> =>
    (await manage.ask('POST', '/keys', { name: 'k', ...more })).body;

  /** Keys with enough for one run, and the status that a model answers when that is spent. */
  const LIMITED: Readonly<Record<string, { readonly status: number; key(): Promise<string> }>> = {
    'the limit of the key': { status: 402, key: async () => (await keyOf({ limit: PRICE })).key },
    'the budget of the workspace': {
      status: 403,
      key: async () => {
        const { id } = await manage.data(201, 'POST', '/workspaces', { name: 'w', slug: 'w' });
        await manage.data(200, 'PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: PRICE });
        return (await keyOf({ workspace_id: id })).key;
      },
    },
    'the budget of a guardrail': {
      status: 403,
      key: async () => {
        const budget = { limit_usd: PRICE, reset_interval: 'daily' };
        const { id } = await manage.data(201, 'POST', '/guardrails', { name: 'g', ...budget });
        const { key, data } = await keyOf();
        await manage.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [data.hash] });
        return key;
      },
    },
    'the balance of the account': {
      status: 402,
      key: async () => {
        const other = await manage.command('accounts.create', { name: 'poor' });
        await manage.command('credits.set', { account: 'poor', left: String(PRICE) });
        return (await manage.ask('POST', '/keys', { name: 'k' }, other.management_key)).body.key;
      },
    },
  };

  const askModel = (key: string) =>
    gateway.fetch('/chat/completions', {
      method: 'POST',
      key,
      body: JSON.stringify({ model: 'm/one', messages: [{ role: 'user', content: 'x' }] }),
      headers: { 'content-type': 'application/json' },
    });

  it.each(Object.entries(LIMITED))(
    'by %s may use only tools that cost nothing',
    async (_, { status, key: make }) => {
      const key = await make();
      const { body: ran, record: paid } = await call(key, 'bash', { command: 'ls' });
      expect(ran.result).toMatchObject({ isError: false });
      expect(paid).toMatchObject({
        total_cost: PRICE,
        charges: [{ kind: 'tool', cost: PRICE }],
        tool_calls: [{ name: 'bash', outcome: 'ok', cost: PRICE }],
      });
      for (const [name, given] of COSTLY) {
        const { body, record } = await call(key, name, given);
        expect(body.error, name).toMatchObject({ code: -32_000, data: { code: status } });
        expect(record, name).toMatchObject({ total_cost: 0, finish_reason: 'error', tool_calls: [] });
      }
      expect(service.requests).toHaveLength(1);
      for (const [name, given] of FREE) {
        expect((await call(key, name, given)).body.result, name).toMatchObject({ isError: false });
      }
      expect((await askModel(key)).status).toBe(status);
    },
  );

  it('gets no further than its limit, however many runs race', async () => {
    const { key } = await keyOf({ limit: 3.5 * PRICE });
    const runs = await Promise.all(Array.from({ length: 12 }, () => call(key, 'bash', { command: 'ls' })));
    expect(runs.filter(({ body }) => body.result !== undefined)).toHaveLength(3);
    expect(service.requests).toHaveLength(3);
  });
});

describe('a run of the sandbox', () => {
  const price = async () => (await call(gateway.apiKey, 'bash', { command: 'ls' })).record.total_cost;

  it('costs nothing if the service answers with an error', async () => {
    service.clear();
    service.answer(reply(503, {}));
    expect(await price()).toBe(0);
  });

  it.each([
    ['its answer is not understood', reply(200, 'what?')],
    ['it breaks off', [reset()]],
  ])('costs its price if %s, because it may have run', async (_, script) => {
    service.clear();
    service.answer(script);
    expect(await price()).toBe(PRICE);
  });

  it('is paid for by each command of a shell, until the limit leaves too little', async () => {
    const { key } = (await manage.ask('POST', '/keys', { name: 'k', limit: 2.5 * PRICE })).body;
    const { body, record } = await call(key, 'shell', { commands: ['a', 'b', 'c', 'd'] });
    expect(body.result).toMatchObject({ isError: true });
    expect(body.result.content[0].text).toContain('does not pay for a run');
    expect(record).toMatchObject({ total_cost: 2 * PRICE, tool_calls: [{ cost: 2 * PRICE }] });
    expect(service.requests.map(({ json }) => json.code)).toEqual(['a', 'b']);
  });

  it('is charged in the loop of a model as well', async () => {
    service.clear();
    service.answer(chatAnswer({ tools: [{ name: 'bash', arguments: '{"command":"ls"}', id: 'c' }] }));
    service.answer(reply(200, RESULT));
    service.answer(chatAnswer({ text: 'Done.' }));
    const tools = [{ type: 'signalbox:bash' }];
    const response = await gateway.post('/responses', { model: 'm/one', input: 'x', tools });
    expect(response.status).toBe(200);
    const { usage } = (await response.json()) as any;
    expect(usage.cost).toBeGreaterThan(PRICE);
    const found = await gateway.fetch(`/generation?id=${response.headers.get('x-generation-id')}`);
    expect(((await found.json()) as any).data).toMatchObject({
      charges: [{ kind: 'tool', cost: PRICE }],
      tool_calls: [{ name: 'bash', cost: PRICE }],
    });
  });
});
