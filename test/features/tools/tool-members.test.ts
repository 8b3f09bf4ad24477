import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { managementOf } from '../../kit/management.ts';
import { searchingWith } from './search-engine.ts';
import {
  lastToolResult,
  openToolGateway,
  type Path,
  type ToolGateway,
  type ToolModel,
} from './tool-gateway.ts';

/** Members of tools that have no effect, and choices of tools that are not there: none is silently ignored. */

let tools: ToolGateway;
let engine: FakeUpstream;
let docs: FakeMcpServer;

beforeAll(async () => {
  engine = await openFakeUpstream();
  docs = await openMcpServer({ tools: () => ({ tools: [tool('search'), tool('delete')] }) });
  const { egress, plugins } = searchingWith(engine);
  tools = await openToolGateway({
    egress: { allow: [...egress.allow, `127.0.0.1:${docs.port}`] },
    plugins,
    tools: { image_generation: { model: 'm/image' }, sandbox: { url: engine.url } },
  });
});
beforeEach(() => tools.upstream.clear());
afterAll(async () => {
  await tools.close();
  await engine.close();
  await docs.close();
});

/** Fields and actions of the report on a request that the model answers at once. */
async function reported(path: Path, body: object, model: ToolModel = 'm/chat') {
  tools.upstream.clear();
  tools.answers(model, { text: 'Hm.' });
  const { status, body: answer } = await tools.ask(path, model, body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return (answer.signalbox_metadata.translation ?? []).map(
    ({ field, action }: any) => `${field} ${action}`,
  ) as string[];
}

async function refused(path: Path, body: object, model: ToolModel = 'm/chat') {
  tools.upstream.clear();
  const { status, body: answer } = await tools.ask(path, model, body);
  expect(tools.upstream.requests).toHaveLength(0);
  return `${status} ${answer.error.message}`;
}

describe('a member of a tool of the gateway that it does not have', () => {
  it.each(['/responses', '/messages', '/chat/completions'] as const)('is refused on %s', async (path) => {
    expect(await refused(path, { tools: [{ type: 'signalbox:web_search', max_results: 3 }] })).toBe(
      '400 tools[0].max_results: is not a known field: put it into parameters (parameters.max_results)',
    );
    expect(await refused(path, { tools: [{ type: 'signalbox:datetime', timezoen: 'UTC' }] })).toBe(
      '400 tools[0].timezoen: is not a known field',
    );
    expect(
      await refused(path, { tools: [{ type: 'signalbox:datetime', parameters: { zone: 'UTC' } }] }),
    ).toBe('400 tools[0].parameters.zone: is not a known field');
  });

  it('is refused in tools of a model that a tool calls', async () => {
    const nested = [{ type: 'signalbox:web_search', max_results: 3 }];
    const asked = { tools: [{ type: 'signalbox:advisor', parameters: { tools: nested } }] };
    expect(await refused('/responses', asked)).toMatch(
      /^400 tools\[0\]\.parameters\.tools\[0\]\.max_results: is not a known field/,
    );
  });
});

it.each([
  [{ max_results: 'five' }, 'max_results: must be an integer or null'],
  [{ max_uses: 0 }, 'max_uses: must be >= 1'],
  [{ allowed_domains: 'a.test' }, 'allowed_domains: must be an array or null'],
  [{ blocked_domains: [5] }, 'excluded_domains[0]: must be a string'],
])('a member of a hosted tool that no format checks is refused: %j', async (members, problem) => {
  const searching = { type: 'web_search_20270101', name: 'web_search', ...members };
  expect(await refused('/chat/completions', { tools: [searching] })).toBe(`400 tools[0].${problem}`);
});

describe('a member of a hosted tool without effect here is reported', () => {
  it('of web_search', async () => {
    const searching = {
      type: 'web_search',
      search_content_types: ['text'],
      max_result: 3,
      max_results: 3,
      external_web_access: true,
      filters: { allowed_domains: ['a.test'], alowed_domains: ['b.test'] },
      user_location: { type: 'approximate', timezone: 'Europe/Berlin' },
      search_context_size: null,
    };
    expect(await reported('/responses', { tools: [searching] })).toEqual([
      'tools[0].user_location ignored',
      'tools[0].search_content_types ignored',
      'tools[0].max_result ignored',
      'tools[0].filters.alowed_domains ignored',
    ]);
    expect(await reported('/chat/completions', { tools: [{ type: 'web_search', mode: 'deep' }] })).toEqual([
      'tools[0].mode ignored',
    ]);
  });

  it('of the other tools', async () => {
    expect(
      await reported('/responses', {
        tools: [
          { type: 'image_generation', size: '1x1', partial_images: 2, input_fidelity: 'high' },
          { type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } },
        ],
      }),
    ).toEqual([
      'tools[0].partial_images ignored',
      'tools[0].input_fidelity ignored',
      'tools[1].container.file_ids ignored',
    ]);
    expect(
      await reported('/messages', {
        tools: [
          { type: 'web_search_20260209', name: 'web_search', allowed_callers: ['direct'], max_uses: 2 },
          { type: 'web_fetch_20250910', name: 'web_fetch', citations: { enabled: true }, max_uses: 2 },
          { type: 'advisor_20260301', name: 'advisor', model: 'm/other', caching: { type: 'ephemeral' } },
        ],
      }),
    ).toEqual(['tools[0].allowed_callers ignored', 'tools[1].citations ignored', 'tools[2].caching ignored']);
  });

  it('once for all legs of a loop, and in the explanation', async () => {
    tools.answers(
      'm/chat',
      { tools: [{ name: 'web_fetch', arguments: '{"url":"x"}', id: 'call_a' }] },
      { text: 'Hm.' },
    );
    const asked = {
      tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', citations: { enabled: true } }],
    };
    const { body } = await tools.ask('/messages', 'm/chat', asked);
    const entry = {
      field: 'tools[0].citations',
      action: 'ignored',
      detail: 'has no effect: the gateway runs the tool itself',
    };
    expect(body.signalbox_metadata.translation).toEqual([entry]);
    const explained = await managementOf(tools.gateway).ask('POST', '/routing/explain', {
      format: 'messages',
      model: 'm/chat',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'x' }],
      ...asked,
    });
    expect(explained.body.data.candidates[0].translation).toEqual([entry]);
  });

  it('not if the upstream runs the tool, which gets it as it is', async () => {
    const hosted = [{ type: 'web_search', search_content_types: ['text'] }];
    expect(await reported('/responses', { tools: hosted }, 'm/responses')).toEqual([]);
    expect(tools.upstream.requests[0]?.json.tools).toEqual(hosted);
  });
});

