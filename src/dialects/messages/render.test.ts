import { describe, expect, it } from 'vitest';
import type { Item } from '../../ir/items.ts';
import { Places } from '../../ir/places.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';
import { facts as chatFacts } from '../chat/facts.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { renderCountTokens } from './count-tokens.ts';
import { parseRequest } from './parse.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

const TARGET = { model: 'upstream-model', hashUser: (id: string) => `hash(${id})` };

/** A request as another format makes it. */
function foreign(change: Partial<GenerationRequest>): GenerationRequest {
  return {
    format: 'chat',
    formatFacts: chatFacts.request,
    body: {},
    models: ['m'],
    hasFallbackModels: false,
    items: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    sampling: {},
    stream: false,
    echoUpstreamBody: false,
    wishes: { provider: {}, plugins: [] },
    ext: {},
    places: new Places(),
    unknownFields: [],
    ...change,
  };
}

function native(change: JsonObject): GenerationRequest {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...change };
  return parseRequest(body, { vendor: 'acme' });
}

const weather = { type: 'function', name: 'weather', parameters: { properties: {} } } as const;

describe('rendering for a messages upstream', () => {
  it('always sends an output limit', () => {
    expect(renderRequest(foreign({}), TARGET).body.max_tokens).toBe(4096);
    expect(renderRequest(foreign({}), { ...TARGET, outputLimit: 9000 }).body.max_tokens).toBe(9000);
    expect(renderRequest(foreign({ requestedOutputTokens: 7 }), TARGET).body.max_tokens).toBe(7);
    expect(renderRelay(native({}), TARGET).body.max_tokens).toBe(4096);
  });

  it('treats a model that always thinks as thinking, also without a setting', () => {
    const request = foreign({
      sampling: { temperature: 0.2, topP: 0.5, topK: 3 },
      tools: [weather],
      toolChoice: { mode: 'required' },
    });
    const { body, report } = renderRequest(request, { ...TARGET, alwaysThinks: true });
    for (const name of ['thinking', 'temperature', 'top_p', 'top_k']) expect(body).not.toHaveProperty(name);
    expect(body.tool_choice).toEqual({ type: 'auto' });
    expect(report.map(({ field, action }) => `${field} ${action}`).sort()).toEqual([
      'temperature dropped',
      'tool_choice coerced',
      'top_k dropped',
      'top_p dropped',
    ]);
    expect(renderRequest(request, TARGET).body).toMatchObject({
      temperature: 0.2,
      tool_choice: { type: 'any' },
    });
  });

  it('merges turns, puts results first and keeps system messages', () => {
    const { body, report } = renderRequest(
      foreign({
        items: [
          { type: 'message', role: 'system', content: [{ type: 'text', text: 's1' }] },
          { type: 'message', role: 'developer', content: [{ type: 'text', text: 's2' }] },
          { type: 'message', role: 'user', content: [{ type: 'text', text: 'q' }] },
          { type: 'tool-call', kind: 'function', callId: 'f.a:0', name: 'weather', input: '{"a":1}' },
          { type: 'tool-call', kind: 'function', callId: 'c2', name: 'weather', input: 'not json' },
          { type: 'message', role: 'developer', content: [{ type: 'text', text: 'later' }] },
          { type: 'tool-result', kind: 'function', callId: 'f.a:0', content: [{ type: 'text', text: 'r' }] },
        ],
      }),
      TARGET,
    );
    expect(body.system).toEqual([
      { type: 'text', text: 's1' },
      { type: 'text', text: 's2' },
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'f_a_0_b829837b3609', name: 'weather', input: { a: 1 } },
          { type: 'tool_use', id: 'c2', name: 'weather', input: { raw: 'not json' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'f_a_0_b829837b3609', content: [{ type: 'text', text: 'r' }] },
          {
            type: 'tool_result',
            tool_use_id: 'c2',
            content: [{ type: 'text', text: 'No result was recorded.' }],
          },
          { type: 'text', text: '<system>' },
          { type: 'text', text: 'later' },
          { type: 'text', text: '</system>' },
        ],
      },
    ]);
    expect(report.map(({ action }) => action)).toEqual(['coerced', 'coerced', 'coerced', 'coerced']);
  });

  it('keeps calls apart whose ids would come out alike, and pairs each with its result', () => {
    const ids = ['a.1', 'a:1', 'a_1'];
    const items: Item[] = [
      ...ids.map((callId): Item => ({ type: 'tool-call', kind: 'function', callId, name: 'f', input: '{}' })),
      ...ids.map((callId): Item => ({ type: 'tool-result', kind: 'function', callId, content: [] })),
    ];
    const [calls = {}, results = {}] = objectsAt(renderRequest(foreign({ items }), TARGET).body, 'messages');
    const used = objectsAt(calls, 'content').map(({ id }) => id);
    expect(new Set(used).size).toBe(ids.length);
    expect(objectsAt(results, 'content').map(({ tool_use_id }) => tool_use_id)).toEqual(used);
  });

  it('turns a conversation of system prompts alone into one with a user', () => {
    const items = [{ type: 'message', role: 'system', content: [{ type: 'text', text: 's' }] }] as const;
    const { body } = renderRequest(foreign({ items }), TARGET);
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 's' }] }]);
    expect(body.system).toBeUndefined();
  });

  it('makes an effort a budget below the output limit', () => {
    const rendered = (change: Partial<GenerationRequest>) => renderRequest(foreign(change), TARGET).body;
    expect(rendered({ reasoning: { effort: 'high' }, requestedOutputTokens: 10_000 })).toMatchObject({
      max_tokens: 10_000,
      thinking: { type: 'enabled', budget_tokens: 8000 },
    });
    expect(rendered({ reasoning: { effort: 'low' }, requestedOutputTokens: 2000 })).toMatchObject({
      max_tokens: 2000,
      thinking: { budget_tokens: 1024 },
    });
    expect(rendered({ reasoning: { effort: 'low' }, requestedOutputTokens: 500 })).toMatchObject({
      max_tokens: 500,
      thinking: { type: 'disabled' },
    });
    expect(rendered({ reasoning: { effort: 'none' } }).thinking).toEqual({ type: 'disabled' });
    expect(renderRequest(native({ output_config: { effort: 'high' } }), TARGET).body).toMatchObject({
      output_config: { effort: 'high' },
    });
  });

  it('leaves it to models without budgets how much they think, and asks to see it', () => {
    const rendered = (change: Partial<GenerationRequest>) =>
      renderRequest(foreign(change), { ...TARGET, takesBudget: false });
    const high = rendered({ reasoning: { effort: 'xhigh', summary: 'auto' }, requestedOutputTokens: 500 });
    expect(high.body).toMatchObject({
      max_tokens: 500,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'xhigh' },
    });
    expect(high.report).toEqual([]);
    const least = rendered({ reasoning: { effort: 'minimal', exclude: true, summary: 'detailed' } });
    expect(least.body).toMatchObject({
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'low' },
    });
    expect(least.report.map(({ field, action }) => `${field} ${action}`)).toEqual([
      'reasoning.effort coerced',
      'reasoning.summary dropped',
    ]);
    expect(rendered({ reasoning: { enabled: true } }).body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
    });
    expect(rendered({ reasoning: { effort: 'none' } }).body.thinking).toEqual({ type: 'disabled' });
    expect(rendered({}).body).not.toHaveProperty('thinking');
    const own = native({ output_config: { effort: 'high' } });
    expect(renderRequest(own, { ...TARGET, takesBudget: false }).body).not.toHaveProperty('thinking');
  });

  it('drops what conflicts with thinking, and reports it', () => {
    const { body, report } = renderRequest(
      foreign({
        reasoning: { effort: 'medium' },
        sampling: { temperature: 0.2, topK: 5, topP: 0.5, stop: ['x'] },
        tools: [weather],
        toolChoice: { mode: 'tool', kind: 'function', name: 'weather' },
      }),
      TARGET,
    );
    expect(body).toMatchObject({ stop_sequences: ['x'], tool_choice: { type: 'auto' } });
    expect(body).not.toHaveProperty('temperature');
    expect(report.map(({ field }) => field).sort()).toEqual(['temperature', 'tool_choice', 'top_k', 'top_p']);
  });

  it('switches thinking off after tool calls without their thoughts', () => {
    const items = [
      { type: 'tool-call', kind: 'function', callId: 'c', name: 'weather', input: '{}' },
      { type: 'tool-result', kind: 'function', callId: 'c', content: [] },
    ] as const;
    const { body, report } = renderRequest(foreign({ items, reasoning: { effort: 'high' } }), TARGET);
    expect(body.thinking).toEqual({ type: 'disabled' });
    expect(report.map(({ field }) => field)).toEqual(['reasoning']);
    const thought = {
      type: 'reasoning',
      text: ['t'],
      summary: [],
      signature: 's',
      format: 'anthropic-claude-v1',
    } as const;
    const whole = renderRequest(
      foreign({ items: [thought, ...items], reasoning: { effort: 'high' } }),
      TARGET,
    );
    expect(whole.body.thinking).toMatchObject({ type: 'enabled' });
  });

  it('reports everything that has no field', () => {
    const search = {
      type: 'hosted',
      dialect: 'responses',
      kind: 'web_search',
      value: { type: 'web_search' },
    } as const;
    const places = new Places();
    places.put(search, 'tools[0]');
    const { report } = renderRequest(
      foreign({
        places,
        sampling: { seed: 1, topLogprobs: 3, presencePenalty: 1, frequencyPenalty: 0, temperature: 1.5 },
        verbosity: 'low',
        serviceTier: 'flex',
        tools: [search],
        outputFormat: { type: 'json' },
        ext: { chat: { logit_thing: 1 } },
        unknownFields: ['mystery'],
      }),
      TARGET,
    );
    expect(Object.fromEntries(report.map(({ field, action }) => [field, action]))).toEqual({
      seed: 'dropped',
      top_logprobs: 'dropped',
      presence_penalty: 'dropped',
      temperature: 'coerced',
      verbosity: 'dropped',
      service_tier: 'dropped',
      'tools[0]': 'dropped',
      response_format: 'coerced',
      logit_thing: 'dropped',
      mystery: 'dropped',
    });
  });

  it('takes away what the endpoint does not take', () => {
    const target = { ...TARGET, supportedParameters: new Set(['max_tokens']) };
    const { body, report } = renderRequest(
      foreign({
        sampling: { temperature: 0.5 },
        tools: [weather],
        reasoning: { effort: 'low' },
        outputFormat: { type: 'json-schema', name: 'x', schema: {} },
      }),
      target,
    );
    expect(Object.keys(body).sort()).toEqual(['max_tokens', 'messages', 'model']);
    expect(report).toHaveLength(4);
  });

  it('sends seals only to the family that minted them', () => {
    const items = [
      { type: 'reasoning', text: ['a'], summary: [], signature: 's', format: 'anthropic-claude-v1' },
      { type: 'reasoning', text: [], summary: ['b'], encrypted: 'e', format: 'openai-responses-v1' },
      { type: 'reasoning', text: ['c'], summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'x' }] },
    ] as const;
    const { body, report } = renderRequest(foreign({ items }), TARGET);
    expect(body.messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'a', signature: 's' },
          { type: 'text', text: 'x' },
        ],
      },
    ]);
    expect(report.map(({ action }) => action)).toEqual(['dropped', 'dropped']);
  });
});

