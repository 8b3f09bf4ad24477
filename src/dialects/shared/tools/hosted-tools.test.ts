import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../../test/kit/builders/request.ts';
import type { Format, OutputItem } from '../../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { hosted as chat } from '../../chat/hosted-tools.ts';
import { hosted as messages } from '../../messages/hosted-tools.ts';
import { hosted as responses } from '../../responses/hosted-tools.ts';
import type { HostedTools } from './hosted-tools.ts';

const INFINITE = Number.POSITIVE_INFINITY;

function hosted(dialect: Format, kind: string, value: object = {}): Tool {
  return { type: 'hosted', dialect, kind, value: { type: kind, ...value } };
}

/** A request whose body holds the very same tools. */
function asking(tools: Tool[], more: Partial<GenerationRequest> = {}): GenerationRequest {
  const values = tools.map((tool) => (tool.type === 'hosted' ? tool.value : {}));
  return { ...requestOf(), tools, body: { tools: values }, ...more };
}

const bounded = (request: GenerationRequest, most: number) => messages.bound?.(request, most).request;

/** Calls of all tools that a request allows, and what one of them costs. */
const asked = (rules: HostedTools, request: GenerationRequest, supported?: ReadonlySet<string>) =>
  rules.asked(request, supported).map(({ kind, units, most }) => [kind, units, most]);

