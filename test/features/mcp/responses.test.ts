import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, never, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';
import { openToolGateway, type ToolGateway, type ToolModel } from '../tools/tool-gateway.ts';

const TOKEN = 'bearer-token-of-the-caller';
const HEADER = 'value-of-a-secret-header';

let toolGateway: ToolGateway;
let upstream: FakeUpstream;
let docs: FakeMcpServer;
let gateway: TestGateway;
let server: JsonObject;

beforeAll(async () => {
  docs = await openMcpServer();
  toolGateway = await openToolGateway({
    egress: { allow: [`127.0.0.1:${docs.port}`] },
    tools: {
      mcp_servers: {
        ours: { url: docs.url, authorization: 'token-of-the-operator', description: 'Our pages.' },
        hidden: { url: docs.url, keys: ['0'.repeat(64)] },
      },
    },
  });
  ({ gateway, upstream } = toolGateway);
  server = {
    type: 'mcp',
    server_label: 'docs',
    server_url: docs.url,
    authorization: TOKEN,
    headers: { 'x-secret': HEADER },
    require_approval: 'never',
  };
});

afterAll(async () => {
  await toolGateway.close();
  await docs.close();
});

beforeEach(() => {
  upstream.clear();
  docs.messages.length = 0;
  docs.behaviour = { tools: () => ({ tools: [tool('search'), tool('delete')], ttlMs: 0 }) };
});

const answers: ToolGateway['answers'] = (...given) => toolGateway.answers(...given);

const CALL = { name: 'docs__search', arguments: '{"text":"hi"}', id: 'call_a' };
const TWO_LEGS = [{ tools: [CALL] }, { text: 'Found it.' }] as const;

async function ask(more: JsonObject = {}, model: ToolModel = 'm/chat', path = '/responses') {
  const response = await gateway.post(
    path,
    { model, input: 'Look it up.', tools: [server], ...more },
    { 'x-signalbox-metadata': 'enabled' },
  );
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text, headers: response.headers };
}

const bodies = () => upstream.requests.map(({ json }) => json as any);
const calls = () => docs.messages.filter(({ method }) => method === 'tools/call');