it('a container of another provider is a name for files of the sandbox', async () => {
  const container = `cntr_${'a'.repeat(48)}`;
  expect(await reported('/responses', { tools: [{ type: 'code_interpreter', container }] })).toEqual([]);
});

it('parameters that an engine, an upstream or a format does not take are reported', async () => {
  const parameters = { mode: 'deep', max_results: 3 };
  const searching = { type: 'signalbox:web_search', parameters };
  expect(await reported('/responses', { tools: [searching] })).toEqual(['tools[0].parameters.mode ignored']);
  const native = {
    ...searching,
    parameters: { ...parameters, engine: 'native', allowed_domains: ['a.test'] },
  };
  expect(await reported('/responses', { tools: [native] }, 'm/responses')).toEqual([
    'tools[0].parameters.mode ignored',
    'tools[0].parameters.max_results ignored',
  ]);
  const advisor = { type: 'signalbox:advisor', parameters: { stream: true } };
  expect(await reported('/responses', { tools: [advisor] })).toEqual([]);
  expect(await reported('/chat/completions', { tools: [advisor] })).toEqual([
    'tools[0].parameters.stream ignored',
  ]);
});

it('a cache mark goes upstream with the function of the tool', async () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const marked = [
    { type: 'signalbox:datetime', cache_control },
    { type: 'web_search_20250305', name: 'web_search', cache_control },
  ];
  // A search of its own would be relayed to this upstream.
  expect(await reported('/messages', { tools: [marked[0]] }, 'm/messages')).toEqual([]);
  expect(tools.upstream.requests[0]?.json.tools).toMatchObject([{ name: 'datetime', cache_control }]);
  expect(await reported('/messages', { tools: marked }, 'm/chat')).toEqual([
    'tools[0].cache_control dropped',
    'tools[1].cache_control dropped',
  ]);
});