describe('tools that a request lets an upstream run', () => {
  const search = { web_search: 1 };

  it('are limited each in the messages format', () => {
    const kind = 'web_search_20250305';
    expect(messages.asked(asking([]))).toEqual([]);
    expect(messages.asked(asking([hosted('messages', 'bash_20250124')]))).toEqual([]);
    expect(messages.asked(asking([hosted('responses', 'web_search')]))).toEqual([]);
    const tools = [
      hosted('messages', kind),
      hosted('messages', kind, { max_uses: 3 }),
      hosted('messages', 'web_fetch_20250910', { max_uses: 2 }),
      hosted('messages', 'code_execution_20250825'),
      hosted('messages', 'mcp_toolset'),
      hosted('messages', 'oracle_20300101'),
      hosted('messages', 'acme:web_search'),
    ];
    expect(asked(messages, asking(tools))).toEqual([
      [kind, search, INFINITE],
      [kind, search, 3],
      ['web_fetch_20250910', {}, 2],
      ['code_execution_20250825', { code_execution: 1 }, INFINITE],
      ['mcp_toolset', {}, INFINITE],
      ['oracle_20300101', undefined, INFINITE],
      ['acme:web_search', undefined, INFINITE],
    ]);
    expect(messages.asked(asking(tools)).map(({ isBoundable }) => isBoundable)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('run code for nothing beside searches that filter what they find', () => {
    const tools = ['code_execution_20250825', 'web_search_20260209'].map((kind) => hosted('messages', kind));
    expect(asked(messages, asking(tools)).map(([, units]) => units)).toEqual([{}, search]);
  });

  it.each([-5, 0, 0.5, '3', null])('are unlimited where the limit is %j, which is none', (max_uses) => {
    const [tool] = messages.asked(asking([hosted('messages', 'web_search_20270101', { max_uses })]));
    expect(tool?.most).toBe(INFINITE);
  });

  it('share one limit in the responses format', () => {
    const of = (...tools: [kind: string, value?: object][]) =>
      asking(tools.map(([kind, value]) => hosted('responses', kind, value)));
    expect(responses.sharesLimit).toBe(true);
    expect(asked(responses, of(['web_search_preview'], ['file_search'], ['x_search'], ['mcp']))).toEqual([
      ['web_search_preview', search, INFINITE],
      ['file_search', { file_search: 1 }, INFINITE],
      ['x_search', { x_search: 1 }, INFINITE],
      ['mcp', {}, INFINITE],
    ]);
    expect(
      responses.asked(of(['local_shell'], ['apply_patch'], ['computer_use_preview'], ['tool_search'])),
    ).toEqual([]);
    const request = of(['web_search'], ['oracle']);
    expect(asked(responses, { ...request, wishes: { ...request.wishes, maxToolCalls: 4 } })).toEqual([
      ['web_search', search, 4],
      ['oracle', undefined, 4],
    ]);
  });

  it.each([
    ['code_interpreter', { container: { type: 'auto' } }, { code_execution: 1 }],
    ['code_interpreter', { container: { type: 'auto', memory_limit: '16g' } }, { code_execution: 16 }],
    ['code_interpreter', { container: 'cntr_1' }, { code_execution: 1 }],
    ['shell', { environment: { type: 'container_auto', memory_limit: '4g' } }, { code_execution: 4 }],
    ['shell', { environment: { type: 'local' } }, undefined],
    ['image_generation', { quality: 'low' }, { image_generation: 500, image_generation_input: 5000 }],
    ['image_generation', {}, { image_generation: 7500, image_generation_input: 5000 }],
    [
      'image_generation',
      { quality: 'high', size: '3840x2160', partial_images: 3 },
      { image_generation: 15_300, image_generation_input: 5000 },
    ],
  ])('%s %j may cost %j', (kind, value, units) => {
    expect(responses.asked(asking([hosted('responses', kind, value)]))[0]?.units).toEqual(units);
  });

  it('have no limit in chat completions', () => {
    expect(chat.asked(asking([]))).toEqual([]);
    const options = asking([], { format: 'chat', body: { web_search_options: {} } });
    expect(asked(chat, options)).toEqual([['web_search_options', search, INFINITE]]);
    expect(chat.asked(options, new Set(['tools']))).toEqual([]);
    const byBody = (body: object) => asked(chat, asking([], { format: 'chat', body: body as never }));
    expect(byBody({ enable_search: true })).toEqual([['enable_search', search, INFINITE]]);
    expect(byBody({ search_parameters: {} })).toEqual([['search_parameters', search, INFINITE]]);
    for (const on of [1, 'true', {}]) expect(byBody({ enable_search: on })).toHaveLength(1);
    for (const off of [false, null]) expect(byBody({ enable_search: off })).toEqual([]);
    expect(byBody({ search_parameters: { mode: 'off' } })).toEqual([]);
    const kinds = [
      'browser_search',
      'x_search',
      'code_interpreter',
      'builtin_function',
      'oracle',
      'acme:draw',
    ];
    expect(asked(chat, asking(kinds.map((kind) => hosted('chat', kind)))).map(([, units]) => units)).toEqual([
      search,
      { x_search: 1 },
      { code_execution: 1 },
      search,
      undefined,
      undefined,
    ]);
    expect(chat.bound).toBeUndefined();
  });
});

describe('calls that an answer shows', () => {
  const opaque = (dialect: Format, value: object): OutputItem => ({
    type: 'opaque',
    dialect,
    value: value as JsonObject,
  });

  it('are counted by item in the responses format', () => {
    const tools = [
      hosted('responses', 'code_interpreter', { container: { type: 'auto', memory_limit: '4g' } }),
      hosted('responses', 'image_generation', { quality: 'medium' }),
    ];
    const items: OutputItem[] = [
      ...['a', 'b', 'a'].map((container_id) =>
        opaque('responses', { type: 'code_interpreter_call', container_id }),
      ),
      opaque('responses', { type: 'web_search_call', action: { type: 'search' } }),
      opaque('responses', { type: 'web_search_call', action: { type: 'open_page' } }),
      opaque('responses', { type: 'file_search_call' }),
      opaque('responses', { type: 'mcp_call' }),
      opaque('responses', { type: 'computer_call' }),
      { type: 'image', source: { kind: 'url', url: 'https://a.test/' } },
      {
        type: 'image',
        source: { kind: 'url', url: 'https://a.test/' },
        ext: { responses: { quality: 'low', size: '1024x1024' } },
      },
      { type: 'message', role: 'assistant', content: [] },
    ];
    expect(responses.run?.(items, responses.asked(asking(tools)))).toEqual({
      calls: 9,
      searches: 1,
      hosted: {
        file_search: 1,
        code_execution: 8,
        image_generation: 2000 + 500,
        image_generation_input: 10_000,
      },
    });
  });

  it('are counted by block in the messages format, a container once', () => {
    const use = (name: string) => opaque('messages', { type: 'server_tool_use', name });
    const items = [
      use('web_search'),
      use('web_fetch'),
      use('bash_code_execution'),
      use('code_execution'),
      opaque('messages', { type: 'mcp_tool_use', name: 'x' }),
      opaque('messages', { type: 'web_search_tool_result' }),
    ];
    const run = (...kinds: string[]) =>
      messages.run?.(items, messages.asked(asking(kinds.map((kind) => hosted('messages', kind)))));
    expect(run('code_execution_20250825')).toEqual({ calls: 5, searches: 1, hosted: { code_execution: 1 } });
    expect(run('web_search_20260209')).toEqual({ calls: 5, searches: 1, hosted: {} });
  });
});

describe('a limit of searches', () => {
  it('is written into every search tool of the messages format, in both lanes, and into nothing else', () => {
    const tools = [
      hosted('messages', 'web_search_20250305', { max_uses: 2, name: 'web_search' }),
      hosted('messages', 'bash_20250124'),
      hosted('messages', 'web_search_20260209'),
    ];
    const request = bounded(asking(tools), 5);
    expect(request?.body.tools).toEqual([
      { type: 'web_search_20250305', max_uses: 2, name: 'web_search' },
      { type: 'bash_20250124' },
      { type: 'web_search_20260209', max_uses: 3 },
    ]);
    expect(request?.tools.map((tool) => (tool.type === 'hosted' ? tool.value : undefined))).toEqual(
      request?.body.tools,
    );
    expect(request?.tools[1]).toBe(tools[1]);
    expect(bounded(asking(tools), 2)?.body.tools).toEqual([
      { type: 'web_search_20250305', max_uses: 2, name: 'web_search' },
      { type: 'bash_20250124' },
    ]);
  });

  it('is a field of the responses format', () => {
    const { request, field } = responses.bound?.(asking([hosted('responses', 'web_search')]), 3) ?? {};
    expect(field).toBe('max_tool_calls');
    expect(request?.wishes.maxToolCalls).toBe(3);
    expect(request?.body).toMatchObject({ max_tool_calls: 3 });
  });
});
