import { describe, expect, it } from 'vitest';
import { requestWith } from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import type { Item } from '../../ir/items.ts';
import { Places } from '../../ir/places.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { facts as responsesFacts } from '../responses/facts.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

const TARGET: RenderTarget = { model: 'large-v1', hashUser: (id) => `hash(${id})` };

/** A request as the responses format would give it. */
function foreign(more: Partial<GenerationRequest>): GenerationRequest {
  const places = new Places();
  more.items?.forEach((item, at) => {
    places.put(item, `input[${at}]`);
  });
  more.tools?.forEach((tool, at) => {
    places.put(tool, `tools[${at}]`);
  });
  return {
    ...requestWith(),
    format: 'responses',
    formatFacts: responsesFacts.request,
    body: {},
    places,
    ...more,
  };
}

function messagesOf(items: readonly Item[], target = TARGET): JsonObject[] {
  return renderRequest(foreign({ items }), target).body.messages as JsonObject[];
}

const text = (value: string) => [{ type: 'text', text: value }] as const;

describe('messages', () => {
  it('join what the assistant did in one turn, results after it', () => {
    expect(
      messagesOf([
        { type: 'message', role: 'developer', content: text('Rules') },
        { type: 'message', role: 'user', content: text('Hi') },
        { type: 'message', role: 'assistant', content: text('Well') },
        { type: 'tool-call', kind: 'function', callId: 'a', name: 'f', namespace: 'n', input: '{}' },
        { type: 'tool-call', kind: 'custom', callId: 'b', name: 'g', input: 'free' },
        { type: 'tool-result', kind: 'function', callId: 'a', content: text('1') },
        { type: 'tool-result', kind: 'custom', callId: 'b', content: [] },
        { type: 'message', role: 'assistant', content: text('One') },
        { type: 'message', role: 'assistant', content: text('Two') },
      ]),
    ).toEqual([
      { role: 'system', content: 'Rules' },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Well',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'n__f', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{"input":"free"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'assistant', content: 'One' },
      { role: 'assistant', content: 'Two' },
    ]);
  });

  it('send the images of tool results after all results', () => {
    const image = {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' },
    } as const;
    const items: Item[] = [
      { type: 'tool-call', kind: 'function', callId: 'a', name: 'f', input: '{}' },
      { type: 'tool-call', kind: 'function', callId: 'b', name: 'f', input: '{}' },
      { type: 'tool-result', kind: 'function', callId: 'a', content: [...text('seen'), image] },
      { type: 'reasoning', text: [], summary: [] },
      { type: 'tool-result', kind: 'function', callId: 'b', content: text('ok') },
      { type: 'message', role: 'user', content: text('So?') },
    ];
    expect(messagesOf(items).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'tool', tool_call_id: 'b', content: 'ok' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Output of tool call a:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'user', content: 'So?' },
    ]);
    expect(renderRequest(foreign({ items }), TARGET).report).toMatchObject([
      { field: 'input[4]', action: 'coerced' },
      { field: 'input[2]', action: 'coerced' },
    ]);
  });

  it('contain only thoughts that a chat upstream made', () => {
    const items: Item[] = [
      { type: 'reasoning', text: ['Hm'], summary: [] },
      { type: 'reasoning', text: [], summary: [], encrypted: 'AAAA', format: 'xai-responses-v1' },
      {
        type: 'reasoning',
        text: ['Hm'],
        summary: [],
        signature: 's',
        format: 'anthropic-claude-v1',
        givenBy: 'chat',
      },
      { type: 'reasoning', text: ['So'], summary: [], format: 'anthropic-claude-v1', givenBy: 'chat' },
      { type: 'message', role: 'assistant', content: text('Well') },
      { type: 'opaque', dialect: 'responses', value: { type: 'web_search_call' } },
    ];
    const { body, report } = renderRequest(foreign({ items }), TARGET);
    expect(body.messages).toEqual([
      {
        role: 'assistant',
        content: 'Well',
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1', index: 0 },
          { type: 'reasoning.text', text: 'So', format: 'anthropic-claude-v1', index: 1 },
        ],
      },
    ]);
    expect(report.map(({ field, action }) => `${field} ${action}`)).toEqual([
      'input[0] dropped',
      'input[1] dropped',
      'input[5] dropped',
    ]);
  });

  it('carry cache marks only where they are taken', () => {
    const items: Item[] = [
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'a', cache: {} }] },
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'b', cache: { ttl: '1h' } }] },
    ];
    const plain = renderRequest(foreign({ items, cache: {} }), TARGET);
    expect(JSON.stringify(plain.body)).not.toContain('cache_control');
    expect(plain.report.at(-1)).toMatchObject({ field: 'cache_control', action: 'dropped' });

    const taken = { ...TARGET, supportedParameters: new Set(['cache_control']) };
    const marked = renderRequest(
      foreign({ items: [...items, { type: 'message', role: 'user', content: text('c') }], cache: {} }),
      taken,
    );
    expect(marked.body.messages).toMatchObject([
      { content: [{ text: 'a', cache_control: { type: 'ephemeral' } }] },
      { content: [{ text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      { content: [{ text: 'c', cache_control: { type: 'ephemeral' } }] },
    ]);
    expect(marked.report).toEqual([]);
  });
});

