import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { responsesBody, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  SSE,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { searchingWith } from './search-engine.ts';
import { openToolGateway, PATHS, type ToolGateway, type ToolModel, textOf } from './tool-gateway.ts';

/** Tools that items of `input` declare, on /responses before upstreams of three dialects. */

const MODELS = ['m/chat', 'm/responses', 'm/messages'] as const;

let tools: ToolGateway;
let engine: FakeUpstream;
let docs: FakeMcpServer;

beforeAll(async () => {
  engine = await openFakeUpstream();
  docs = await openMcpServer();
  tools = await openToolGateway({
    ...searchingWith(engine),
    egress: { allow: [`127.0.0.1:${engine.port}`, `127.0.0.1:${docs.port}`] },
  });
});
beforeEach(() => {
  tools.upstream.clear();
  engine.clear();
  docs.messages.length = 0;
  docs.behaviour = { tools: () => ({ tools: [tool('search')], ttlMs: 0 }) };
});
afterAll(async () => {
  await tools.close();
  await engine.close();
  await docs.close();
});

const user = { role: 'user', content: 'What is it?' };
const F = {
  type: 'function',
  name: 'f',
  description: null,
  parameters: { type: 'object', properties: {} },
  strict: false,
};
const G = { ...F, name: 'g' };
const mcpOf = ({ url }: FakeMcpServer) => ({
  type: 'mcp',
  server_label: 'docs',
  server_url: url,
  require_approval: 'never',
});
const added = (...declared: object[]) => ({ type: 'additional_tools', role: 'developer', tools: declared });
const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input), id: 'call_a' });
const sent = (index = 0) => tools.upstream.requests[index]?.json as any;

/** Names of the functions that the upstream got, in tools and in items. */
function namesSent(index = 0): string[] {
  const { tools: declared = [], input = [] } = sent(index);
  const ofItems = (Array.isArray(input) ? input : []).flatMap((item: any) => item.tools ?? []);
  return [...declared, ...ofItems].map((each: any) => each.function?.name ?? each.name ?? each.type);
}

async function ask(model: ToolModel, body: object) {
  const { status, body: answer } = await tools.ask('/responses', model, { store: false, ...body });
  expect(status, JSON.stringify(answer)).toBe(200);
  return answer;
}

const entriesOf = ({ signalbox_metadata }: any): string[] =>
  (signalbox_metadata.translation ?? []).map(({ field, action }: any) => `${field} ${action}`);

