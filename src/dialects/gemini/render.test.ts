import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Item, Part, ToolCallItem } from '../../ir/items.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../ir/request.ts';
import type { ReasoningSettings } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { gemini } from './index.ts';

const target = (model = 'gemini-2.5-flash', more: Partial<RenderTarget> = {}): RenderTarget => ({
  model,
  hashUser: (id) => `hash(${id})`,
  ...more,
});

function rendered(changes: Partial<GenerationRequest>, to: RenderTarget = target()) {
  const { body, report } = gemini.upstream.renderRequest(requestOf(changes), to);
  const plain = JSON.parse(JSON.stringify(body)) as JsonObject;
  return {
    body: plain,
    contents: plain.contents,
    config: (plain.generationConfig ?? {}) as JsonObject,
    told: report.map(({ field, action }) => `${field} ${action}`),
  };
}

const text = (value: string): Part => ({ type: 'text', text: value });
const says = (role: 'user' | 'assistant' | 'system' | 'developer', ...content: (string | Part)[]): Item => ({
  type: 'message',
  role,
  content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
});
const call = (callId: string, input = '{"a":1}', name = 'f'): ToolCallItem => ({
  type: 'tool-call',
  kind: 'function',
  callId,
  name,
  input,
});
const result = (callId: string, ...content: (string | Part)[]): Item => ({
  type: 'tool-result',
  kind: 'function',
  callId,
  content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
});
const png: Part = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } };
const PNG = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const called = (a: number) => ({ functionCall: { name: 'f', args: { a } } });
const answered = (output: string) => ({ functionResponse: { name: 'f', response: { output } } });

