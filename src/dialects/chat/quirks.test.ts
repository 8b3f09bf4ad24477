import { describe, expect, it } from 'vitest';
import { requestWith } from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import type { Item } from '../../ir/items.ts';
import type { Quirks } from '../../ir/quirks.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { ReasoningSettings } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { facts as responsesFacts } from '../responses/facts.ts';
import { facts } from './facts.ts';
import { chat } from './index.ts';
import { toolCallId } from './quirks.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

const target = (quirks: Quirks): RenderTarget => ({
  model: 'large-v1',
  quirks,
  hashUser: (id) => `hash(${id})`,
});

function translated(more: Partial<GenerationRequest>, quirks: Quirks): RenderedRequest {
  return renderRequest(
    { ...requestWith(), format: 'responses', formatFacts: responsesFacts.request, body: {}, ...more },
    target(quirks),
  );
}

function relayed(body: JsonObject, quirks: Quirks): RenderedRequest {
  const whole = { model: 'acme/large', messages: [{ role: 'user', content: 'Hi' }], ...body };
  return renderRelay(chat.inbound.parseRequest(whole, { vendor: 'acme' }), target(quirks));
}

const entries = ({ report }: RenderedRequest) => report.map(({ field, action }) => `${field} ${action}`);
const text = (value: string) => ({ type: 'text', text: value }) as const;

describe('outputLimitField', () => {
  it('names the limit', () => {
    const limited = { requestedOutputTokens: 9 };
    expect(translated(limited, {}).body).toMatchObject({ max_tokens: 9 });
    const { body } = translated(limited, { outputLimitField: 'max_completion_tokens' });
    expect(body).toMatchObject({ max_completion_tokens: 9 });
    expect(body).not.toHaveProperty('max_tokens');
  });

  it('renames the caller’s own', () => {
    const { body } = relayed({ max_tokens: 9 }, { outputLimitField: 'max_completion_tokens' });
    expect(body.max_completion_tokens).toBe(9);
    expect(body.max_tokens).toBeUndefined();
    expect(relayed({ max_completion_tokens: 7 }, { outputLimitField: 'max_tokens' }).body.max_tokens).toBe(7);
    expect(relayed({ max_completion_tokens: 7 }, {}).body).toMatchObject({ max_completion_tokens: 7 });
  });
});

describe('mostStopSequences', () => {
  const stop = ['a', 'b', 'c', 'd', 'e'];

  it('is four by default', () => {
    const rendered = translated({ sampling: { stop } }, {});
    expect(rendered.body.stop).toEqual(['a', 'b', 'c', 'd']);
    expect(entries(rendered)).toEqual(['stop coerced']);
  });

  it('lets through what the provider takes', () => {
    const rendered = translated({ sampling: { stop } }, { mostStopSequences: 16 });
    expect(rendered.body.stop).toEqual(stop);
    expect(entries(rendered)).toEqual([]);
  });
});

describe('highestEffort', () => {
  it('is high by default', () => {
    const rendered = relayed({ reasoning_effort: 'xhigh' }, {});
    expect(rendered.body.reasoning_effort).toBe('high');
    expect(entries(rendered)).toEqual(['reasoning_effort coerced']);
    expect(translated({ reasoning: { effort: 'max' } }, {}).body.reasoning_effort).toBe('high');
  });

  it('lets through what the provider knows, and lowers the rest', () => {
    const quirks: Quirks = { highestEffort: 'xhigh' };
    expect(relayed({ reasoning_effort: 'xhigh' }, quirks).body.reasoning_effort).toBe('xhigh');
    expect(relayed({ reasoning: { effort: 'max' } }, quirks).body.reasoning_effort).toBe('xhigh');
  });

  it('does not matter where the efforts of the model are known', () => {
    const request = { ...requestWith(), reasoning: { effort: 'max' } } as const;
    const { body, report } = renderRequest(request, { ...target({}), supportedEfforts: ['high', 'max'] });
    expect(body.reasoning_effort).toBe('max');
    expect(report).toEqual([]);
  });
});

it('an unknown verbosity becomes the nearest, and is reported once if none is taken', () => {
  expect(relayed({ verbosity: 'max' }, {}).body.verbosity).toBe('high');
  expect(relayed({ verbosity: 'low' }, {}).body.verbosity).toBe('low');
  expect(entries(relayed({ verbosity: 'max' }, { refusedFields: ['verbosity'] }))).toEqual([
    'verbosity dropped',
  ]);
});