describe.each(MODELS)('tools of additional_tools before %s', (model) => {
  it('of the gateway run between two legs', async () => {
    tools.answers(model, { tools: [call('datetime', {})] }, { text: 'Noon.' });
    const clock = { type: 'signalbox:datetime', parameters: { timezone: 'Europe/Berlin' } };
    const answer = await ask(model, { input: [user, added(clock, F)] });
    expect(textOf['/responses'](answer)).toBe('Noon.');
    expect(answer.output.map(({ type }: any) => type)).toEqual(['signalbox:datetime', 'message']);
    expect(namesSent().toSorted()).toEqual(['datetime', 'f']);
    expect(JSON.stringify([sent(0), sent(1)])).not.toContain('signalbox:');
    expect(JSON.stringify(sent(1))).toContain('Europe/Berlin');
  });

  it('of an MCP server are called there', async () => {
    tools.answers(model, { tools: [call('docs__search', { text: 'hi' })] }, { text: 'Found.' });
    const server = {
      type: 'mcp',
      server_label: 'docs',
      server_url: docs.url,
      authorization: 'token-of-the-caller',
      require_approval: 'never',
    };
    // Beside a tool of the gateway, which upstreams cannot run.
    const answer = await ask(model, { input: [user, added(server, { type: 'signalbox:datetime' })] });
    expect(answer.output.map(({ type }: any) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(docs.messages.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
    expect(namesSent().toSorted()).toEqual(['datetime', 'docs__search']);
    expect(JSON.stringify(sent())).not.toMatch(/token-of-the-caller|server_url/);
  });

  it('of other vendors are dropped with an entry, from tools too', async () => {
    tools.answers(model, { text: 'Hm.' });
    const answer = await ask(model, {
      input: [user, added({ type: 'acme:search' }, F), added({ type: 'acme:clock' })],
      tools: [{ type: 'acme:oracle' }],
      tool_choice: { type: 'acme:oracle' },
    });
    expect(namesSent()).toEqual(['f']);
    expect(JSON.stringify(sent())).not.toContain('acme:');
    expect(entriesOf(answer)).toEqual(
      expect.arrayContaining([
        'tools[0] dropped',
        'input[1].tools[0] dropped',
        'input[2].tools[0] dropped',
        'tool_choice dropped',
      ]),
    );
  });

  it('are not offered twice', async () => {
    tools.answers(model, { text: 'Hm.' });
    const clock = { type: 'signalbox:datetime' };
    await ask(model, { input: [user, added(clock, F), added(F)], tools: [clock, F] });
    expect(namesSent().filter((name) => name === 'datetime')).toHaveLength(1);
    const declared = (sent().tools as any[]).map((each) => each.function?.name ?? each.name);
    expect(declared.toSorted()).toEqual(['datetime', 'f']);
  });

  it('are checked like those of tools', async () => {
    const cases = [
      ['signalbox:nothing', {}, 'input[1].tools[0].type'],
      ['signalbox:datetime', { parameters: { timezone: 5 } }, 'input[1].tools[0].parameters.timezone'],
    ] as const;
    for (const [type, more, path] of cases) {
      const { status, body } = await tools.ask('/responses', model, {
        input: [user, added({ type, ...more })],
      });
      expect(status).toBe(400);
      expect(body.error.metadata.issues).toMatchObject([{ path }]);
    }
    expect(tools.upstream.requests).toEqual([]);
  });

  it('that a search among tools has found can be called', async () => {
    tools.answers(model, { tools: [call('f', {})] });
    const search = [
      {
        type: 'tool_search_call',
        call_id: 's1',
        execution: 'client',
        arguments: { query: 'f' },
        status: 'completed',
      },
      { type: 'tool_search_output', call_id: 's1', execution: 'client', tools: [F], status: 'completed' },
    ];
    const answer = await ask(model, { input: [user, ...search] });
    expect(namesSent()).toEqual(['f']);
    expect(answer.output.at(-1)).toMatchObject({ type: 'function_call', name: 'f' });
  });

  it('that a search among tools has found are not run by the gateway, and no credential is shown', async () => {
    tools.answers(model, { text: 'Hm.' });
    const server = {
      type: 'mcp',
      server_label: 'found',
      server_url: 'http://127.0.0.1:9/mcp',
      authorization: 'secret-of-the-caller',
      headers: { 'x-key': 'other-secret' },
      require_approval: 'never',
    };
    const found = { type: 'tool_search_output', call_id: 's1', status: 'completed', tools: [server, F] };
    const call = { type: 'tool_search_call', call_id: 's1', arguments: {}, status: 'completed' };
    const answer = await ask(model, { input: [user, call, { ...found, execution: 'server' }] });
    // An upstream of the same format gets the item of such an upstream as it was.
    expect(namesSent()).toEqual(model === 'm/responses' ? ['mcp', 'f'] : ['f']);
    expect(answer.output.map(({ type }: any) => type)).toEqual(['message']);
    if (model !== 'm/responses') expect(JSON.stringify(sent())).not.toMatch(/secret/);
  });
});

it('of the provider that a search among tools has found are not sent, since they have no price', async () => {
  tools.answers('m/responses', { text: 'Hm.' });
  const group = { type: 'namespace', name: 'n', description: 'd', tools: [{ type: 'web_search' }, F] };
  const hosted = [{ type: 'web_search' }, { type: 'novel_search' }, { type: 'signalbox:datetime' }];
  const call = { type: 'tool_search_call', call_id: 's1', execution: 'client', arguments: {} };
  const found = {
    type: 'tool_search_output',
    call_id: 's1',
    execution: 'client',
    tools: [...hosted, group, G],
  };
  const answer = await ask('m/responses', { input: [user, call, found] });
  expect(sent().input[2].tools).toEqual([{ ...group, tools: [F] }, G]);
  expect(entriesOf(answer)).toEqual([0, 1, 2, '3].tools[0'].map((at) => `input[2].tools[${at}] dropped`));
});

/** Tools that an upstream writes into its answer to have the gateway run them. */
const SMUGGLED = [
  { type: 'signalbox:datetime' },
  { type: 'signalbox:nothing' },
  { type: 'acme:search' },
  { type: 'web_search', max_results: 'many' },
  { type: 'mcp' },
  { type: 'namespace', name: 'n', tools: [{ type: 'web_search' }, F] },
  { type: 'function', parameters: 'none' },
  { type: 'custom', name: '' },
];

describe('tools that an upstream writes into its answer', () => {
  const item = () => ({ ...added(...SMUGGLED, G, mcpOf(docs)), id: 'at_1' });
  const group = { type: 'namespace', name: 'n', tools: [F] };
  const answering = () => {
    const body = responsesBody({ text: 'Hm.' });
    const output = [item(), ...body.output];
    const events = [
      { type: 'response.created', response: { ...body, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: item() },
      { type: 'response.output_item.done', output_index: 0, item: item() },
      { type: 'response.completed', response: { ...body, output } },
    ];
    const frames = events.map((data) => ({ event: data.type, data }));
    tools.upstream.answer(({ json }) =>
      json.stream === true
        ? [head(200, SSE), write(sse(frames)), end()]
        : [head(200, JSON_TYPE), write(JSON.stringify({ ...body, output })), end()],
    );
  };

  it.each([
    ['relayed', {}],
    ['translated', { tools: [{ type: 'signalbox:datetime' }] }],
  ])('are shown only if the caller runs them: %s', async (_, more) => {
    answering();
    const body = await ask('m/responses', { input: [user], ...more });
    expect(body.output[0]).toEqual({ ...item(), tools: [group, G] });
    const frames = await tools.stream('/responses', 'm/responses', { input: [user], ...more });
    const shown = frames.flatMap(({ data }) => [data.item, ...(data.response?.output ?? [])]);
    const items = shown.filter((each) => each?.type === 'additional_tools');
    expect(items).toHaveLength(3);
    for (const each of items) expect(each.tools).toEqual([group, G]);
  });

  it.each(MODELS)('are not run if they come back as they were, before %s', async (model) => {
    tools.answers(model, { text: 'Hm.' });
    const answer = await ask(model, { input: [user, item()] });
    expect(answer.output.map(({ type }: any) => type)).toEqual(['message']);
    const dropped = [0, 1, 2, 3, 4, '5].tools[0', 6, 7, 9].map((at) => `input[1].tools[${at}] dropped`);
    expect(entriesOf(answer).filter((entry) => entry.endsWith('dropped'))).toEqual(dropped);
    expect(docs.messages).toEqual([]);
    const left = model === 'm/responses' ? ['n', 'g'] : ['n__f', 'g'];
    expect(namesSent()).toEqual(left);
    if (model === 'm/responses') expect(sent().input[1].tools).toEqual([group, G]);
  });
});

describe('web_search of additional_tools', () => {
  it.each(['m/chat', 'm/messages'] as const)('is run by the engine before %s', async (model) => {
    const page = { url: 'https://words.test/today', title: 'Words', content: 'The word is heliotrope.' };
    engine.answer(reply(200, { results: [page] }));
    tools.answers(model, { tools: [call('web_search', { query: 'word' })] }, { text: 'Heliotrope.' });
    const answer = await ask(model, { input: [user, added({ type: 'web_search' })] });
    expect(answer.output.map(({ type }: any) => type)).toEqual(['web_search_call', 'message']);
    expect(JSON.stringify(sent(1))).toContain('heliotrope');
    expect(entriesOf(answer).filter((entry) => entry.includes('dropped'))).toEqual([]);
  });

  it('stays in its item at an upstream that runs it', async () => {
    tools.answers('m/responses', { text: 'Hm.' });
    const item = added({ type: 'web_search' }, F);
    await ask('m/responses', { input: [user, item] });
    expect(sent().input[1]).toEqual(item);
    expect(sent().tools).toBeUndefined();
  });
});

describe.each(PATHS)('a tool of another vendor on %s', (path) => {
  it('goes to no upstream, not even in the relay lane', async () => {
    for (const model of MODELS) {
      tools.upstream.clear();
      tools.answers(model, { text: 'Hm.' });
      const { status, body } = await tools.ask(path, model, { tools: [{ type: 'acme:oracle' }] });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(sent().tools).toBeUndefined();
      expect(entriesOf(body)).toContain('tools[0] dropped');
    }
  });
});