describe('relaying to a messages upstream', () => {
  it("sends the caller's own body without what is for the gateway", () => {
    const request = native({
      provider: { order: ['a'] },
      fallbacks: [{ model: 'b' }],
      session_id: 's',
      user: 'u1',
      metadata: { user_id: 'u2' },
      speed: 'standard',
      service_tier: 'priority',
      mystery: { kept: true },
      thinking: null,
      stream: true,
    });
    const { body, headers, report } = renderRelay(request, TARGET);
    expect(body).toEqual({
      messages: [{ role: 'user', content: 'hi' }],
      mystery: { kept: true },
      stream: true,
      model: 'upstream-model',
      max_tokens: 4096,
      metadata: { user_id: 'hash(u1)' },
    });
    expect(headers).toEqual({ 'anthropic-version': '2023-06-01' });
    expect(report.map(({ field, action }) => `${field} ${action}`)).toEqual([
      'service_tier dropped',
      'mystery passed_on',
    ]);
    expect(request.body).toHaveProperty('provider');
  });

  it('takes out what another family left in earlier turns', () => {
    const messages = [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: [
          {
            type: 'thinking',
            thinking: 't',
            signature: wrapSeal({ encrypted: 'e', format: 'openai-responses-v1' }),
          },
          { type: 'thinking', thinking: 'n', signature: 'native' },
          {
            type: 'text',
            text: 'x',
            citations: [
              {
                type: 'web_search_result_location',
                cited_text: '',
                url: 'u',
                title: 't',
                encrypted_index: '',
              },
            ],
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: wrapSeal({}) }] },
    ];
    const { body, report } = renderRelay(native({ messages }), TARGET);
    expect(body.messages).toEqual([
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'n', signature: 'native' },
          { type: 'text', text: 'x', citations: [] },
        ],
      },
    ]);
    expect(report.map(({ field }) => field)).toEqual([
      'messages[1].content[0]',
      'messages[1].content[2].citations',
      'messages[2].content[0]',
    ]);
  });

  it("does not judge what is all the caller's own", () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] },
    ];
    const thinking = { type: 'enabled', budget_tokens: 5000 };
    const { body, report } = renderRelay(native({ messages, thinking }), TARGET);
    expect(body).toMatchObject({ messages, thinking, max_tokens: 9096 });
    expect(report).toEqual([]);
  });
});

