import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kit/json/json.ts';
import { createPresetCheck } from './preset-issues.ts';

const check = createPresetCheck();

function problems(preset: JsonObject): string[] {
  return check({ mine: preset }, 'acorn').map(({ path, message }) => `${path}: ${message}`);
}

describe('createPresetCheck', () => {
  const good: [string, JsonObject][] = [
    ['nothing', {}],
    ['a model', { model: 'acme/large' }],
    ['models only', { models: ['acme/large'] }],
    ['null for absent', { model: null, temperature: null }],
    ['words of any format', { instructions: 'Hi', max_tokens: 5, stop_sequences: ['a'], top_k: 3 }],
    ['what one format has', { seed: 1, text: { verbosity: 'low' }, speed: 'fast', min_p: 0.1 }],
    ['a plugin that works', { plugins: [{ id: 'auto-router', cost_quality_tradeoff: 3 }] }],
    ['a hosted tool', { tools: [{ type: 'web_search' }] }],
    [
      'tools and a choice',
      { tools: [{ type: 'function', name: 'a' }], tool_choice: { type: 'function', name: 'a' } },
    ],
  ];
  it.each(good)('takes %s', (_, preset) => {
    expect(problems(preset)).toEqual([]);
  });

  const bad: [string, JsonObject, string][] = [
    [
      'an unknown member',
      { tempreature: 1 },
      'presets.mine.tempreature: is not a field that a preset can have',
    ],
    ['a conversation', { input: 'Hi' }, 'presets.mine.input: is not a field that a preset can have'],
    [
      'two words for one thing',
      { max_tokens: 5, max_output_tokens: 6 },
      'presets.mine.max_output_tokens: says the same as max_tokens: keep one of them',
    ],
    ['a wrong type', { temperature: 'hot' }, 'presets.mine.temperature: must be a number'],
    ['a value out of range', { max_output_tokens: 0 }, 'presets.mine.max_output_tokens: must be >= 1'],
    ['the same, called otherwise', { max_tokens: 0 }, 'presets.mine.max_tokens: must be >= 1'],
    ['a member of an object', { provider: { sort: 'speed' } }, 'presets.mine.provider.sort: must be'],
    ['what only one format has', { seed: 'x' }, 'presets.mine.seed: must be an integer'],
    ['a system prompt that is no text', { system_prompt: 5 }, 'presets.mine.system_prompt: must be a string'],
    [
      'a tool that is not built',
      { tools: [{ type: 'acorn:nothing' }] },
      'presets.mine.tools[0].type: the tool "acorn:nothing" is not available on this gateway',
    ],
    [
      'a choice of a tool that is not there',
      { tools: [{ type: 'function', name: 'a' }], tool_choice: { type: 'function', name: 'b' } },
      'presets.mine.tool_choice: names the tool "b", which is not in tools',
    ],
    [
      'a budget above the limit',
      { max_output_tokens: 100, reasoning: { max_tokens: 200 } },
      'presets.mine.reasoning.max_tokens: must be below the output limit of 100 tokens',
    ],
    ['another preset', { models: ['a/b@preset/c'] }, 'presets.mine.models[0]: cannot name a preset'],
    ['an empty model', { model: '' }, 'presets.mine.model'],
  ];
  it.each(bad)('finds %s', (_, preset, message) => {
    const [first] = problems(preset);
    expect(first).toContain(message);
  });
});
