import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const DIALECTS = { chat: 'openai-chat', messages: 'anthropic-messages', responses: 'openai-responses' };
const ANSWERS = { chat: chatAnswer, messages: messagesAnswer, responses: responsesAnswer };
type Name = keyof typeof DIALECTS;

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(DIALECTS).map(([name, dialect]) => ({
      slug: `p-${name}`,
      dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: Object.keys(DIALECTS).map((name) => ({
      id: `up/${name}`,
      max_output_tokens: 8000,
      input_modalities: ['text', 'image'],
      reasoning: { mandatory: false, supported_efforts: ['low', 'medium', 'high'] },
      endpoints: [
        { provider: `p-${name}`, model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } },
      ],
    })),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

async function ask(name: Name, body: object, answer: Parameters<typeof chatAnswer>[0] = { text: 'ok' }) {
  upstream.answer(ANSWERS[name](answer));
  const sent = { model: `up/${name}`, store: false, ...body };
  const response = await gateway.post('/responses', sent, { 'X-Signalbox-Metadata': 'enabled' });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return { text, sent: upstream.requests[0]?.json as any };
}

async function report(name: Name, body: object) {
  const { text } = await ask(name, body);
  const entries = JSON.parse(text).signalbox_metadata.translation as { field: string; action: string }[];
  return entries.map(({ field, action }) => `${field} ${action}`);
}

const user = { role: 'user', content: 'What did it say?' };
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Items of a past turn, and what of them a model has to read. */
const ITEMS: Readonly<
  Record<string, { readonly items: readonly object[]; readonly reads: readonly string[] }>
> = {
  shell: {
    items: [
      {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'c1',
        action: { commands: ['cat notes'] },
        status: 'completed',
      },
      {
        type: 'shell_call_output',
        call_id: 'c1',
        output: [{ stdout: 'blue heron', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    reads: ['cat notes', 'blue heron'],
  },
  'local shell': {
    items: [
      {
        type: 'local_shell_call',
        id: 'lsh_1',
        call_id: 'c1',
        status: 'completed',
        action: { type: 'exec', command: ['cat', 'notes'], env: {} },
      },
      { type: 'local_shell_call_output', id: 'lsh_1', output: 'blue heron' },
    ],
    reads: ['notes', 'blue heron'],
  },
  computer: {
    items: [
      {
        type: 'computer_call',
        id: 'cu_1',
        call_id: 'c1',
        status: 'completed',
        pending_safety_checks: [],
        action: { type: 'click', x: 12, y: 34, button: 'left' },
      },
      {
        type: 'computer_call_output',
        call_id: 'c1',
        output: { type: 'computer_screenshot', image_url: PIXEL },
      },
    ],
    reads: ['click', 'iVBORw0KGgo'],
  },
  'file search': {
    items: [
      {
        type: 'file_search_call',
        id: 'fs_1',
        status: 'completed',
        queries: ['birds'],
        results: [{ filename: 'birds.md', text: 'blue heron', score: 0.9 }],
      },
    ],
    reads: ['birds.md', 'blue heron'],
  },
  program: {
    items: [
      { type: 'program', id: 'p1', call_id: 'c1', code: 'await look()', fingerprint: 'f' },
      {
        type: 'function_call',
        call_id: 'c2',
        name: 'look',
        arguments: '{}',
        caller: { type: 'program', caller_id: 'c1' },
      },
      { type: 'function_call_output', call_id: 'c2', output: 'heron' },
      { type: 'program_output', id: 'po1', call_id: 'c1', result: 'blue heron', status: 'completed' },
    ],
    reads: ['await look()', 'blue heron'],
  },
  'tool search': {
    items: [
      { type: 'tool_search_call', arguments: { query: 'birds' }, execution: 'server', call_id: null },
      {
        type: 'tool_search_output',
        call_id: null,
        tools: [{ type: 'function', name: 'birdwatch', parameters: { type: 'object' } }],
      },
    ],
    reads: ['birds', 'birdwatch'],
  },
  'failed call of an MCP server': {
    items: [
      {
        type: 'mcp_call',
        id: 'mcp_1',
        server_label: 'docs',
        name: 'search',
        arguments: '{"text":"birds"}',
        error: { type: 'http_error', code: 500, message: 'blue heron' },
      },
    ],
    reads: ['docs__search', 'birds', 'blue heron'],
  },
  'call of an MCP server without a result': {
    items: [
      { type: 'mcp_call', id: 'mcp_1', server_label: 'docs', name: 'search', arguments: '{"text":"birds"}' },
    ],
    reads: ['docs__search', 'birds', 'no longer known'],
  },
  'list of an MCP server': {
    items: [
      {
        type: 'mcp_list_tools',
        id: 'mcpl_1',
        server_label: 'docs',
        tools: [{ name: 'search', description: 'Finds birds', input_schema: { type: 'object' } }],
      },
    ],
    reads: ['docs', 'Finds birds'],
  },
  approval: {
    items: [
      {
        type: 'mcp_approval_request',
        id: 'mcpr_1',
        server_label: 'docs',
        name: 'search',
        arguments: '{"text":"birds"}',
      },
      {
        type: 'mcp_approval_response',
        approval_request_id: 'mcpr_1',
        approve: false,
        reason: 'not the blue heron',
      },
    ],
    reads: ['docs__search', 'birds', 'did not approve', 'not the blue heron'],
  },
  'search of posts': {
    items: [
      { type: 'x_search_call', id: 'xs_1', status: 'completed', action: { type: 'search', query: 'birds' } },
    ],
    reads: ['x_search', 'birds', 'no longer known'],
  },
  'agent message': {
    items: [
      {
        type: 'agent_message',
        author: 'scout',
        recipient: 'chief',
        content: [
          { type: 'input_text', text: 'blue heron' },
          { type: 'encrypted_content', encrypted_content: 'SEALED-TEXT' },
        ],
      },
    ],
    reads: ['scout', 'chief', 'blue heron'],
  },
};

const CASES = Object.keys(ITEMS).flatMap((kind) =>
  (['chat', 'messages'] as const).map((name) => ({ kind, name })),
);

describe('an item that only the responses format has', () => {
  it.each(CASES)('is read by the model: $kind at a $name upstream', async ({ kind, name }) => {
    const { items = [], reads = [] } = ITEMS[kind] ?? {};
    const { sent } = await ask(name, { input: [user, ...items, user] });
    const body = JSON.stringify(sent.messages);
    for (const text of reads) expect(body).toContain(text);
    expect(body).not.toContain('No result was recorded.');
    expect(body).not.toContain('SEALED-TEXT');
    expect(await report(name, { input: [user, ...items, user] })).toContain('input[1] coerced');
  });

  it.each(['chat', 'messages'] as const)(
    'is no error if a model could read nothing of it: %s',
    async (name) => {
      const sealed = { type: 'encrypted_content', encrypted_content: 'SEALED-TEXT' };
      const input = [
        user,
        { type: 'compaction_trigger' },
        { type: 'made_up_next_year', any: 1 },
        { type: 'agent_message', author: 'a', recipient: 'b', content: [sealed] },
        user,
      ];
      expect(await report(name, { input })).toEqual([
        'input[1] dropped',
        'input[2] dropped',
        'input[3] dropped',
      ]);
    },
  );

  it('sets the effort of the rest of the conversation', async () => {
    const input = [
      user,
      { type: 'configuration_update', reasoning: { effort: 'low' } },
      { type: 'configuration_update', reasoning: { effort: 'high' } },
      user,
    ];
    const { sent } = await ask('chat', { reasoning: { effort: 'medium' }, input });
    expect(sent.reasoning_effort).toBe('high');
    expect(sent.messages).toHaveLength(2);
    expect(await report('chat', { input })).toEqual(['input[1] coerced', 'input[2] coerced']);
    upstream.clear();
    const change = { type: 'configuration_update', text: { verbosity: 'low' } };
    const terse = await ask('chat', { text: { verbosity: 'high' }, input: [user, change, user] });
    expect(terse.sent.verbosity).toBe('low');
    upstream.clear();
    const relayed = await ask('responses', { reasoning: { effort: 'medium' }, input });
    expect(relayed.sent).toMatchObject({ reasoning: { effort: 'medium' }, input });
  });

  it('says which members of changed settings are not known', async () => {
    const changed = { type: 'configuration_update', reasoning: { effort: 'low' }, novelty: 1 };
    const input = [user, changed, user];
    expect(await report('responses', { input })).toEqual(['input[1].novelty passed_on']);
    for (const name of ['chat', 'messages'] as const) {
      upstream.clear();
      expect(await report(name, { input })).toEqual(['input[1] coerced', 'input[1].novelty dropped']);
    }
  });
});

describe('a shell that the caller runs', () => {
  const tools = [{ type: 'shell', environment: { type: 'local' } }];
  const call = (name: string, input: object) => ({
    tools: [{ name, arguments: JSON.stringify(input), id: 'call_1' }],
  });

  it.each(['chat', 'messages'] as const)(
    'is a function at a %s upstream, and its calls are items',
    async (name) => {
      const { sent, text } = await ask(
        name,
        { input: 'list', tools, tool_choice: { type: 'shell' } },
        call('shell', { commands: ['ls', 'pwd'], timeout_ms: 500 }),
      );
      expect(JSON.stringify(sent.tools)).toContain('"commands"');
      expect(JSON.stringify(sent.tool_choice)).toContain('shell');
      expect(JSON.parse(text).output).toEqual([
        {
          id: expect.stringMatching(/^sh_/),
          type: 'shell_call',
          call_id: 'call_1',
          action: { commands: ['ls', 'pwd'], timeout_ms: 500, max_output_length: null },
          environment: { type: 'local' },
          status: 'completed',
        },
      ]);
    },
  );

  it('streams its commands', async () => {
    const { text } = await ask(
      'chat',
      { input: 'list', tools, stream: true },
      call('shell', { commands: ['ls', 'pwd'] }),
    );
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(events.slice(2, -1).map(({ type, delta }) => [type.replace('response.', ''), delta])).toEqual([
      ['output_item.added', undefined],
      ...['ls', 'pwd'].flatMap((command) => [
        ['shell_call_command.added', undefined],
        ['shell_call_command.delta', command],
        ['shell_call_command.done', undefined],
      ]),
      ['output_item.done', undefined],
    ]);
    expect(events[2].item).toMatchObject({
      type: 'shell_call',
      status: 'in_progress',
      action: { commands: [] },
    });
    expect(events.at(-1).response.output).toMatchObject([
      { type: 'shell_call', action: { commands: ['ls', 'pwd'] }, id: events[2].item.id },
    ]);
  });

  it('may be the local shell', async () => {
    const { text } = await ask(
      'messages',
      { input: 'list', tools: [{ type: 'local_shell' }] },
      call('local_shell', { command: ['ls', '-l'], working_directory: '/srv' }),
    );
    expect(JSON.parse(text).output).toEqual([
      {
        id: expect.stringMatching(/^lsh_/),
        type: 'local_shell_call',
        call_id: 'call_1',
        action: { type: 'exec', command: ['ls', '-l'], env: {}, working_directory: '/srv' },
        status: 'completed',
      },
    ]);
  });

  it('leaves a function of the same name to the caller', async () => {
    const own = { type: 'function', name: 'shell', parameters: { type: 'object' } };
    const { sent, text } = await ask('chat', { input: 'x', tools: [own, ...tools] }, call('shell', {}));
    expect(sent.tools.map((tool: any) => tool.function.name)).toEqual(['shell', 'shell_2']);
    expect(JSON.parse(text).output).toMatchObject([{ type: 'function_call', name: 'shell' }]);
  });
});