describe('addresses', () => {
  it('name the model and the way of answering', () => {
    expect(gemini.upstream.path('gemini-2.5-pro', false)).toBe('/models/gemini-2.5-pro:generateContent');
    expect(gemini.upstream.path('gemini-2.5-pro', true)).toBe(
      '/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    );
    expect(gemini.upstream.path('a b?c', false)).toBe('/models/a%20b%3Fc:generateContent');
  });
});

describe('conversations', () => {
  const cases: Readonly<Record<string, readonly [items: Item[], contents: unknown, told?: string[]]>> = {
    'take turns': [
      [
        says('user', 'a'),
        says('user', 'b'),
        says('assistant', 'c'),
        says('assistant', 'd'),
        says('user', 'e'),
      ],
      [
        { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
        { role: 'model', parts: [{ text: 'c' }, { text: 'd' }] },
        { role: 'user', parts: [{ text: 'e' }] },
      ],
    ],
    'leave empty text out': [
      [says('user', '', 'a', ''), says('assistant', ''), says('user', 'b')],
      [{ role: 'user', parts: [{ text: 'a' }, { text: 'b' }] }],
    ],
    'answer parallel calls in one turn, in the order of the calls': [
      [
        says('user', 'a'),
        call('x'),
        call('y', '{"a":2}'),
        result('y', 'Y'),
        result('x', 'X'),
        says('user', 'b'),
      ],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [called(1), called(2)] },
        { role: 'user', parts: [answered('X'), answered('Y')] },
        { role: 'user', parts: [{ text: 'b' }] },
      ],
    ],
    'answer call after call': [
      [says('user', 'a'), call('x'), result('x', 'X'), call('y', '{"a":2}'), result('y', 'Y')],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [called(1)] },
        { role: 'user', parts: [answered('X')] },
        { role: 'model', parts: [called(2)] },
        { role: 'user', parts: [answered('Y')] },
      ],
    ],
    'bring a result that came late to its call': [
      [
        says('user', 'a'),
        call('x'),
        says('user', 'wait'),
        says('assistant', 'ok'),
        result('x', 'X'),
        says('assistant', 'so'),
      ],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [called(1)] },
        { role: 'user', parts: [answered('X')] },
        { role: 'user', parts: [{ text: 'wait' }] },
        { role: 'model', parts: [{ text: 'ok' }, { text: 'so' }] },
      ],
    ],
    'pair calls that share an id': [
      [says('user', 'a'), call('x'), result('x', '1'), call('x', '{"a":2}'), result('x', '2')],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [called(1)] },
        { role: 'user', parts: [answered('1')] },
        { role: 'model', parts: [called(2)] },
        { role: 'user', parts: [answered('2')] },
      ],
    ],
    'tell of a call without its result': [
      [says('user', 'a'), call('x'), says('user', 'b')],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [called(1)] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'f', response: { error: 'No result was recorded.' } } }],
        },
        { role: 'user', parts: [{ text: 'b' }] },
      ],
      ['input coerced'],
    ],
    'keep a result without its call as words': [
      [says('user', 'a'), result('x', 'X')],
      [{ role: 'user', parts: [{ text: 'a' }, { text: 'Output of tool call x:' }, { text: 'X' }] }],
      ['input coerced'],
    ],
    'let the user begin': [
      [says('assistant', 'a'), says('user', 'b')],
      [
        { role: 'user', parts: [{ text: '(The assistant speaks first.)' }] },
        { role: 'model', parts: [{ text: 'a' }] },
        { role: 'user', parts: [{ text: 'b' }] },
      ],
      ['input coerced'],
    ],
    'keep system prompts in the middle': [
      [says('user', 'a'), says('developer', 'rule'), says('assistant', 'b')],
      [
        {
          role: 'user',
          parts: [{ text: 'a' }, { text: '<system>' }, { text: 'rule' }, { text: '</system>' }],
        },
        { role: 'model', parts: [{ text: 'b' }] },
      ],
      ['input coerced'],
    ],
    'make a turn of system prompts alone': [
      [says('system', 'rule'), says('developer', 'go')],
      [{ role: 'user', parts: [{ text: 'go' }] }],
      ['input coerced'],
    ],
    'put arguments that are no object into one': [
      [says('user', 'a'), call('x', '[1'), result('x', 'X')],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { raw: '[1' } } }] },
        { role: 'user', parts: [answered('X')] },
      ],
      ['input.arguments coerced'],
    ],
    'say what failed': [
      [says('user', 'a'), call('x'), { ...result('x', 'Boom'), isError: true } as Item],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [called(1)] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { error: 'Boom' } } }] },
      ],
    ],
    'put images out of results beside them': [
      [says('user', 'a'), call('x'), result('x', 'See', png), says('user', 'b')],
      [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [called(1)] },
        { role: 'user', parts: [answered('See')] },
        { role: 'user', parts: [{ text: 'Output of tool call x:' }, PNG, { text: 'b' }] },
      ],
      ['input coerced'],
    ],
  };

  it.each(Object.entries(cases))('%s', (_name, [items, contents, told = []]) => {
    const got = rendered({ items });
    expect(got.contents).toEqual(contents);
    expect(got.told).toEqual(told);
  });

  it('hold system prompts at the front apart', () => {
    const { body } = rendered({
      items: [says('system', 'one', 'two'), says('developer', 'three'), says('user', 'a')],
    });
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] });
    expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'a' }] }]);
  });

  it('keep images inside results where the model takes them', () => {
    const items = [says('user', 'a'), call('x'), result('x', 'See', png)];
    const { contents, told } = rendered({ items }, target('gemini-3.5-flash'));
    expect((contents as JsonObject[])[2]).toEqual({
      role: 'user',
      parts: [{ functionResponse: { name: 'f', response: { output: 'See' }, parts: [PNG] } }],
    });
    expect(told).toEqual([]);
  });

  it('keep blocks of other dialects that are texts inside results', () => {
    const found = {
      type: 'search_result',
      title: 'T',
      source: 'S',
      content: [{ type: 'text', text: 'found' }],
    };
    const parts = [found, { type: 'browser_state', tabs: [] }].map(
      (value): Part => ({
        type: 'opaque',
        dialect: 'messages',
        value,
      }),
    );
    const { contents } = rendered({ items: [says('user', 'a'), call('x'), result('x', 'See', ...parts)] });
    expect((contents as JsonObject[]).slice(2)).toEqual([
      { role: 'user', parts: [answered('See\nT\nS\nfound\n{"tabs":[]}')] },
    ]);
  });

  it('are refused without any message', () => {
    expect(() => rendered({ items: [says('user', '')] })).toThrow('the conversation has no content');
  });
});