describe('members of an MCP server', () => {
  const server = (more: object = {}) => ({
    type: 'mcp',
    server_label: 'docs',
    server_url: docs.url,
    require_approval: 'never',
    ...more,
  });

  it('without effect are reported, and so are tools that it does not have', async () => {
    const asked = server({
      alowed_tools: ['search'],
      defer_loading: true,
      headers: { 'mcp-session-id': 'x', 'x-a': 'b', 'x-n': 1 },
      allowed_tools: ['search', 'nosuch'],
      require_approval: { never: { tool_names: ['search', 'serch'] } },
    });
    expect(await reported('/responses', { tools: [asked] })).toEqual([
      'tools[0].alowed_tools ignored',
      'tools[0].defer_loading ignored',
      'tools[0].headers.mcp-session-id ignored',
      'tools[0].headers.x-n ignored',
      'tools[0].allowed_tools ignored',
      'tools[0].require_approval.never ignored',
    ]);
  });

  it('are reported on /messages too, with those of its toolset', async () => {
    const listed = { type: 'url', name: 'docs', url: docs.url };
    const toolset = {
      type: 'mcp_toolset',
      mcp_server_name: 'docs',
      default_config: { enabled: true, defer_loading: true },
      configs: { nosuch: { enabled: false } },
    };
    expect(
      await reported('/messages', {
        mcp_servers: [{ ...listed, tool_configuration: { allowed_tools: ['nosuch'], x: 1 } }],
      }),
    ).toEqual([
      'mcp_servers[0].tool_configuration.x ignored',
      'mcp_servers[0].tool_configuration.allowed_tools ignored',
    ]);
    expect(await reported('/messages', { mcp_servers: [listed], tools: [toolset] })).toEqual([
      'tools[0].default_config.defer_loading ignored',
      'tools[0].configs ignored',
    ]);
    const other = { ...toolset, mcp_server_name: 'dosc' };
    expect(await refused('/messages', { mcp_servers: [listed], tools: [other] })).toBe(
      '400 tools[0].mcp_server_name: there is no MCP server "dosc" in mcp_servers',
    );
  });

  it('a choice of a tool that it does not offer is refused', async () => {
    const choice = { type: 'mcp', server_label: 'docs', name: 'nosuch' };
    const sentence = '422 tool_choice: names the tool "nosuch", which the MCP server "docs" does not offer';
    expect(await refused('/responses', { tools: [server()], tool_choice: choice })).toBe(sentence);
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [choice] };
    expect(await refused('/responses', { tools: [server()], tool_choice: allowed })).toBe(sentence);
    const other = { type: 'mcp', server_label: 'dosc' };
    for (const tool_choice of [other, { ...allowed, tools: [other] }]) {
      expect(await refused('/responses', { tools: [server()], tool_choice })).toMatch(
        /^422 tool_choice: names a tool that is not in tools/,
      );
    }
  });
});

describe('tool_choice', () => {
  const DATETIME = { type: 'signalbox:datetime' };

  it.each([{ type: 'web_search_preview' }, { type: 'image_generation' }, { type: 'signalbox:web_search' }])(
    'of a hosted tool that is not in tools is refused: %j',
    async (tool_choice) => {
      const sentence = `422 tool_choice: names a tool that is not in tools: ${JSON.stringify(tool_choice)}`;
      expect(await refused('/responses', { tools: [DATETIME], tool_choice })).toBe(sentence);
      expect(await refused('/chat/completions', { tools: [DATETIME], tool_choice })).toBe(sentence);
      // The upstream would refuse it too, in its own words.
      expect(await refused('/responses', { tools: [DATETIME], tool_choice }, 'm/responses')).toBe(sentence);
    },
  );

  it.each([
    ['web_search_preview', 'web_search_2025_08_26'],
    ['web_search', 'signalbox:web_search'],
    ['datetime', 'signalbox:datetime'],
  ])('%s means %s', async (type, kind) => {
    await reported('/responses', { tools: [{ type: kind }], tool_choice: { type } });
    const name = kind.replace(/^.*:|_\d.*$/g, '');
    expect(tools.upstream.requests[0]?.json.tool_choice).toMatchObject({ function: { name } });
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type }] };
    await reported('/responses', {
      tools: [{ type: kind }, { type: 'signalbox:files' }],
      tool_choice: allowed,
    });
    expect(JSON.stringify(tools.upstream.requests[0]?.json.tool_choice)).toContain(`"${name}"`);
  });

  const ALLOWED = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'signalbox:web_fetch' }] };

  it.each([
    ['m/chat', ALLOWED],
    ['m/responses', ALLOWED],
  ] as const)('a server tool outside of it does not run: %s %j', async (model, tool_choice) => {
    const called = { name: 'datetime', arguments: '{}', id: 'call_a' };
    tools.answers(model, { tools: [called] }, { text: 'Hm.' });
    const { body } = await tools.ask('/responses', model, {
      tools: [DATETIME, { type: 'signalbox:web_fetch' }],
      tool_choice,
    });
    expect(body.output.map(({ type }: any) => type)).toEqual(['message']);
    expect(body.usage.server_tool_use_details).toMatchObject({
      tool_calls_requested: 1,
      tool_calls_executed: 0,
    });
    const sent = tools.upstream.requests[1];
    const result = model === 'm/chat' ? lastToolResult(sent) : JSON.parse(sent?.json.input.at(-1).output);
    expect(result.error).toBe('the tool "datetime" may not be called in this answer');
  });
});
