import { describe, expect, it } from 'vitest';
import { servedBelow } from '../../api/served-at.ts';
import { type Answer, EMPTY_ANSWER, hasContent, turnOf } from './answer.ts';
import { conversationOf, type Draft, userTurn } from './conversation.ts';
import { EventStreamReader } from './event-stream.ts';
import { FORMATS, formatNamed } from './formats.ts';
import { readSettings, readTools } from './settings.ts';
import { pythonValue, SNIPPETS } from './snippets.ts';

const PICTURE = { name: 'p.png', url: 'data:image/png;base64,AAAA' };

const DRAFT: Draft = {
  model: 'acme/large',
  system: 'Be terse.',
  turns: [
    userTurn('Look', [PICTURE]),
    { role: 'assistant', text: '', calls: [{ id: 'c1', name: 'look', arguments: '{"at":"it"}' }] },
    { role: 'tool', callId: 'c1', name: 'look', text: 'a cat' },
  ],
  tools: [{ name: 'look', parameters: { type: 'object' } }],
  settings: { effort: 'high', temperature: 0.5, provider: { order: ['acme'] } },
};

function readAll(format: string, events: readonly unknown[]): Answer {
  return events.reduce<Answer>(formatNamed(format).read, EMPTY_ANSWER);
}

describe('bodies', () => {
  it('of responses', () => {
    expect(formatNamed('responses').body(DRAFT)).toEqual({
      model: 'acme/large',
      instructions: 'Be terse.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: PICTURE.url },
          ],
        },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"it"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'a cat' },
      ],
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
      reasoning: { effort: 'high' },
      temperature: 0.5,
      provider: { order: ['acme'] },
      stream: true,
    });
  });

  it('of messages', () => {
    expect(formatNamed('messages').body(DRAFT)).toMatchObject({
      max_tokens: 4096,
      system: 'Be terse.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'text', text: 'Look' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', input: { at: 'it' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a cat' }] },
      ],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
  });

  it('of chat completions', () => {
    expect(formatNamed('chat').body(DRAFT)).toMatchObject({
      messages: [
        { role: 'system', content: 'Be terse.' },
        { role: 'user', content: [{ type: 'text' }, { type: 'image_url', image_url: { url: PICTURE.url } }] },
        { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'look' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      ],
      reasoning: { effort: 'high' },
    });
  });
});

describe('streams', () => {
  it('of responses: text, reasoning, calls, pictures and usage', () => {
    const answer = readAll('responses', [
      { type: 'response.reasoning_text.delta', delta: 'Hm' },
      { type: 'response.output_text.delta', delta: 'He' },
      { type: 'response.output_text.delta', delta: 'llo' },
      { type: 'response.output_item.added', item: { type: 'function_call', call_id: 'c1', name: 'look' } },
      { type: 'response.function_call_arguments.delta', delta: '{}' },
      { type: 'response.output_item.done', item: { type: 'image_generation_call', result: 'AAAA' } },
      {
        type: 'response.completed',
        response: { output: [{ type: 'message' }], usage: { input_tokens: 1, output_tokens: 2, cost: 0.5 } },
      },
    ]);
    expect(answer).toMatchObject({
      text: 'Hello',
      reasoning: 'Hm',
      calls: [{ id: 'c1', name: 'look', arguments: '{}' }],
      pictures: [PICTURE.url],
      usage: { promptTokens: 1, completionTokens: 2, costUsd: 0.5 },
    });
    const turns = [turnOf(answer, 'responses', true)];
    expect(formatNamed('responses').body({ ...DRAFT, turns }).input).toEqual([{ type: 'message' }]);
  });

  it('of messages: blocks return with their signatures', () => {
    const answer = readAll('messages', [
      { type: 'message_start', message: { provider: 'Acme' } },
      { type: 'content_block_start', content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'Hm' } },
      { type: 'content_block_delta', delta: { type: 'signature_delta', signature: 's' } },
      { type: 'content_block_stop' },
      { type: 'content_block_start', content_block: { type: 'tool_use', id: 'c1', name: 'look', input: {} } },
      { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"a":' } },
      { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '1}' } },
      { type: 'content_block_stop' },
      { type: 'message_delta', usage: { input_tokens: 1, cache_read_input_tokens: 9, output_tokens: 2 } },
    ]);
    expect(answer).toMatchObject({
      provider: 'Acme',
      reasoning: 'Hm',
      calls: [{ arguments: '{"a":1}' }],
      native: [
        { type: 'thinking', thinking: 'Hm', signature: 's' },
        { type: 'tool_use', input: { a: 1 } },
      ],
      usage: { promptTokens: 10, costUsd: null },
    });
  });

  it('of chat completions, with an error in the middle', () => {
    const chunk = (delta: object) => ({ choices: [{ delta }] });
    const answer = readAll('chat', [
      chunk({ reasoning: 'H', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'H' }] }),
      chunk({ reasoning: 'm', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'm' }] }),
      chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'look', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      { error: { message: 'It broke.' }, choices: [] },
    ]);
    expect(answer).toMatchObject({
      reasoning: 'Hm',
      native: [{ text: 'Hm' }],
      calls: [{ id: 'c1', name: 'look', arguments: '{}' }],
      failure: 'It broke.',
    });
  });

  it.each(FORMATS)('of $name: events without content change nothing', ({ read }) => {
    expect(hasContent(read(EMPTY_ANSWER, { type: 'ping' }))).toBe(false);
  });

  it('are split into events wherever a piece ends', () => {
    const text = ': comment\n\ndata: {"a":1}\n\nevent: x\r\ndata: {"b":2}\r\n\r\ndata: [DONE]\n\n';
    const reader = new EventStreamReader();
    expect([...text].flatMap((letter) => reader.push(letter))).toEqual([{ a: 1 }, { b: 2 }]);
  });
});