describe('content', () => {
  const rows: [string, Part, unknown[], string[]?][] = [
    ['bytes of an image', png, [PNG]],
    [
      'sound',
      { type: 'audio', data: 'AAAA', format: 'mp3' },
      [{ inlineData: { mimeType: 'audio/mpeg', data: 'AAAA' } }],
    ],
    [
      'an address',
      { type: 'image', source: { kind: 'url', url: 'https://a.example/i.webp?x=1' } },
      [{ fileData: { mimeType: 'image/webp', fileUri: 'https://a.example/i.webp?x=1' } }],
    ],
    [
      'an address that does not tell its type',
      { type: 'image', source: { kind: 'url', url: 'https://a.example/i' } },
      [{ fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/i' } }],
      ['input coerced'],
    ],
    [
      'a bucket',
      { type: 'file', source: { kind: 'url', url: 'gs://b/a.pdf' } },
      [{ fileData: { mimeType: 'application/pdf', fileUri: 'gs://b/a.pdf' } }],
    ],
    [
      'an address that the upstream does not fetch',
      { type: 'image', source: { kind: 'url', url: 'http://a.example/i.png' } },
      [],
      ['input dropped'],
    ],
    [
      'film as a data URL',
      { type: 'video', url: 'data:video/mp4;base64,AAAA' },
      [{ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }],
    ],
    [
      'a file of another provider',
      { type: 'file', source: { kind: 'file-id', fileId: 'f' } },
      [],
      ['input dropped'],
    ],
    [
      'a document',
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' } },
      [{ inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }],
    ],
    [
      'a document that is text',
      {
        type: 'file',
        filename: 'a.json',
        source: { kind: 'base64', mediaType: 'application/json', data: 'e30=' },
      },
      [{ text: 'a.json\n{}' }],
      ['input coerced'],
    ],
    [
      'a document that the upstream cannot read',
      { type: 'file', source: { kind: 'base64', mediaType: 'application/zip', data: 'AAAA' } },
      [],
      ['input dropped'],
    ],
    ['a refusal', { type: 'refusal', refusal: 'No.' }, [{ text: 'No.' }]],
  ];

  it.each(rows)('%s', (_name, part, parts, told = []) => {
    const got = rendered({ items: [says('user', 'x', part)] });
    expect(got.contents).toEqual([{ role: 'user', parts: [{ text: 'x' }, ...parts] }]);
    expect(got.told).toEqual(told);
  });
});

describe('tools', () => {
  const f: Tool = {
    type: 'function',
    name: 'f',
    description: 'Does f',
    parameters: { type: 'object', $defs: { n: { type: ['number', 'null'] } }, additionalProperties: false },
  };
  const g: Tool = { type: 'function', name: 'g' };
  const configOf = (tools: Tool[], toolChoice?: ToolChoice) =>
    rendered({ tools, ...(toolChoice !== undefined && { toolChoice }) }).body.toolConfig;

  it('are declared with the schema as the caller wrote it', () => {
    expect(rendered({ tools: [f, g] }).body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'f',
            description: 'Does f',
            parametersJsonSchema: f.type === 'function' ? f.parameters : {},
          },
          { name: 'g' },
        ],
      },
    ]);
  });

  it('are named as the upstream takes names', () => {
    const tools: Tool[] = [
      { ...f, namespace: { name: 'n' } } as Tool,
      { type: 'custom', name: '1st' },
      { type: 'function', name: '_1st' },
    ];
    const { body, told } = rendered({ tools });
    const [{ functionDeclarations }] = body.tools as [{ functionDeclarations: JsonObject[] }];
    expect(functionDeclarations.map(({ name }) => name)).toEqual(['n__f', '_1st_2', '_1st']);
    expect(told).toEqual(['tools.name renamed']);
  });

  it.each<[string, ToolChoice | undefined, JsonObject | undefined]>([
    ['nothing', undefined, undefined],
    ['auto', { mode: 'auto' }, undefined],
    ['none', { mode: 'none' }, { mode: 'NONE' }],
    ['required', { mode: 'required' }, { mode: 'ANY' }],
    ['one', { mode: 'tool', kind: 'function', name: 'g' }, { mode: 'ANY', allowedFunctionNames: ['g'] }],
    [
      'some',
      { mode: 'allowed', required: false, tools: [{ type: 'function', name: 'g' }] },
      { mode: 'VALIDATED', allowedFunctionNames: ['g'] },
    ],
    [
      'one of some',
      { mode: 'allowed', required: true, tools: [{ type: 'function', name: 'f' }] },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
    [
      'none of those that are sent',
      { mode: 'allowed', required: false, tools: [{ type: 'web_search' }] },
      { mode: 'NONE' },
    ],
  ])('are chosen: %s', (_name, choice, config) => {
    expect(configOf([f, g], choice)).toEqual(config && { functionCallingConfig: config });
  });

  it('are kept to strictly where all of them ask for it', () => {
    const strict = { ...f, strict: true } as Tool;
    expect(configOf([strict])).toEqual({ functionCallingConfig: { mode: 'VALIDATED' } });
    expect(configOf([strict, g])).toBeUndefined();
    expect(rendered({ tools: [strict, g] }).told).toEqual(['tools.strict dropped']);
  });
});

