import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../ir/errors.ts';
import type { Format } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { DIALECTS } from '../../dialects.ts';
import { applyPreset, presetReport } from './preset.ts';

const look = { type: 'function', name: 'look', parameters: { type: 'object' } };
const presets = {
  careful: {
    model: 'acme/large',
    system_prompt: 'Be careful.',
    temperature: 0.2,
    max_output_tokens: 500,
    reasoning: { effort: 'minimal' },
    tools: [look],
    tool_choice: { type: 'function', name: 'look' },
    seed: 7,
    stop: 'END',
    provider: { order: ['acme'] },
  },
  bare: { temperature: 0 },
  list: { models: ['acme/a', 'acme/b'] },
  thoughtful: { model: 'acme/large', reasoning: { max_tokens: 2000, exclude: true } },
  thoughtless: { model: 'acme/large', reasoning: { effort: 'none' } },
};

const messages = [{ role: 'user', content: 'Hi' }];
const OWN: Record<Format, JsonObject> = {
  responses: { input: 'Hi' },
  messages: { messages },
  chat: { messages },
};

const formOf = (format: Format) => DIALECTS[format].facts.preset;

const applied = (format: Format, body: JsonObject): JsonObject =>
  applyPreset(formOf(format), { ...OWN[format], ...body }, presets);