describe('conversationOf', () => {
  it('reads what is stored of a request', () => {
    const messages = [
      { role: 'system', content: 'Be terse.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: PICTURE.url },
          { type: 'input_image', image_url: 'https://elsewhere.example/a.png' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"it"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'a cat' },
    ];
    expect(conversationOf({ messages })).toEqual({
      system: DRAFT.system,
      turns: [userTurn('Look', [{ ...PICTURE, name: 'picture' }]), ...DRAFT.turns.slice(1)],
    });
    expect(conversationOf({ prompt: 'Hi' })).toEqual({ system: '', turns: [userTurn('Hi')] });
  });
});

describe('settings', () => {
  it('are sent if they can be read, and say what is wrong otherwise', () => {
    const texts = { maxTokens: '12', temperature: '3', topP: '', effort: 'low', provider: '[1]' };
    expect(readSettings(texts)).toMatchObject({
      settings: { maxTokens: 12, effort: 'low' },
      problems: { temperature: 'A number from 0 to 2.', provider: expect.stringContaining('object') },
    });
  });

  it('of tools need a name and a schema', () => {
    expect(readTools('')).toEqual({ tools: [] });
    expect(readTools('[{"name":"look","parameters":{}}]')).toMatchObject({ tools: [{ name: 'look' }] });
    expect(readTools('[{"name":"look"}]')).toMatchObject({ problem: expect.stringContaining('Tool 1') });
    expect(readTools('{')).toMatchObject({ problem: expect.stringContaining('Not JSON') });
  });
});

describe('snippets', () => {
  it.each(FORMATS)('name the key by its variable in $name', ({ name }) => {
    for (const { code } of SNIPPETS) {
      const text = code(name, DRAFT, servedBelow('http://gateway', '/models/v1'));
      expect(text).toContain('SIGNALBOX_KEY');
      expect(text).toContain('acme/large');
      expect(text).toMatch(
        name === 'messages' ? /http:\/\/gateway\/models\b/ : /http:\/\/gateway\/models\/v1\b/,
      );
    }
  });

  it('write values as Python has them', () => {
    expect(pythonValue({ a: [true, null], b: 'x"' }, 0)).toBe(
      '{\n    "a": [\n        True,\n        None,\n    ],\n    "b": "x\\"",\n}',
    );
  });
});