describe('refusedFields', () => {
  const quirks: Quirks = {
    refusedFields: ['stream_options', 'user', 'logit_bias', 'parallel_tool_calls', 'top_k'],
  };

  it('are left out, and reported if the caller set them', () => {
    const rendered = translated(
      {
        stream: true,
        user: 'u',
        sampling: { topK: 4, temperature: 1 },
        parallelToolCalls: false,
        tools: [{ type: 'function', name: 'f' }],
      },
      quirks,
    );
    expect(Object.keys(rendered.body).sort()).toEqual([
      'messages',
      'model',
      'stream',
      'temperature',
      'tools',
    ]);
    expect(entries(rendered)).toEqual(['parallel_tool_calls dropped', 'top_k dropped']);
  });

  it('are left out of the caller’s own body too', () => {
    const rendered = relayed({ stream: true, logit_bias: { 1: 2 }, user: 'u' }, quirks);
    expect(Object.keys(rendered.body).sort()).toEqual(['messages', 'model', 'stream']);
    expect(entries(rendered)).toEqual(['logit_bias dropped']);
  });
});

it('renamedFields go out under their other name', () => {
  const quirks: Quirks = { renamedFields: { seed: 'random_seed' } };
  expect(translated({ sampling: { seed: 3 } }, quirks).body).toMatchObject({ random_seed: 3 });
  const { body } = relayed({ seed: 3 }, quirks);
  expect(body).toMatchObject({ random_seed: 3 });
  expect(body).not.toHaveProperty('seed');
});

it('refusesDeveloperRole makes such messages system messages', () => {
  const messages = [{ role: 'developer', content: 'Rules' }];
  const quirks: Quirks = { refusesDeveloperRole: true };
  expect(relayed({ messages }, {}).body.messages).toEqual(messages);
  expect(relayed({ messages }, quirks).body.messages).toEqual([{ role: 'system', content: 'Rules' }]);
  const items: Item[] = [{ type: 'message', role: 'developer', content: [text('Rules')] }];
  expect(translated({ format: 'chat', formatFacts: facts.request, items }, {}).body.messages).toMatchObject([
    { role: 'developer' },
  ]);
  expect(
    translated({ format: 'chat', formatFacts: facts.request, items }, quirks).body.messages,
  ).toMatchObject([{ role: 'system' }]);
});

it('refusesTextLists joins text, and leaves what is not text alone', () => {
  const quirks: Quirks = { refusesTextLists: true };
  const image = { type: 'image_url', image_url: { url: 'https://h/i.png' } };
  const messages = [
    { role: 'system', content: [text('a'), text('b')] },
    { role: 'user', content: [text('c'), image] },
  ];
  const { body } = relayed({ messages }, quirks);
  expect(body.messages).toEqual([
    { role: 'system', content: 'a\nb' },
    { role: 'user', content: [text('c'), image] },
  ]);
  const items: Item[] = [{ type: 'message', role: 'assistant', content: [text('a'), text('b')] }];
  expect(translated({ items }, quirks).body.messages).toEqual([{ role: 'assistant', content: 'a\nb' }]);
  expect(translated({ items }, {}).body.messages).toMatchObject([{ content: [text('a'), text('b')] }]);
});

describe('thoughtsMember', () => {
  const quirks: Quirks = { thoughtsMember: 'reasoning_content' };
  const call: Item = { type: 'tool-call', kind: 'function', callId: 'a', name: 'f', input: '{}' };

  it('takes the text of thoughts back, without the seals of others', () => {
    const rendered = translated(
      {
        items: [
          { type: 'reasoning', text: ['Hm', 'so'], summary: ['x'] },
          call,
          { type: 'tool-result', kind: 'function', callId: 'a', content: [text('1')] },
          { type: 'reasoning', text: [], summary: ['Short'], signature: 's', format: 'anthropic-claude-v1' },
          { type: 'message', role: 'assistant', content: [text('Well')] },
        ],
      },
      quirks,
    );
    expect(rendered.body.messages).toMatchObject([
      { role: 'assistant', reasoning_content: 'Hm\nso', tool_calls: [{ id: 'a' }] },
      { role: 'tool' },
      { role: 'assistant', reasoning_content: 'Short', content: 'Well' },
    ]);
    expect(JSON.stringify(rendered.body)).not.toContain('"s"');
    expect(rendered.report).toMatchObject([{ action: 'coerced' }]);
  });

  it('is there beside tool calls even when nothing was thought', () => {
    const [thinking] = translated({ items: [call] }, quirks).body.messages as JsonObject[];
    expect(thinking).toMatchObject({ reasoning_content: '' });
    const [plain] = translated({ items: [call] }, {}).body.messages as JsonObject[];
    expect(plain).not.toMatchObject({ reasoning_content: '' });
  });

  it('takes what the caller wrote under another name', () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const messages = [
      { role: 'assistant', content: 'Well', reasoning: 'Hm' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: '7' },
      { role: 'assistant', content: 'Done' },
    ];
    expect(relayed({ messages }, quirks).body.messages).toEqual([
      { role: 'assistant', content: 'Well', reasoning_content: 'Hm' },
      { role: 'assistant', content: null, tool_calls: calls, reasoning_content: '' },
      { role: 'tool', tool_call_id: 'a', content: '7' },
      { role: 'assistant', content: 'Done' },
    ]);
    expect(relayed({ messages }, { thoughtsMember: 'reasoning' }).body.messages).toMatchObject([
      { reasoning: 'Hm' },
      { reasoning: '' },
      {},
      {},
    ]);
  });
});

