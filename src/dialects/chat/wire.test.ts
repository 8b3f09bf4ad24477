import { describe, expect, it } from 'vitest';
import { leastMs } from '../../../test/kit/builders/least-ms.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import { requestSchema } from './wire.ts';

const validator = compileValidator(requestSchema('acme'));

function issuesWith(change: JsonObject) {
  return validator.issuesOf({ model: 'a/b', messages: [{ role: 'user', content: 'Hi' }], ...change });
}

const FULL: JsonObject = {
  model: 'a/b',
  models: ['a/b', 'c/d'],
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }] },
    { role: 'developer', content: 'Rules', name: 'boss' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
        { type: 'novelty', anything: [1] },
      ],
    },
    {
      role: 'assistant',
      content: null,
      refusal: null,
      reasoning: 'Hm',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'x-v1', index: 0, id: null },
        { type: 'reasoning.summary', summary: 'Hm', index: 1 },
        { type: 'reasoning.encrypted', data: 'AAAA', id: 'r1' },
      ],
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
        { id: 'c2', function: { name: 'f', arguments: '{}' } },
        { id: 'c3', type: 'custom', custom: { name: 'g', input: 'free text' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
    { role: 'tool', tool_call_id: 'c3', content: [{ type: 'text', text: 'done' }] },
    { role: 'assistant', content: '', function_call: { name: 'old', arguments: '{}' } },
    { role: 'function', name: 'old', content: 'x' },
  ],
  tools: [
    { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true }, defer: true },
    { type: 'custom', custom: { name: 'g', format: { type: 'text' } } },
    { type: 'web_search', search_context_size: 'low' },
    { type: 'acme:datetime', parameters: { timezone: 'UTC' } },
  ],
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'web_search' }] } },
  temperature: 0.5,
  stop: ['a', 'b', 'c', 'd'],
  logit_bias: { '50256': -100 },
  logprobs: true,
  top_logprobs: 20,
  n: 1,
  response_format: { type: 'json_schema', json_schema: { name: 'out', schema: { type: 'object' } } },
  reasoning: { effort: 'high', exclude: true },
  modalities: ['text', 'image'],
  metadata: { team: 'blue' },
  service_tier: 'fast',
  provider: { order: ['acme'] },
  plugins: [{ id: 'web', max_results: 3 }],
  stream: true,
  stream_options: { include_usage: true },
  usage: { include: true },
  some_future_field: { a: 1 },
};