describe('counting tokens', () => {
  it("asks with the caller's own body, without what is about the answer", () => {
    const tool_choice = { type: 'auto' };
    const kept = {
      system: 's',
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      tool_choice,
      thinking: { type: 'enabled', budget_tokens: 20_000 },
      context_management: { edits: [] },
      output_config: { effort: 'low' },
      mcp_servers: [{ url: 'https://mcp.example' }],
      mystery: 1,
    };
    const request = native({
      ...kept,
      max_tokens: 30_000,
      stream: true,
      temperature: 1,
      stop_sequences: ['x'],
      metadata: { user_id: 'u' },
      user: 'u',
      service_tier: 'auto',
      provider: { order: ['a'] },
    });
    const { body, headers } = renderCountTokens(request, { ...TARGET, outputLimit: 1000 });
    expect(body).toEqual({ ...kept, model: 'upstream-model', messages: [{ role: 'user', content: 'hi' }] });
    expect(headers).toEqual({ 'anthropic-version': '2023-06-01' });
  });

  it('translates requests of other formats', () => {
    const { body } = renderCountTokens(foreign({ tools: [weather], sampling: { temperature: 1 } }), TARGET);
    expect(body).toEqual({
      model: 'upstream-model',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [{ name: 'weather', input_schema: { type: 'object', properties: {} } }],
    });
  });
});

describe('the automatic cache mark', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };

  it.each([renderRelay, renderRequest])('goes on the last block that may carry it', (render) => {
    const messages = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'thinking', thinking: 't', signature: 's' },
        ],
      },
    ];
    const { body } = render(native({ messages, ...mark }), TARGET);
    expect(body).not.toHaveProperty('cache_control');
    expect((body.messages as JsonObject[])[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'a', ...mark },
        { type: 'thinking', thinking: 't', signature: 's' },
      ],
    });
  });

  it("turns text into a block to carry it, and leaves the caller's body alone", () => {
    const request = native(mark);
    expect(renderRelay(request, TARGET).body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] },
    ]);
    expect(request.body.messages).toEqual([{ role: 'user', content: 'hi' }]);
  });

  it('is not added to four others', () => {
    const block = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
    const messages = [{ role: 'user', content: [block, block, block, block, { type: 'text', text: 'y' }] }];
    const { body, report } = renderRelay(native({ messages, ...mark }), TARGET);
    expect(body.messages).toEqual(messages);
    expect(report.map(({ field }) => field)).toEqual(['cache_control']);
  });
});