describe('thinking', () => {
  const thinkingOf = (model: string, reasoning: ReasoningSettings, more: Partial<GenerationRequest> = {}) => {
    const { config, told } = rendered({ reasoning, ...more }, target(model));
    return [config.thinkingConfig, told];
  };
  const shown = { includeThoughts: true };

  it.each<[string, ReasoningSettings, JsonObject | undefined, string[]?]>([
    ['gemini-2.5-flash', { effort: 'medium' }, { ...shown, thinkingBudget: 24_576 }],
    ['gemini-2.5-flash', { effort: 'low', exclude: true }, { thinkingBudget: 13_107 }],
    ['gemini-2.5-flash', { budgetTokens: 2000 }, { ...shown, thinkingBudget: 2000 }],
    [
      'gemini-2.5-flash',
      { budgetTokens: 99_000 },
      { ...shown, thinkingBudget: 24_576 },
      ['reasoning.max_tokens coerced'],
    ],
    [
      'gemini-2.5-flash',
      { budgetTokens: 2000, effort: 'high' },
      { ...shown, thinkingBudget: 2000 },
      ['reasoning.effort dropped'],
    ],
    ['gemini-2.5-flash', { effort: 'none' }, { thinkingBudget: 0 }],
    ['gemini-2.5-pro', { enabled: false }, { thinkingBudget: 128 }, ['reasoning coerced']],
    ['gemini-2.5-flash', { adaptive: true }, { ...shown, thinkingBudget: -1 }],
    ['gemini-2.5-flash', { summary: 'auto' }, shown],
    ['gemini-3.5-flash', { effort: 'minimal' }, { ...shown, thinkingLevel: 'minimal' }],
    [
      'gemini-3.5-flash',
      { effort: 'max' },
      { ...shown, thinkingLevel: 'high' },
      ['reasoning.effort coerced'],
    ],
    ['gemini-3.5-flash', { effort: 'none' }, { thinkingLevel: 'minimal' }, ['reasoning coerced']],
    [
      'gemini-3-pro-preview',
      { effort: 'medium' },
      { ...shown, thinkingLevel: 'high' },
      ['reasoning.effort coerced'],
    ],
    ['gemini-3.1-pro-preview', { effort: 'medium' }, { ...shown, thinkingLevel: 'medium' }],
    [
      'gemini-3.5-flash',
      { budgetTokens: 60_000 },
      { ...shown, thinkingLevel: 'high' },
      ['reasoning.max_tokens coerced'],
    ],
    ['gemini-3.5-flash', { enabled: true }, { ...shown, thinkingLevel: 'medium' }],
    ['gemini-2.0-flash', { effort: 'high' }, undefined, ['reasoning dropped']],
    [
      'gemini-2.5-flash',
      { context: 'all_turns', mode: 'pro' },
      shown,
      ['reasoning.context dropped', 'reasoning.mode dropped'],
    ],
  ])('%s: %j', (model, settings, config, told = []) => {
    expect(thinkingOf(model, settings)).toEqual([config, told]);
  });

  it('leaves room for the answer', () => {
    expect(thinkingOf('gemini-2.5-flash', { effort: 'high' }, { requestedOutputTokens: 800 })).toEqual([
      { ...shown, thinkingBudget: 400 },
      [],
    ]);
  });

  it('is not shown to callers of the messages format who did not ask for it', () => {
    expect(thinkingOf('gemini-3.5-flash', { effort: 'low' }, { format: 'messages' })).toEqual([
      { thinkingLevel: 'low' },
      [],
    ]);
  });
});

