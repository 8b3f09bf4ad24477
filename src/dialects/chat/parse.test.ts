import { describe, expect, it } from 'vitest';
import { requestWith } from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Item } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { hasUnknownTypes } from './parse.ts';

function errorOf(body: JsonObject): GatewayError {
  try {
    requestWith(body);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

it.each([
  [[{ role: 'user', content: '' }]],
  [[{ role: 'user', content: [{ type: 'text', text: '' }] }]],
  [
    [
      { role: 'system', content: '' },
      { role: 'assistant', content: null, tool_calls: [] },
    ],
  ],
])('refuses messages that say nothing: %j', (messages) => {
  const issues = [{ path: 'messages[0].content', message: 'must not be empty' }];
  expect(errorOf({ messages })).toMatchObject({ status: 400, metadata: { issues } });
  expect(() => requestWith({ messages: [...messages, { role: 'user', content: 'Hi' }] })).not.toThrow();
  expect(() =>
    requestWith({ messages: [...messages, { role: 'tool', tool_call_id: 'a', content: '' }] }),
  ).not.toThrow();
});

describe('messages', () => {
  it('become items in order, thoughts before words before calls', () => {
    const { items } = requestWith({
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi', name: 'ann' },
        {
          role: 'assistant',
          content: 'Well',
          reasoning: 'ignored, the details say it',
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            { type: 'reasoning.encrypted', data: 'seal', id: 'c1' },
          ],
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' }, extra: 1 },
            { id: 'c2', type: 'custom', custom: { name: 'g', input: 'text' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'ok' }] },
      ],
    });
    expect(items).toEqual([
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'text', text: 'Hi' }],
        ext: { chat: { name: 'ann' } },
      },
      {
        type: 'reasoning',
        text: ['Hm'],
        summary: [],
        signature: 's',
        format: 'anthropic-claude-v1',
        givenBy: 'chat',
      },
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Well' }] },
      {
        type: 'tool-call',
        kind: 'function',
        callId: 'c1',
        name: 'f',
        input: '{}',
        signature: 'seal',
        signatureGivenBy: 'chat',
        ext: { chat: { extra: 1 } },
      },
      { type: 'tool-call', kind: 'custom', callId: 'c2', name: 'g', input: 'text' },
      { type: 'tool-result', kind: 'function', callId: 'c1', content: [{ type: 'text', text: 'ok' }] },
      { type: 'tool-result', kind: 'custom', callId: 'c2', content: [{ type: 'text', text: 'ok' }] },
    ]);
  });

  it('read every kind of content', () => {
    const parts = [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://x.y/z.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'BBBB' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'input_audio', input_audio: { data: 'CCCC', format: 'mp3' } },
      { type: 'video_url', video_url: { url: 'https://x.y/z.mp4' } },
      { type: 'novelty', x: 1 },
    ];
    expect(requestWith({ messages: [{ role: 'user', content: parts }] }).items).toMatchObject([
      {
        content: [
          { type: 'text', text: 'a', cache: { ttl: '1h' } },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' }, detail: 'low' },
          { type: 'image', source: { kind: 'url', url: 'https://x.y/z.png' } },
          { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' } },
          { type: 'file', source: { kind: 'file-id', fileId: 'file-1' } },
          { type: 'audio', data: 'CCCC', format: 'mp3' },
          { type: 'video', url: 'https://x.y/z.mp4' },
          { type: 'opaque', dialect: 'chat', value: { type: 'novelty', x: 1 } },
        ],
      },
    ]);
  });

  it('pair legacy calls with their results by name', () => {
    const { items } = requestWith({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'ok' },
      ],
    });
    expect(items.slice(1)).toMatchObject([
      { type: 'tool-call', callId: 'call_1', name: 'f' },
      { type: 'tool-result', callId: 'call_1' },
    ]);
  });
});

describe('places', () => {
  it('are kept for every item, part and tool', () => {
    const { items, tools, places } = requestWith({
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }, { type: 'novelty' }] },
        {
          role: 'assistant',
          content: 'Well',
          refusal: 'No',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }],
          images: [{ type: 'image_url', image_url: { url: 'https://x.y/z.png' } }],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
        { role: 'assistant', content: null, reasoning: 'Hm', function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'ok' },
      ],
      tools: [{ type: 'acme:datetime' }, { type: 'function', function: { name: 'f' } }],
    });
    const partsOf = (item: Item) =>
      item.type === 'message' || item.type === 'tool-result'
        ? item.content.map((part) => places.of(part))
        : [];
    expect(items.map((item) => [places.of(item), ...partsOf(item)])).toEqual([
      ['messages[0]', 'messages[0].content'],
      ['messages[1]', 'messages[1].content[0]', 'messages[1].content[1]'],
      ['messages[2].reasoning_details'],
      ['messages[2]', 'messages[2].content', 'messages[2].refusal'],
      ['messages[2].images[0]'],
      ['messages[2].tool_calls[0]'],
      ['messages[3]', 'messages[3].content'],
      ['messages[4].reasoning'],
      ['messages[4].function_call'],
      ['messages[5]', 'messages[5].content'],
    ]);
    expect(tools.map((tool) => places.of(tool))).toEqual(['tools[0]', 'tools[1]']);
  });
});

