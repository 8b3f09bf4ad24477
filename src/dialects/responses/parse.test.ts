import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';
import { fillPromptTemplate } from '../shared/presets/prompt-template.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';

import { parseRequest } from './parse.ts';

const parse = (body: JsonObject) => parseRequest({ model: 'm', input: 'hi', ...body }, { vendor: 'acme' });

function errorOf(body: JsonObject): GatewayError {
  try {
    parseRequest(body, { vendor: 'acme' });
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('nothing was refused');
}

describe('parseRequest', () => {
  it('names what is missing', () => {
    expect(errorOf({ input: 'hi' })).toMatchObject({
      status: 400,
      message: 'model: is required',
    });
    expect(errorOf({ model: 'm' })).toMatchObject({
      status: 400,
      message: 'input: is required',
    });
    expect(errorOf({ model: 'm', input: [] })).toMatchObject({
      status: 400,
      message: 'input: must not be empty',
    });
    expect(errorOf({ model: 'm', input: '' }).status).toBe(400);
  });

  it.each<[JsonObject]>([
    [{ role: 'user', content: [] }],
    [{ role: 'user', content: null }],
    [{ role: 'user', content: '' }],
    [{ type: 'message', role: 'user' }],
    [{ role: 'user', content: [{ type: 'input_text', text: '' }] }],
  ])('refuses input that says nothing: %j', (message) => {
    const issues = [{ path: 'input[0].content', message: 'must not be empty' }];
    const silent = { model: 'm', instructions: 'rules', input: [message, message] };
    expect(errorOf(silent)).toMatchObject({ status: 400, metadata: { issues } });
    expect(() => parse({ input: [message, { role: 'user', content: 'hi' }] })).not.toThrow();
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
    expect(() => parse({ input: [message, call] })).not.toThrow();
  });

  it('refuses what needs a memory, each by its path', () => {
    const paths = (body: JsonObject) =>
      objectsAt(errorOf({ model: 'm', input: 'hi', ...body }).metadata ?? {}, 'issues').map(
        (issue) => issue.path,
      );
    expect(paths({ background: true })).toEqual(['background']);
    expect(paths({ previous_response_id: 'resp_1' })).toEqual(['previous_response_id']);
    expect(paths({ conversation: 'conv_1' })).toEqual(['conversation']);
    expect(paths({ input: [{ role: 'user' }, { type: 'item_reference', id: 'msg_1' }] })).toEqual([
      'input[1].id',
    ]);
  });

  it('refuses pictures and files that are nowhere', () => {
    const content = [
      { type: 'input_text', text: 'x' },
      { type: 'input_image', detail: 'low' },
    ];
    expect(errorOf({ model: 'm', input: [{ role: 'user', content }] }).message).toBe(
      'input[0].content[1].image_url: is required, unless file_id is given',
    );
  });

  it('answers 422 to what is impossible together', () => {
    const choice = { tool_choice: { type: 'function', name: 'g' }, tools: [{ type: 'function', name: 'f' }] };
    expect(errorOf({ model: 'm', input: 'hi', ...choice }).status).toBe(422);
    const budget = { max_output_tokens: 100, reasoning: { max_tokens: 100 } };
    expect(errorOf({ model: 'm', input: 'hi', ...budget }).status).toBe(422);
  });

  it('makes instructions the first system message', () => {
    expect(parse({ instructions: 'Be brief.' }).items).toEqual([
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ]);
  });

  it('takes namespaces apart and remembers them', () => {
    const tools = [
      {
        type: 'namespace',
        name: 'git',
        description: 'Version control',
        tools: [{ type: 'function', name: 'log' }],
      },
    ];
    expect(parse({ tools }).tools).toEqual([
      { type: 'function', name: 'log', namespace: { name: 'git', description: 'Version control' } },
    ]);
  });

  it('opens wrapped seals and takes bare ones for its own family', () => {
    const seal = { id: 'x', signature: 'SIG', format: 'anthropic-claude-v1' };
    const input = [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: wrapSeal(seal) },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAA' },
    ];
    expect(parse({ input }).items).toEqual([
      { type: 'reasoning', text: [], summary: [], ...seal },
      {
        type: 'reasoning',
        text: [],
        summary: [],
        id: 'rs_2',
        encrypted: 'gAAA',
        format: 'openai-responses-v1',
      },
    ]);
  });

  it('keeps items it does not model', () => {
    const input = [
      { type: 'shell_call', call_id: 'c', action: { commands: ['ls'] } },
      { type: 'brand_new_item' },
      { type: 'acme:web_search', status: 'completed' },
    ];
    const request = parse({ input });
    expect(request.items.map((item) => item.type)).toEqual(['opaque', 'opaque', 'opaque']);
  });

  it('limits the tools of all groups and items together', () => {
    const group = (name: string) => ({
      type: 'namespace',
      name,
      description: 'd',
      tools: Array.from({ length: 2048 }, (_, index) => ({ type: 'function', name: `t${index}` })),
    });
    const body = { model: 'm', input: [{ role: 'user', content: 'hi' }], tools: [group('a'), group('b')] };
    expect(parse(body).tools).toHaveLength(4096);
    const late = { type: 'additional_tools', tools: [{ type: 'function', name: 'late' }] };
    expect(errorOf({ ...body, input: [...body.input, late] })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^tools: must have at most 4096 tools/),
    });
  });

  it('declares the tools of additional_tools items', () => {
    const input = [
      { role: 'user', content: 'hi' },
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'late' }] },
    ];
    const request = parse({ input, tool_choice: { type: 'function', name: 'late' } });
    expect(request.tools).toMatchObject([{ type: 'function', name: 'late' }]);
  });

  it.each([
    ['additional_tools', ['acme:clock'], ['input[1].tools[1]']],
    // An upstream may have written it: only the caller's own tools count.
    ['tool_search_output', [], []],
  ])('unites hosted tools of %s with those of the body', (type, hosted, hostedPlaces) => {
    const search = { type: 'web_search' };
    const group = {
      type: 'namespace',
      name: 'n',
      description: 'd',
      tools: [{ type: 'function', name: 'f' }],
    };
    const { tools, places } = parse({
      input: [
        { role: 'user', content: 'hi' },
        { type, tools: [search, { type: 'acme:clock' }, group, search] },
      ],
      tools: [search, group],
    });
    expect(tools.map((tool) => (tool.type === 'hosted' ? tool.kind : tool.name))).toEqual([
      'web_search',
      'f',
      ...hosted,
    ]);
    expect(tools.map((tool) => places.of(tool))).toEqual(['tools[0]', 'tools[1].tools[0]', ...hostedPlaces]);
  });

  it('lists unknown fields, nested settings too, and no documented one', () => {
    const request = parse({
      client_metadata: {},
      reasoning: { effort: 'low', generate_summary: 'auto' },
      stream_options: { include_obfuscation: false },
      usage: null,
    });
    expect(request.unknownFields).toEqual(['client_metadata', 'reasoning.generate_summary']);
    expect(request.ext).toEqual({ responses: { stream_options: { include_obfuscation: false } } });
  });

  it('echoes the upstream body only in streams', () => {
    const debug = { echo_upstream_body: true };
    expect(parse({ debug }).echoUpstreamBody).toBe(false);
    expect(parse({ debug, stream: true }).echoUpstreamBody).toBe(true);
  });

  it('remembers where items, parts and tools stand', () => {
    const f = { type: 'function', name: 'f' };
    const request = parse({
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'hi' },
        { role: 'user', content: [f, { type: 'input_text', text: 'x' }] },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
        { type: 'shell_call', call_id: 'c', action: { commands: [] } },
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'web_search' }, { ...f, name: 'late' }],
        },
      ],
      tools: [{ type: 'namespace', name: 'n', description: 'd', tools: [f, f] }, { type: 'web_search' }, f],
    });
    const { items, tools, places } = request;
    const parts = items.flatMap((item) => ('content' in item ? item.content : []));
    expect(items.map((item) => places.of(item))).toEqual([
      'instructions',
      'input[0]',
      'input[1]',
      'input[2]',
      'input[3]',
      'input[4]',
    ]);
    expect(parts.map((part) => places.of(part))).toEqual([
      'instructions',
      'input[0].content',
      'input[1].content[0]',
      'input[1].content[1]',
      'input[2].output[0]',
    ]);
    expect(tools.map((tool) => places.of(tool))).toEqual([
      'tools[0].tools[0]',
      'tools[0].tools[1]',
      'tools[1]',
      'tools[2]',
      'input[4].tools[1]',
    ]);
  });

  it('counts places in the caller’s own input, not in what a template put before it', () => {
    const own = [{ role: 'user', content: 'hi' }, { type: 'brand_new_item' }];
    const filled = fillPromptTemplate(
      { model: 'm', prompt: { id: 'p' }, input: own },
      { p: { input: 'Go.' } },
    );
    const request = parse(filled);
    expect(request.items.map((item) => request.places.of(item))).toEqual(['prompt', 'input[0]', 'input[1]']);
    const bad = {
      ...filled,
      input: [...(filled.input as JsonObject[]), { type: 'item_reference', id: 'x' }],
    };
    expect(errorOf(bad).message).toMatch(/^input\[2\]\.id: /);
  });
});