it('refusesSchemas asks for any object', () => {
  const schema = { type: 'object' };
  const quirks: Quirks = { refusesSchemas: true };
  const asked = translated({ outputFormat: { type: 'json-schema', name: 'n', schema } }, quirks);
  expect(asked.body.response_format).toEqual({ type: 'json_object' });
  expect(entries(asked)).toEqual(['text.format coerced']);
  const format = { type: 'json_schema', json_schema: { name: 'n', schema } };
  const own = relayed({ response_format: format }, quirks);
  expect(own.body.response_format).toEqual({ type: 'json_object' });
  expect(entries(own)).toEqual(['response_format coerced']);
  expect(relayed({ response_format: format }, {}).body.response_format).toEqual(format);
});

describe('toolCallIds', () => {
  const quirks: Quirks = { toolCallIds: 'nine-alphanumerics' };

  it('are nine letters and digits, the same for call and result', () => {
    const ids = Array.from({ length: 500 }, (_, at) => toolCallId(`call_${at}`, quirks));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(new Set(ids).size).toBe(500);
    expect(toolCallId('abcDEF123', quirks)).toBe('abcDEF123');
    expect(toolCallId('call_1', {})).toBe('call_1');
  });

  it('fit in both lanes', () => {
    const id = toolCallId('call_1', quirks);
    const items: Item[] = [
      { type: 'tool-call', kind: 'function', callId: 'call_1', name: 'f', input: '{}' },
      { type: 'tool-result', kind: 'function', callId: 'call_1', content: [text('1')] },
    ];
    const expected = [{ tool_calls: [{ id }] }, { tool_call_id: id }];
    expect(translated({ items }, quirks).body.messages).toMatchObject(expected);
    const messages = [
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
    ];
    expect(relayed({ messages }, quirks).body.messages).toMatchObject(expected);
  });
});

describe('thinkingField', () => {
  it.each<[Quirks['thinkingField'], ReasoningSettings, JsonObject, string[]]>([
    [undefined, { effort: 'low' }, { reasoning_effort: 'low' }, []],
    ['reasoning', { effort: 'low' }, { reasoning: { effort: 'low' } }, []],
    ['reasoning', { budgetTokens: 2000 }, { reasoning: { max_tokens: 2000 } }, []],
    ['reasoning', { enabled: false }, { reasoning: { enabled: false } }, []],
    ['thinking', { effort: 'low' }, { thinking: { type: 'enabled' } }, ['reasoning.effort coerced']],
    ['thinking', { enabled: true }, { thinking: { type: 'enabled' } }, []],
    ['thinking', { effort: 'none' }, { thinking: { type: 'disabled' } }, []],
    ['thinking', { budgetTokens: 2000 }, { thinking: { type: 'enabled' } }, ['reasoning.max_tokens coerced']],
    [
      'enable_thinking',
      { effort: 'high', budgetTokens: 2000 },
      { enable_thinking: true, thinking_budget: 2000 },
      ['reasoning.effort coerced'],
    ],
    ['enable_thinking', { enabled: false }, { enable_thinking: false }, []],
  ])('%s says %j', (thinkingField, reasoning, expected, told) => {
    const rendered = translated({ reasoning }, thinkingField === undefined ? {} : { thinkingField });
    const { model, messages, stream, stream_options, ...rest } = rendered.body;
    expect(rest).toEqual(expected);
    expect(entries(rendered)).toEqual(told);
  });

  it('replaces what chat callers write', () => {
    const quirks: Quirks = { thinkingField: 'thinking' };
    const { body } = relayed({ reasoning_effort: 'none' }, quirks);
    expect(body.thinking).toEqual({ type: 'disabled' });
    expect(body.reasoning_effort).toBeUndefined();
    expect(relayed({ reasoning: { effort: 'high' } }, quirks).body.thinking).toEqual({ type: 'enabled' });
    expect(relayed({ reasoning_effort: 'low' }, {}).body.reasoning_effort).toBe('low');
  });
});