describe('thoughts', () => {
  it('of two families are never one item', () => {
    const reasoning_details = [
      { type: 'reasoning.encrypted', data: 'theirs', format: 'openai-responses-v1' },
      { type: 'reasoning.text', text: 'Hm', signature: 'ours', format: 'acme-v1' },
    ];
    const { items } = requestWith({ messages: [{ role: 'assistant', content: null, reasoning_details }] });
    expect(items).toMatchObject([
      { type: 'reasoning', text: [], summary: [], encrypted: 'theirs', format: 'openai-responses-v1' },
      { type: 'reasoning', text: ['Hm'], summary: [], signature: 'ours', format: 'acme-v1' },
    ]);
  });

  it('come out of the wrapper of an upstream of another dialect', () => {
    const seal = { format: 'anthropic-claude-v1', signature: 'S' };
    const ofCall = { format: 'google-gemini-v1', signature: 'T' };
    const { items } = requestWith({
      messages: [
        {
          role: 'assistant',
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm', index: 0 },
            { type: 'reasoning.text', text: '', signature: wrapSeal(seal), format: seal.format, index: 0 },
            { type: 'reasoning.encrypted', data: wrapSeal(ofCall), id: 'c', format: ofCall.format },
          ],
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
    });
    expect(items).toEqual([
      { type: 'reasoning', text: ['Hm'], summary: [], ...seal },
      {
        type: 'tool-call',
        kind: 'function',
        callId: 'c',
        name: 'f',
        input: '{}',
        signature: 'T',
        signatureFormat: 'google-gemini-v1',
      },
    ]);
  });
});

describe('parts of undocumented types', () => {
  it('are found, so that upstreams of this dialect come first', () => {
    const request = requestWith({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'zz' }] },
      ],
    });
    expect(hasUnknownTypes(request)).toBe(true);
    expect(hasUnknownTypes(requestWith())).toBe(false);
  });
});

describe('settings', () => {
  it('are read into the words of the representation', () => {
    expect(
      requestWith({
        max_tokens: 5,
        max_completion_tokens: 50,
        stop: 'END',
        reasoning: { max_tokens: 20 },
        reasoning_effort: 'low',
        service_tier: 'fast',
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'o', schema: { type: 'object' }, strict: true },
        },
        tools: [
          { type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: null } },
          {
            type: 'custom',
            custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
          },
          { type: 'acme:datetime' },
        ],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
        },
        prediction: { type: 'content', content: 'x' },
        user: 'ann',
        novelty: 1,
        debug: { echo_upstream_body: true },
      }),
    ).toMatchObject({
      requestedOutputTokens: 50,
      sampling: { stop: ['END'] },
      reasoning: { effort: 'low', budgetTokens: 20 },
      serviceTier: 'priority',
      outputFormat: { type: 'json-schema', name: 'o', schema: { type: 'object' }, strict: true },
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters: {} },
        { type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
        { type: 'hosted', dialect: 'chat', kind: 'acme:datetime' },
      ],
      toolChoice: { mode: 'allowed', required: true, tools: [{ type: 'function', name: 'f' }] },
      ext: { chat: { prediction: { type: 'content', content: 'x' } } },
      user: 'ann',
      unknownFields: ['novelty', 'debug'],
      echoUpstreamBody: false,
    });
  });

  it('that are null are absent', () => {
    const request = requestWith({
      temperature: null,
      tools: null,
      tool_choice: null,
      stop: null,
      models: null,
    });
    expect(request.sampling).toEqual({});
    expect(request.tools).toEqual([]);
    expect(request).not.toHaveProperty('toolChoice');
    expect(request.hasFallbackModels).toBe(false);
  });
});

describe('what is refused', () => {
  it.each([
    [{ model: undefined }, 400, 'model: is required'],
    [{ n: 2 }, 400, 'n: must be 1'],
    [{ store: true }, 400, 'store: must be false'],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] },
      400,
      'messages[0].content[0].file: must',
    ],
    [{ top_logprobs: 3 }, 422, 'top_logprobs: needs logprobs'],
    [{ tool_choice: 'required' }, 422, 'tool_choice: requires'],
    [{ tool_choice: { type: 'function', function: { name: 'x' } } }, 422, 'tool_choice: names the tool "x"'],
    [{ reasoning: { max_tokens: 50 }, max_tokens: 50 }, 422, 'reasoning.max_tokens: must be below'],
  ])('%j', (body, status, message) => {
    const error = errorOf(body as JsonObject);
    expect(error.status).toBe(status);
    expect(error.message).toContain(message);
    expect(error.metadata?.issues).toHaveLength(1);
  });
});