function failure(format: Format, body: JsonObject): string {
  try {
    applied(format, body);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'none';
}

describe('applyPreset', () => {
  it('leaves a body alone that names none', () => {
    const body = { model: 'acme/large', input: 'Hi' };
    expect(applyPreset(formOf('responses'), body, presets)).toBe(body);
  });

  it('writes in the words of the format', () => {
    const model = '@preset/careful';
    const common = { model: 'acme/large', temperature: 0.2, provider: { order: ['acme'] } };
    expect(applied('responses', { model })).toEqual({
      ...common,
      input: 'Hi',
      instructions: 'Be careful.',
      max_output_tokens: 500,
      reasoning: { effort: 'minimal' },
      tools: [look],
      tool_choice: { type: 'function', name: 'look' },
    });
    expect(applied('messages', { model })).toEqual({
      ...common,
      messages,
      system: 'Be careful.',
      max_tokens: 500,
      output_config: { effort: 'low' },
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'look' },
      stop_sequences: ['END'],
    });
    expect(applied('chat', { model })).toEqual({
      ...common,
      messages: [{ role: 'system', content: 'Be careful.' }, ...messages],
      max_completion_tokens: 500,
      reasoning: { effort: 'minimal' },
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
      seed: 7,
      stop: 'END',
    });
  });

  const wins: [string, Format, JsonObject, JsonObject][] = [
    ['a field', 'responses', { temperature: 1 }, { temperature: 1 }],
    ['zero', 'responses', { temperature: 0 }, { temperature: 0 }],
    ['not null', 'responses', { temperature: null }, { temperature: 0.2 }],
    ['the whole of an object', 'responses', { provider: { zdr: true } }, { provider: { zdr: true } }],
    ['instructions', 'responses', { instructions: 'Mine.' }, { instructions: 'Mine.' }],
    [
      'a part of output_config beside the effort',
      'messages',
      { output_config: { format: null } },
      { output_config: { format: null, effort: 'low' } },
    ],
  ];
  it.each(wins)('lets the request win: %s', (_, format, body, expected) => {
    expect(applied(format, { model: '@preset/careful', ...body })).toMatchObject(expected);
  });

  const without: [string, Format, JsonObject, string][] = [
    ['another word for it', 'chat', { max_tokens: 9 }, 'max_completion_tokens'],
    ['thinking', 'messages', { thinking: { type: 'disabled' } }, 'output_config'],
    ['reasoning_effort', 'chat', { reasoning_effort: 'high' }, 'reasoning'],
  ];
  it.each(without)('adds nothing where the request has %s', (_, format, body, field) => {
    expect(applied(format, { model: '@preset/careful', ...body })).not.toHaveProperty(field);
  });

  it('keeps a system message of the request', () => {
    const own = [{ role: 'developer', content: 'Mine.' }, ...messages];
    expect(applied('chat', { model: '@preset/careful', messages: own }).messages).toEqual(own);
  });

  it('takes fallbacks for models', () => {
    const fallbacks = [{ model: 'acme/c' }];
    expect(applied('messages', { model: 'a/b@preset/list', fallbacks })).not.toHaveProperty('models');
    expect(applied('messages', { model: 'a/b@preset/list' })).toMatchObject({ models: ['acme/a', 'acme/b'] });
  });

  const named: [string, JsonObject, string][] = [
    ['alone', { model: '@preset/careful' }, 'acme/large'],
    ['with a model', { model: 'a/b:nitro@preset/careful' }, 'a/b:nitro'],
    ['in a field of its own', { preset: 'careful' }, 'acme/large'],
    ['in a field of its own, with a model', { preset: 'careful', model: 'a/b' }, 'a/b'],
    ['twice', { preset: 'careful', model: '@preset/careful' }, 'acme/large'],
    ['with a list', { model: '@preset/list' }, 'acme/a'],
  ];
  it.each(named)('is named %s', (_, body, model) => {
    const merged = applied('responses', body);
    expect(merged.model).toBe(model);
    expect(merged).not.toHaveProperty('preset');
  });

  const refused: [string, JsonObject, string][] = [
    ['an unknown preset', { model: '@preset/none' }, '404 model: there is no preset "none"'],
    ['an unknown preset in its field', { preset: 'none' }, '404 preset: there is no preset "none"'],
    ['no slug', { model: '@preset/' }, '404 model: there is no preset ""'],
    ['what every object has', { preset: 'constructor' }, '404 preset: there is no preset "constructor"'],
    [
      'two presets',
      { model: '@preset/careful', preset: 'bare' },
      '400 preset: must not differ from the preset that model names',
    ],
    ['no model anywhere', { model: '@preset/bare' }, '400 model: is required: the preset "bare" names none'],
    [
      'a preset among models',
      { model: 'a/b', models: ['a/c', 'a/d@preset/bare'] },
      '400 models[1]: cannot name a preset: only the model and the preset of a request can',
    ],
  ];
  it.each(refused)('refuses %s', (_, body, message) => {
    expect(failure('responses', body)).toBe(message);
  });

  it('unites tools by what they are', () => {
    const own = { type: 'function', name: 'look', description: 'Mine.' };
    const search = { type: 'web_search' };
    const more = { a: { model: 'a/b', tools: [look, { ...look, name: 'listen' }, { ...search, x: 1 }] } };
    const body = { model: '@preset/a', input: 'Hi', tools: [search, own] };
    expect(applyPreset(formOf('responses'), body, more).tools).toEqual([
      search,
      own,
      { ...look, name: 'listen' },
    ]);
  });

  it('reads tools and choices in the words of any format', () => {
    const functions = [
      { type: 'function', function: { name: 'one', description: 'First.' } },
      { name: 'two', input_schema: { type: 'object', properties: {} } },
    ];
    const more = { a: { model: 'a/b', tools: functions, tool_choice: { type: 'any' } } };
    expect(applyPreset(formOf('responses'), { model: '@preset/a', input: 'Hi' }, more)).toMatchObject({
      tools: [
        { type: 'function', name: 'one', description: 'First.' },
        { type: 'function', name: 'two', parameters: { type: 'object', properties: {} } },
      ],
      tool_choice: 'required',
    });
    expect(applyPreset(formOf('messages'), { model: '@preset/a', messages }, more)).toMatchObject({
      tools: [{ name: 'one', description: 'First.', input_schema: { type: 'object' } }, functions[1]],
      tool_choice: { type: 'any' },
    });
  });

  it('writes thinking as the messages format does', () => {
    expect(applied('messages', { preset: 'thoughtful' }).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 2000,
      display: 'omitted',
    });
    expect(applied('messages', { preset: 'thoughtless' })).toMatchObject({ thinking: { type: 'disabled' } });
    expect(applied('messages', { preset: 'thoughtless' })).not.toHaveProperty('output_config');
  });

  it('does not shift the places that problems name', () => {
    const file = { role: 'user', content: [{ type: 'file', file: {} }] };
    const body = applied('chat', { model: '@preset/careful', messages: [file] });
    expect(() => DIALECTS.chat.inbound.parseRequest(body, { vendor: 'acorn' })).toThrow(
      'messages[0].content[0].file: must have file_data or file_id',
    );
  });
});

describe('presetReport', () => {
  it('names what the format has no field for', () => {
    const body = { model: '@preset/careful' };
    const fields = (format: Format) => presetReport(formOf(format), body, presets).map(({ field }) => field);
    expect(fields('responses')).toEqual(['preset.seed', 'preset.stop']);
    expect(fields('messages')).toEqual(['preset.seed']);
    expect(fields('chat')).toEqual([]);
    expect(presetReport(formOf('messages'), { model: 'a/b' }, presets)).toEqual([]);
  });

  it('names the settings of conversations that embeddings do not have', () => {
    const tools = [{ type: 'function', name: 'f' }];
    const all = { talk: { model: 'a/b', system_prompt: 'Hi', max_tokens: 9, tools, tool_choice: 'auto' } };
    const form = DIALECTS.embeddings.facts.preset;
    const body = { input: 'Hi', preset: 'talk' };
    expect(applyPreset(form, body, all)).toEqual({ model: 'a/b', input: 'Hi' });
    const lost = ['system_prompt', 'max_tokens', 'tools', 'tool_choice'];
    expect(presetReport(form, body, all).map(({ field }) => field)).toEqual(
      lost.map((name) => `preset.${name}`),
    );
  });
});