describe('the request schema', () => {
  it('takes every documented field', () => {
    expect(validator.issuesOf(FULL)).toEqual([]);
  });

  it('takes null for every optional field', () => {
    const nulls = Object.fromEntries(
      Object.keys(FULL)
        .filter((field) => field !== 'messages')
        .map((field) => [field, null]),
    );
    expect(issuesWith(nulls)).toEqual([]);
  });

  it.each([
    [{ messages: undefined }, 'messages', /must be an array|is required/],
    [{ messages: [] }, 'messages', /at least 1/],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role', /must be one of "system"/],
    [{ messages: [{ content: 'x' }] }, 'messages[0].role', /is required/],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content', /is required/],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', /a string or an array/],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: '' } }] }] },
      'messages[0].content[0].image_url.url',
      /must not be empty/,
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] },
      'messages[0].content[0].text',
      /must be a string/,
    ],
    [
      {
        messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] }],
      },
      'messages[0].tool_calls[0].function.arguments',
      /must be a string/,
    ],
    [
      { messages: [{ role: 'assistant', reasoning_details: [{ type: 'reasoning.encrypted' }] }] },
      'messages[0].reasoning_details[0].data',
      /is required/,
    ],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id', /is required/],
    [{ model: 5 }, 'model', /must be a string/],
    [{ model: '' }, 'model', /must not be empty/],
    [{ temperature: 2.1 }, 'temperature', /<= 2/],
    [{ top_p: -0.1 }, 'top_p', />= 0/],
    [{ top_k: 1.5 }, 'top_k', /an integer/],
    [{ min_p: 2 }, 'min_p', /<= 1/],
    [{ top_a: 2 }, 'top_a', /<= 1/],
    [{ frequency_penalty: 3 }, 'frequency_penalty', /<= 2/],
    [{ presence_penalty: -3 }, 'presence_penalty', />= -2/],
    [{ repetition_penalty: -1 }, 'repetition_penalty', />= 0/],
    [{ seed: 'x' }, 'seed', /an integer/],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', /at most 4/],
    [{ stop: 5 }, 'stop', /a string or an array/],
    [{ max_tokens: 0 }, 'max_tokens', />= 1/],
    [{ max_completion_tokens: 0 }, 'max_completion_tokens', />= 1/],
    [{ logit_bias: { a: 200 } }, 'logit_bias.a', /<= 100/],
    [{ top_logprobs: 21 }, 'top_logprobs', /<= 20/],
    [{ n: 0 }, 'n', />= 1/],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema', /is required/],
    [{ tools: [{ function: { name: 'f' } }] }, 'tools[0].type', /is required/],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function', /is required/],
    [
      { tools: [{ type: 'function', function: { name: '' } }] },
      'tools[0].function.name',
      /must not be empty/,
    ],
    [{ tools: [{ type: 'acme:datetime', parameters: 5 }] }, 'tools[0].parameters', /an object/],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.function', /is required/],
    [{ reasoning: { effort: 7 } }, 'reasoning.effort', /must be one of/],
    [{ modalities: [7] }, 'modalities[0]', /must be one of/],
    [{ metadata: { a: 5 } }, 'metadata.a', /must be a string/],
    [{ metadata: { 'a[0]': 'x' } }, 'metadata["a[0]"]', /key must match/],
    [{ metadata: { a: 'x'.repeat(513) } }, 'metadata.a', /at most 512/],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) },
      'metadata',
      /at most 16/,
    ],
    [{ user: 'x'.repeat(257) }, 'user', /at most 256/],
    [{ session_id: 'x'.repeat(257) }, 'session_id', /at most 256/],
    [{ stream: 'yes' }, 'stream', /a boolean/],
    [{ stream_options: { include_usage: 'yes' } }, 'stream_options.include_usage', /a boolean/],
    [{ prediction: { type: 'content' } }, 'prediction.content', /is required/],
    [{ provider: { shoe_size: 5 } }, 'provider.shoe_size', /not a known field/],
    [{ plugins: [{ id: 'web', max_results: 26 }] }, 'plugins[0].max_results', /<= 25/],
    [{ cache_control: { type: 'forever' } }, 'cache_control.type', /"ephemeral"/],
  ])('names the path of one wrong field: %j', (change, path, message) => {
    const issues = issuesWith(change as JsonObject);
    expect(issues.map((issue) => issue.path)).toEqual([path]);
    expect(issues[0]?.message).toMatch(message);
  });

  it.each([
    { service_tier: 'gold' },
    { reasoning_effort: 'huge' },
    { reasoning: { effort: 'huge' } },
    { modalities: ['smell'] },
    { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
    { verbosity: 'loud' },
    { response_format: { type: 'xml', root: 'a' } },
    { tool_choice: 'maybe' },
    { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'x', tools: [] } } },
    { web_search_options: { search_context_size: 'huge' } },
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'a', detail: 'x' } }] }] },
  ])('takes a value that only an upstream may know: %j', (change) => {
    expect(issuesWith(change as JsonObject)).toEqual([]);
  });

  it('reads a long conversation in little time', () => {
    const turns = Array.from({ length: 2000 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text: 'word '.repeat(20) }],
    }));
    expect(issuesWith({ messages: turns })).toEqual([]);
    expect(leastMs(() => issuesWith({ messages: turns }))).toBeLessThan(100);
  });
});