describe('the shape of the answer', () => {
  const schema = { type: 'object', properties: {} };
  const format = { type: 'json-schema', name: '', schema } as const;
  const tools: Tool[] = [{ type: 'function', name: 'f' }];

  it('is demanded', () => {
    expect(rendered({ outputFormat: format }).config).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    expect(rendered({ outputFormat: { type: 'json' } }).config).toEqual({
      responseMimeType: 'application/json',
    });
  });

  it('is asked for in words beside tools, where the model takes not both', () => {
    const { body, config, told } = rendered({ outputFormat: format, tools });
    expect(config).toEqual({});
    expect(JSON.stringify(body.systemInstruction)).toContain('JSON Schema');
    expect(told).toEqual(['text.format coerced']);
    expect(rendered({ outputFormat: format, tools }, target('gemini-3.5-flash')).config).toHaveProperty(
      'responseJsonSchema',
    );
  });

  it('may be images', () => {
    const { config, told } = rendered({
      modalities: ['text', 'image', 'audio'],
      imageConfig: { aspect_ratio: '16:9', image_size: '2K', strength: 1 },
    });
    expect(config).toEqual({
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
    });
    expect(told).toEqual(['modalities coerced', 'image_config.strength dropped']);
  });
});

describe('settings', () => {
  it('arrive under their own names', () => {
    const sampling = {
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      seed: 7,
      stop: ['a'],
      logprobs: true,
      topLogprobs: 3,
    };
    const { config, told } = rendered({ sampling, requestedOutputTokens: 100 });
    expect(config).toEqual({
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      seed: 7,
      stopSequences: ['a'],
      responseLogprobs: true,
      logprobs: 3,
      maxOutputTokens: 100,
    });
    expect(told).toEqual([]);
  });

  it('are made to fit', () => {
    const sampling = { seed: 2 ** 40 + 5, stop: ['1', '2', '3', '4', '5', '6'], topK: 0 };
    const { config, told } = rendered(
      { sampling, requestedOutputTokens: 900 },
      target('gemini-2.5-flash', { outputLimit: 500 }),
    );
    expect(config).toEqual({ seed: 5, stopSequences: ['1', '2', '3', '4', '5'], maxOutputTokens: 500 });
    expect(told).toEqual(['seed coerced', 'stop coerced', 'max_output_tokens coerced']);
  });

  it('are left out where the endpoint does not take them', () => {
    const to = target('gemini-2.5-flash', { supportedParameters: new Set(['temperature', 'max_tokens']) });
    const { body, config, told } = rendered(
      {
        sampling: { temperature: 1, topP: 1, topK: 1, seed: 1, stop: ['a'], topLogprobs: 2 },
        requestedOutputTokens: 9,
        reasoning: { effort: 'low' },
        outputFormat: { type: 'json' },
        tools: [{ type: 'function', name: 'f' }],
        toolChoice: { mode: 'required' },
      },
      to,
    );
    expect(config).toEqual({ temperature: 1, maxOutputTokens: 9 });
    expect(body).not.toHaveProperty('tools');
    expect(told).toEqual([
      'tools dropped',
      'tool_choice dropped',
      'text.format dropped',
      'top_p dropped',
      'top_k dropped',
      'seed dropped',
      'stop dropped',
      'top_logprobs dropped',
      'reasoning dropped',
    ]);
  });
});