describe('tools of an MCP server on /responses', () => {
  it.each(['m/chat', 'm/messages'] as const)('run between two legs of %s', async (model) => {
    answers(model, ...TWO_LEGS);
    const { status, body } = await ask({}, model);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.output.map(({ type }: any) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    const [list, call] = body.output;
    expect(list).toEqual({
      id: expect.stringMatching(/^mcpl_/),
      type: 'mcp_list_tools',
      server_label: 'docs',
      tools: [
        { name: 'search', description: 'does search', input_schema: tool('search').inputSchema },
        { name: 'delete', description: 'does delete', input_schema: tool('delete').inputSchema },
      ],
    });
    expect(call).toEqual({
      id: expect.stringMatching(/^mcp_/),
      type: 'mcp_call',
      status: 'completed',
      server_label: 'docs',
      name: 'search',
      arguments: '{"text":"hi"}',
      output: '{"text":"hi"}',
      error: null,
    });
    const [first, second] = bodies().map((sent) => JSON.stringify(sent));
    expect(first).toContain('docs__search');
    expect(first).not.toContain('server_url');
    expect(second).toContain('call_a');
    expect(calls()[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-secret': HEADER });
  });

  it('stream as the official client reads them', async () => {
    answers('m/chat', ...TWO_LEGS);
    const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey });
    const stream = client.responses.stream({
      model: 'm/chat',
      input: 'Look it up.',
      tools: [server as never],
      store: false,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe('Found it.');
    expect(final.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(types.filter((type) => type.includes('mcp'))).toEqual([
      'response.mcp_list_tools.in_progress',
      'response.mcp_list_tools.completed',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
    ]);
  });

  it('number items and events without gaps', async () => {
    answers('m/chat', ...TWO_LEGS);
    const events = await readEvents(
      await gateway.post('/responses', { model: 'm/chat', input: 'x', tools: [server], stream: true }),
    );
    const numbers = events.flatMap(({ data }) => data.sequence_number ?? []);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    const added = events.filter(({ data }) => data.type === 'response.output_item.added');
    expect(added.map(({ data }) => [data.output_index, data.item.type])).toEqual([
      [0, 'mcp_list_tools'],
      [1, 'mcp_call'],
      [2, 'message'],
    ]);
    expect(added[1]?.data.item).toMatchObject({ arguments: '', server_label: 'docs', name: 'search' });
  });

  it('are those that allowed_tools names', async () => {
    answers('m/chat', { text: 'No.' });
    const { body } = await ask({ tools: [{ ...server, allowed_tools: ['search'] }] });
    expect(body.output[0].tools.map(({ name }: any) => name)).toEqual(['search']);
    expect(bodies()[0].tools.map((each: any) => each.function.name)).toEqual(['docs__search']);
  });

  it('go on without a server that is down', async () => {
    docs.behaviour = { status: () => 503 };
    answers('m/chat', { text: 'Without it.' });
    const { status, body } = await ask({ tools: [{ ...server, server_url: `${docs.url}?down` }] });
    expect(status).toBe(200);
    expect(body.output[0]).toMatchObject({
      type: 'mcp_list_tools',
      tools: [],
      error: 'the server answered with status 503',
    });
    expect(body.output[1].content[0].text).toBe('Without it.');
    expect(bodies()[0].tools).toBeUndefined();
  });

  it('have an output of null if they are not run', async () => {
    answers('m/chat', { tools: [{ ...CALL, arguments: '{"text":1}' }] }, { text: 'It did not work.' });
    const { body } = await ask();
    expect(body.output[1]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null });
    expect(calls()).toEqual([]);
  });

  it('give the model an error if they fail', async () => {
    docs.behaviour = {
      ...docs.behaviour,
      call: () => ({ isError: true, content: [{ type: 'text', text: 'no' }] }),
    };
    answers('m/chat', ...TWO_LEGS);
    const { body } = await ask();
    expect(body.output[1]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null, error: 'no' });
    expect(JSON.stringify(bodies()[1])).toContain('"no"');
  });

  it('are those of a configured server by its label alone', async () => {
    answers('m/chat', { tools: [{ ...CALL, name: 'ours__search' }] }, { text: 'Found it.' });
    const tools = [{ type: 'mcp', server_label: 'ours', require_approval: 'never' }];
    const { body } = await ask({ tools });
    expect(body.output[1]).toMatchObject({ type: 'mcp_call', server_label: 'ours', name: 'search' });
    expect(JSON.stringify(bodies()[0])).toContain('Our pages.');
    expect(calls()[0]?.headers.authorization).toBe('Bearer token-of-the-operator');
  });

  it.each([
    [{ type: 'mcp', server_label: 'unknown' }, 'tools[0].server_label'],
    [{ type: 'mcp', server_label: 'hidden' }, 'tools[0].server_label'],
    [{ type: 'mcp', server_label: 'x', server_url: 'ftp://a' }, 'tools[0].server_url'],
  ])('are refused for %j', async (asked, path) => {
    const { status, body } = await ask({ tools: [asked] });
    expect(status).toBe(400);
    expect(body.error.message).toContain(path);
  });

  it('are refused for two servers of one label', async () => {
    const { status, body } = await ask({ tools: [server, server] });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('tools[1].server_label')]);
  });

  it('have names of their own, also if those of two servers are joined to the same text', async () => {
    docs.behaviour = { tools: () => ({ tools: [tool('b__t'), tool('t')], ttlMs: 0 }) };
    const call = { name: 'a__b__t_server_2', arguments: '{"text":"hi"}', id: 'call_a' };
    answers('m/chat', { tools: [call] }, { text: 'Found it.' });
    const { body } = await ask({
      tools: [
        { ...server, server_label: 'a', allowed_tools: ['b__t'] },
        { ...server, server_label: 'a__b', allowed_tools: ['t'] },
      ],
    });
    const names = bodies()[0].tools.map((each: any) => each.function.name);
    expect(names).toEqual(['a__b__t', 'a__b__t_server_2']);
    expect(body.output[2]).toMatchObject({ type: 'mcp_call', server_label: 'a__b', name: 't' });
    expect(calls().map(({ params }: any) => params.name)).toEqual(['t']);
  });

  it('may not be at a private address that a caller names', async () => {
    answers('m/chat', { text: 'Without it.' });
    const { body } = await ask({ tools: [{ ...server, server_url: 'http://10.0.0.1/mcp' }] });
    expect(body.output[0]).toMatchObject({ type: 'mcp_list_tools', error: expect.stringContaining('URL') });
  });

  it('can be chosen', async () => {
    answers('m/chat', { tools: [CALL] }, { text: 'Found it.' });
    await ask({ tool_choice: { type: 'mcp', server_label: 'docs', name: 'search' } });
    expect(bodies()[0].tool_choice).toEqual({ type: 'function', function: { name: 'docs__search' } });
    expect(bodies()[1].tool_choice).not.toEqual(bodies()[0].tool_choice);
  });

  it('can be chosen all together', async () => {
    answers('m/chat', { tools: [CALL] }, { text: 'Found it.' });
    await ask({ tool_choice: { type: 'mcp' } });
    expect(bodies()[0].tool_choice).toEqual({
      type: 'allowed_tools',
      allowed_tools: {
        mode: 'required',
        tools: ['search', 'delete'].map((name) => ({
          type: 'function',
          function: { name: `docs__${name}` },
        })),
      },
    });
  });

  it.each(['m/chat', 'm/responses'] as const)(
    'of a server that is down are no choice, on %s',
    async (model) => {
      const tools = [{ ...server, server_url: 'http://10.0.0.1/mcp' }, { type: 'signalbox:datetime' }];
      const hosted = { type: 'mcp', server_label: 'docs' };
      for (const choice of [
        hosted,
        { type: 'mcp' },
        { type: 'allowed_tools', mode: 'auto', tools: [hosted] },
      ]) {
        upstream.clear();
        answers(model, { text: 'Without it.' });
        const { status, body } = await ask({ tools, tool_choice: choice }, model);
        expect(status).toBe(200);
        expect(bodies()[0].tool_choice).toBeUndefined();
        expect(body.signalbox_metadata.translation).toContainEqual(
          expect.objectContaining({ field: 'tool_choice', action: 'dropped' }),
        );
      }
    },
  );

  it('are left to an upstream of the same format', async () => {
    upstream.answer(responsesAnswer({ text: 'By itself.' }));
    const { status } = await ask({}, 'm/responses');
    expect(status).toBe(200);
    expect(bodies()[0].tools[0]).toMatchObject({ type: 'mcp', server_url: docs.url, authorization: TOKEN });
    expect(docs.messages).toEqual([]);
  });

  it('are shown with title and annotations, without those that run only as tasks', async () => {
    answers('m/chat', { text: 'a' });
    const shown = { title: 'Find pages', annotations: { readOnlyHint: true, destructiveHint: false } };
    const slow = tool('slow', { execution: { taskSupport: 'required' } });
    docs.behaviour = { tools: () => ({ tools: [tool('search', shown), slow], ttlMs: 0 }) };
    const { body } = await ask();
    expect(body.output[0].tools).toEqual([
      { name: 'search', description: 'does search', input_schema: tool('search').inputSchema, ...shown },
    ]);
    expect(body.signalbox_metadata.pipeline).toContainEqual(
      expect.objectContaining({ type: 'server_tools', data: { server_label: 'docs', task_tools: ['slow'] } }),
    );
  });

  it('flag a changed description', async () => {
    answers('m/chat', { text: 'a' }, { text: 'b' });
    await ask();
    docs.behaviour = { tools: () => ({ tools: [tool('search', { description: 'steal' })], ttlMs: 0 }) };
    const { body } = await ask();
    expect(body.signalbox_metadata.pipeline).toContainEqual(
      expect.objectContaining({
        type: 'server_tools',
        name: 'mcp',
        data: { server_label: 'docs', changed_tools: ['search'] },
      }),
    );
    const [line] = gateway.logged('an MCP server has changed the description of tools');
    expect(line).toMatchObject({ server: 'docs', tools: ['search'] });
  });
});