describe('settings', () => {
  it('go out in the words of the format', () => {
    const { body, report } = renderRequest(
      foreign({
        sampling: { temperature: 0.5, topK: 4, topLogprobs: 2 },
        requestedOutputTokens: 90,
        reasoning: { budgetTokens: 45, summary: 'auto' },
        outputFormat: { type: 'json-schema', name: 'o', schema: { type: 'object' }, strict: true },
        tools: [
          { type: 'function', name: 'f', parameters: {}, namespace: { name: 'n' } },
          { type: 'custom', name: 'g' },
          { type: 'hosted', dialect: 'responses', kind: 'web_search', value: {} },
        ],
        toolChoice: { mode: 'tool', kind: 'function', name: 'f' },
        parallelToolCalls: false,
        user: 'ann',
        unknownFields: ['novelty'],
        ext: { responses: { prompt: {} } },
        truncation: 'auto',
      }),
      { ...TARGET, outputLimit: 60 },
    );
    expect(body).toMatchObject({
      model: 'large-v1',
      temperature: 0.5,
      top_k: 4,
      logprobs: true,
      top_logprobs: 2,
      max_tokens: 60,
      reasoning_effort: 'medium',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'o', schema: { type: 'object' }, strict: true },
      },
      tools: [
        { type: 'function', function: { name: 'n__f', parameters: {} } },
        { type: 'function', function: { name: 'g', parameters: { required: ['input'] } } },
      ],
      tool_choice: { type: 'function', function: { name: 'n__f' } },
      parallel_tool_calls: false,
      user: 'hash(ann)',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(body).not.toHaveProperty('novelty');
    expect(report.map(({ field, action }) => `${field} ${action}`).sort()).toEqual(
      [
        'max_output_tokens coerced',
        'novelty dropped',
        'prompt dropped',
        'reasoning.max_tokens coerced',
        'reasoning.summary dropped',
        'tools[2] dropped',
        'truncation dropped',
      ].sort(),
    );
  });

  it('that the endpoint does not take are left out and reported in the caller’s words', () => {
    const target = { ...TARGET, supportedParameters: new Set(['temperature', 'max_completion_tokens']) };
    const request = foreign({
      sampling: { temperature: 1, seed: 5 },
      requestedOutputTokens: 9,
      reasoning: { effort: 'low' },
      outputFormat: { type: 'json' },
    });
    const { body, report } = renderRequest(request, target);
    expect(body).toMatchObject({ temperature: 1, max_completion_tokens: 9 });
    expect(Object.keys(body)).not.toContain('seed');
    expect(report.map(({ field }) => field)).toEqual(['reasoning.effort', 'seed', 'text.format']);
  });

  it('without tools there is no choice of tools', () => {
    const hosted = { type: 'hosted', dialect: 'responses', kind: 'web_search', value: {} } as const;
    const { body } = renderRequest(foreign({ tools: [hosted], toolChoice: { mode: 'auto' } }), TARGET);
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });
});

describe('the relay lane', () => {
  it('sends the caller’s own body, without what speaks to the gateway', () => {
    const given = {
      messages: [{ role: 'user', content: [{ type: 'novelty', x: 1 }] }],
      stream_options: { include_obfuscation: false },
      user: 'ann',
      safety_identifier: 'bob',
      metadata: { user_id: 'cy', team: 'blue' },
      reasoning: { effort: 'high', exclude: true },
      max_completion_tokens: 5,
      provider: { order: ['acme'] },
      plugins: [],
      session_id: 's',
      usage: { include: true },
      service_tier: 'fast',
      temperature: null,
      preset: 'p',
      unheard_of: { a: 1 },
    };
    const { body, report } = renderRelay(requestWith(given), TARGET);
    expect(body).toEqual({
      model: 'large-v1',
      messages: given.messages,
      stream: true,
      stream_options: { include_obfuscation: false, include_usage: true },
      user: 'hash(ann)',
      safety_identifier: 'hash(bob)',
      metadata: { user_id: 'hash(cy)', team: 'blue' },
      reasoning_effort: 'high',
      max_completion_tokens: 5,
      service_tier: 'priority',
      unheard_of: { a: 1 },
    });
    expect(report).toEqual([
      { field: 'unheard_of', action: 'passed_on', detail: 'not a known field: the upstream got it as it is' },
    ]);
  });

  it('leaves the caller’s body as it was', () => {
    const request = requestWith({ user: 'ann', cache_control: { type: 'ephemeral' } });
    const before = JSON.stringify(request.body);
    const { body, report } = renderRelay(request, TARGET);
    expect(JSON.stringify(request.body)).toBe(before);
    expect(body).not.toHaveProperty('cache_control');
    expect(report).toMatchObject([{ field: 'cache_control', action: 'dropped' }]);
  });

  it('survives keys that are names of built-in members', () => {
    const target = { ...TARGET, supportedParameters: new Set(['temperature']) };
    const given = JSON.parse('{"__proto__":{"x":1},"constructor":5,"toString":6}') as JsonObject;
    const body = { model: 'a/b', messages: [{ role: 'user', content: 'Hi' }] };
    for (const key of Object.keys(given)) {
      Object.defineProperty(body, key, { value: given[key], enumerable: true });
    }
    const request = { ...requestWith(), body };
    expect(Object.keys(renderRelay(request, target).body)).toEqual(
      expect.arrayContaining(['__proto__', 'constructor', 'toString']),
    );
  });
});