describe('credentials', () => {
  it('are in no answer, prompt, log line or record', async () => {
    docs.behaviour = {
      ...docs.behaviour,
      call: ({ headers }) => ({
        content: [{ type: 'text', text: `${headers.authorization} ${headers['x-secret']}` }],
      }),
    };
    answers('m/chat', ...TWO_LEGS);
    const { text, body, headers } = await ask();
    const record = await (await gateway.fetch(`/generation?id=${headers.get('x-generation-id')}`)).text();
    expect(body.tools).toEqual([
      { type: 'mcp', server_label: 'docs', server_url: docs.url, require_approval: 'never' },
    ]);
    for (const place of [text, JSON.stringify(bodies()), gateway.logText(), record]) {
      expect(place).not.toContain(TOKEN);
      expect(place).not.toContain(HEADER);
    }
  });
});

describe('guardrails', () => {
  it('see the results of tools before the model and the caller do', async () => {
    const management = managementOf(gateway);
    const made = await management.ask('POST', '/keys', { name: 'guarded' });
    const { id } = await management.data(201, 'POST', '/guardrails', {
      name: 'secrets',
      content_filters: [
        { pattern: 'forbidden', action: 'block' },
        { pattern: 'hide-me', action: 'redact', label: 'HIDDEN' },
      ],
    });
    const key_hashes = [made.body.data.hash];
    await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes });
    const said = async (text: string) => {
      docs.behaviour = { ...docs.behaviour, call: () => ({ content: [{ type: 'text', text }] }) };
      upstream.clear();
      answers('m/chat', ...TWO_LEGS);
      const body = { model: 'm/chat', input: 'Look it up.', tools: [server] };
      const response = await gateway.fetch('/responses', {
        method: 'POST',
        key: made.body.key,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
      return response.text();
    };
    expect(await said('found hide-me')).toContain('found [HIDDEN]');
    expect(JSON.stringify(bodies()[1])).toContain('found [HIDDEN]');
    expect(JSON.stringify(bodies()[1])).not.toContain('hide-me');
    expect(await said('found forbidden')).not.toContain('found forbidden');
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('a request', () => {
  it('names at most 20 servers', async () => {
    const tools = Array.from({ length: 21 }, (_, index) => ({ ...server, server_label: `docs${index}` }));
    const { status, body } = await ask({ tools });
    expect(status).toBe(400);
    expect(body.error.message).toContain('at most 20 MCP servers');
    expect(docs.messages).toEqual([]);
  });

  it('cannot set the headers of the protocol', async () => {
    answers('m/chat', { text: 'Hello.' });
    const headers = { 'Mcp-Session-Id': 'theirs', 'CONTENT-TYPE': 'text/plain', 'X-Own': 'yes' };
    await ask({ tools: [{ ...server, headers }] });
    const [first] = docs.messages;
    expect(first?.headers).toMatchObject({ 'content-type': 'application/json', 'x-own': 'yes' });
    expect(first?.headers).not.toHaveProperty('mcp-session-id');
  });
});

describe('approval', () => {
  const asking = () => ({ ...server, require_approval: 'always' });

  async function askFirst(): Promise<{ readonly output: any[]; readonly request: any }> {
    answers('m/chat', { tools: [CALL] });
    const { status, body } = await ask({ tools: [asking()] });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.status).toBe('completed');
    upstream.clear();
    return { output: body.output, request: body.output[1] };
  }

  it('is asked for unless the request says otherwise', async () => {
    const { output, request } = await askFirst();
    expect(output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_approval_request']);
    expect(request).toEqual({
      id: expect.stringMatching(/^mcpr_/),
      type: 'mcp_approval_request',
      server_label: 'docs',
      name: 'search',
      arguments: '{"text":"hi"}',
    });
    expect(calls()).toEqual([]);
  });

  it('counts as no call that was executed', async () => {
    answers('m/chat', { tools: [CALL] });
    const { body } = await ask({ tools: [asking()] });
    expect(body.usage.server_tool_use_details).toMatchObject({
      tool_calls_requested: 1,
      tool_calls_executed: 0,
    });
  });

  it('is asked for whatever the arguments are', async () => {
    answers('m/chat', { tools: [{ ...CALL, arguments: '{"text":1}' }] });
    const { body } = await ask({ tools: [asking()] });
    expect(body.output[1]).toMatchObject({ type: 'mcp_approval_request', arguments: '{"text":1}' });
    expect(upstream.requests).toHaveLength(1);
  });

  const answering = (output: readonly any[], approve: boolean, more = {}) => [
    { role: 'user', content: 'Look it up.' },
    ...output,
    { type: 'mcp_approval_response', approval_request_id: output[1].id, approve, ...more },
  ];

  it('lets the call run before the model is asked again', async () => {
    const { output, request } = await askFirst();
    answers('m/chat', { text: 'Found it.' });
    const { body } = await ask({ tools: [asking()], input: answering(output, true) });
    expect(body.output.map(({ type }: any) => type)).toEqual(['mcp_call', 'message']);
    expect(body.output[0]).toMatchObject({
      type: 'mcp_call',
      status: 'completed',
      approval_request_id: request.id,
      output: '{"text":"hi"}',
    });
    const sent = bodies()[0].messages;
    expect(sent.map(({ role }: any) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(sent[2].content).toContain('hi');
  });

  it('needs no request for approval beside it if that was given to this key', async () => {
    const { output, request } = await askFirst();
    answers('m/chat', { text: 'Found it.' });
    const approval = answering(output, true).at(-1);
    const input = [{ role: 'user', content: 'Look it up.' }, approval];
    const { status, body } = await ask({ tools: [asking()], store: false, input });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.output.map(({ type }: any) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(body.output[1]).toMatchObject({ approval_request_id: request.id, output: '{"text":"hi"}' });
    expect(bodies()[0].messages.map(({ role }: any) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(JSON.stringify(bodies())).not.toContain('gateway_request');
  });

  const recordOf = async (headers: Headers) => {
    const found = await gateway.fetch(`/generation?id=${headers.get('x-generation-id')}`);
    return ((await found.json()) as any).data;
  };

  it('puts the call into the record, with its time and outcome', async () => {
    const { output } = await askFirst();
    answers('m/chat', { text: 'Found it.' });
    const { headers } = await ask({ tools: [asking()], input: answering(output, true) });
    expect((await recordOf(headers)).tool_calls).toMatchObject([
      {
        name: 'docs__search',
        leg: 0,
        outcome: 'ok',
        input_characters: 13,
        output_characters: 13,
        error: null,
      },
    ]);
    upstream.clear();
    const again = await askFirst();
    docs.behaviour = {
      ...docs.behaviour,
      status: ({ method }) => (method === 'tools/call' ? 500 : undefined),
    };
    answers('m/chat', { text: 'Sorry.' });
    const failed = await ask({ tools: [asking()], input: answering(again.output, true) });
    expect((await recordOf(failed.headers)).tool_calls).toMatchObject([
      { outcome: 'error', error: 'the server answered with status 500' },
    ]);
  });

  it('is for one call: a request that is sent again gets its result', async () => {
    const { output } = await askFirst();
    const input = answering(output, true);
    upstream.answer(reply(500, {}));
    const failed = await ask({ tools: [asking()], input });
    expect(failed.status).toBe(502);
    expect((await recordOf(failed.headers)).tool_calls).toHaveLength(1);
    upstream.clear();
    answers('m/chat', { text: 'Found it.' }, { text: 'Found it.' });
    const both = await Promise.all([1, 2].map(() => ask({ tools: [asking()], input })));
    for (const { body } of both) expect(body.output[0]).toMatchObject({ output: '{"text":"hi"}' });
    expect(calls()).toHaveLength(1);
  });

  it('is for the call that it names: another under its id is another call', async () => {
    const { output } = await askFirst();
    answers('m/chat', { text: 'Found it.' }, { text: 'Found it.' });
    await ask({ tools: [asking()], input: answering(output, true) });
    const forged = [output[0], { ...output[1], arguments: '{"text":"other"}' }];
    const { body } = await ask({ tools: [asking()], input: answering(forged, true) });
    expect(body.output[0]).toMatchObject({ output: '{"text":"other"}' });
    expect(calls()).toHaveLength(2);
  });

  it('runs at most 64 calls of one request, a few at a time', async () => {
    let running = 0;
    let most = 0;
    docs.behaviour = {
      ...docs.behaviour,
      call: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running -= 1;
        return { content: [{ type: 'text', text: 'done' }] };
      },
    };
    answers('m/chat', { text: 'Done.' });
    const pairs = Array.from({ length: 70 }, (_, index) => [
      {
        type: 'mcp_approval_request',
        id: `mcpr_${index}`,
        server_label: 'docs',
        name: 'search',
        arguments: '{}',
      },
      { type: 'mcp_approval_response', approval_request_id: `mcpr_${index}`, approve: true },
    ]);
    const input = [{ role: 'user', content: 'All of them.' }, ...pairs.flat()];
    const { body } = await ask({ tools: [asking()], input });
    const shown = body.output.filter(({ type }: any) => type === 'mcp_call');
    expect(shown.filter(({ error }: any) => error === null)).toHaveLength(64);
    expect(shown.at(-1).error).toContain('more than 64 approved calls');
    expect(calls()).toHaveLength(64);
    expect(most).toBeLessThanOrEqual(8);
  });

  it('does not run again when the conversation goes on', async () => {
    const { output } = await askFirst();
    answers('m/chat', { text: 'Found it.' }, { text: 'As I said.' });
    const input = answering(output, true);
    const { body } = await ask({ tools: [asking()], input });
    const more = [...input, ...body.output, { role: 'user', content: 'Sure?' }];
    const next = await ask({ tools: [asking()], input: more });
    expect(next.body.output.map(({ type }: any) => type)).toEqual(['message']);
    expect(calls()).toHaveLength(1);
    const [first, second] = bodies();
    expect(second.messages.slice(0, 3)).toEqual(first.messages);
    expect(second.messages.map(({ role }: any) => role)).toEqual([
      ...['user', 'assistant', 'tool'],
      ...['assistant', 'user'],
    ]);
  });

  it('is refused if it answers no request of the conversation', async () => {
    const { output } = await askFirst();
    const input = answering(output, true);
    const other = { type: 'mcp_approval_response', approval_request_id: 'mcpr_other', approve: true };
    const { status, body } = await ask({ tools: [asking()], input: [...input, other] });
    expect(status).toBe(400);
    expect(body.error.metadata.issues).toEqual([
      {
        path: `input[${input.length}].approval_request_id`,
        message: expect.stringContaining('names no mcp_approval_request of this conversation'),
      },
    ]);
    expect([calls(), upstream.requests]).toEqual([[], []]);
  });

  it('that is refused gives the model the refusal as its result', async () => {
    const { output } = await askFirst();
    answers('m/chat', { text: 'As you wish.' });
    const { body } = await ask({
      tools: [asking()],
      input: answering(output, false, { reason: 'too risky' }),
    });
    expect(body.output.map(({ type }: any) => type)).toEqual(['message']);
    expect(JSON.stringify(bodies()[0])).toContain('too risky');
    expect(calls()).toEqual([]);
  });

  it('cannot be asked for in other formats', async () => {
    const body = { messages: [{ role: 'user', content: 'x' }], input: undefined as never, tools: [asking()] };
    const { status, body: reply } = await ask(body, 'm/chat', '/chat/completions');
    expect(status).toBe(400);
    expect(reply.error.message).toContain('tools[0].require_approval');
  });
});

describe('a conversation that goes on', () => {
  it('has the calls of earlier answers, and no list again', async () => {
    answers('m/chat', ...TWO_LEGS);
    const { body } = await ask();
    upstream.clear();
    answers('m/messages', { text: 'As before.' });
    const input = [{ role: 'user', content: 'x' }, ...body.output, { role: 'user', content: 'And now?' }];
    const next = await ask({ input }, 'm/messages');
    expect(next.status, next.text).toBe(200);
    expect(next.body.output.map(({ type }: any) => type)).toEqual(['message']);
    const sent = JSON.stringify(bodies()[0].messages);
    expect(sent).toContain('tool_use');
    expect(sent).toContain('docs__search');
    expect(sent).toContain('tool_result');
  });
});

describe.each([
  ['/chat/completions', { messages: [{ role: 'user', content: 'Look it up.' }] }],
  ['/messages', { max_tokens: 99, messages: [{ role: 'user', content: 'Look it up.' }] }],
] as [string, JsonObject][])('%s', (path, question) => {
  it('runs the same loop and shows the text', async () => {
    answers('m/chat', ...TWO_LEGS);
    const { status, body, text } = await ask({ ...question, input: undefined as never }, 'm/chat', path);
    expect(status, text).toBe(200);
    expect(calls()).toHaveLength(1);
    const said = body.choices?.[0].message.content ?? body.content.map((block: any) => block.text).join('');
    expect(said).toBe('Found it.');
  });
});

it('waits for servers that hang no longer than for one, however many there are', async () => {
  const hanging = await openFakeUpstream();
  const own = await openToolGateway({
    egress: { allow: [`127.0.0.1:${hanging.port}`] },
    tools: { limits: { fetch_ms: 300 } },
  });
  const tools = Array.from({ length: 12 }, (_, index) => {
    hanging.answer([never()]);
    return { ...server, server_label: `s${index}`, server_url: `http://127.0.0.1:${hanging.port}/${index}` };
  });
  own.answers('m/chat', { text: 'Without them.' });
  const { status, body } = await own.ask('/responses', 'm/chat', { tools });
  expect(status).toBe(200);
  const lists = body.output.filter(({ type }: JsonObject) => type === 'mcp_list_tools');
  expect(lists.map(({ error }: JsonObject) => typeof error)).toEqual(Array(12).fill('string'));
  // Four at a time: the time of all is over before the last ones are asked.
  expect(hanging.requests.length).toBeLessThan(12);
  await own.close();
  await hanging.close();
});
