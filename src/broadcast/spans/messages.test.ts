import { describe, expect, it } from 'vitest';
import { followedContent } from '../../../test/kit/builders/followed.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { inputMessages, outputMessages } from './messages.ts';

const messagesOf = (input: JsonObject) => JSON.parse(inputMessages(followedContent({ input })).text);

describe('inputMessages', () => {
  it('reads the conversations of all formats', () => {
    const call = { type: 'tool_call', id: 'c1', name: 'find', arguments: '{"q":1}' };
    const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'found' }] };
    const user = { role: 'user', parts: [{ type: 'text', content: 'Hi' }] };
    expect(messagesOf({ prompt: 'Hi' })).toEqual([user]);
    expect(
      messagesOf({
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":1}' } }],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'found' },
        ],
      }),
    ).toEqual([user, { role: 'assistant', parts: [call] }, result]);
    expect(
      messagesOf({
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm', signature: 's' },
              { type: 'tool_use', id: 'c1', name: 'find', input: { q: 1 } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'found' }] },
        ],
      }),
    ).toEqual([
      user,
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Hm' }, call] },
      { ...result, role: 'user' },
    ]);
    expect(
      messagesOf({
        messages: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'sealed' },
          { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"q":1}' },
          { type: 'function_call_output', call_id: 'c1', output: 'found' },
          { type: 'item_reference', id: 'i' },
        ],
      }),
    ).toEqual([
      user,
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Hm' }] },
      { role: 'assistant', parts: [call] },
      result,
      { role: 'assistant', parts: [{ type: 'item_reference' }] },
    ]);
    expect(messagesOf({ input: ['one'] })).toEqual([
      { role: 'user', parts: [{ type: 'text', content: '{"input":["one"]}' }] },
    ]);
  });

  it('leaves pictures, files and sound out, and says that they were there', () => {
    const parts = [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,secret' } },
      { type: 'input_image', image_url: 'https://secret.example' },
      { type: 'image', source: { type: 'base64', data: 'secret' } },
      { type: 'file', file: { file_data: 'secret' } },
      { type: 'input_audio', input_audio: { data: 'secret' } },
    ];
    const { text } = inputMessages(
      followedContent({ input: { messages: [{ role: 'user', content: parts }] } }),
    );
    expect(text).not.toContain('secret');
    expect(JSON.parse(text)[0].parts).toEqual(parts.map(({ type }) => ({ type })));
    const inResult = messagesOf({
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: parts }] }],
    });
    expect(JSON.stringify(inResult)).not.toContain('secret');
  });

  it('is bounded: long texts are cut, and the oldest messages are left out', () => {
    const messages = Array.from({ length: 40 }, (_, index) => ({
      role: 'user',
      content: `${index} ${'x'.repeat(50_000)}`,
    }));
    const { text, leftOut } = inputMessages(followedContent({ input: { messages } }));
    const kept = JSON.parse(text);
    expect(text.length).toBeLessThan(140_000);
    expect(kept.length + leftOut).toBe(40);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.at(-1).parts[0].content).toMatch(/^39 /);
    expect(kept[0].parts[0].content).toHaveLength(16_384);
  });

  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['odd messages', { messages: [null, 7, 'text', [], { role: 'user' }, { role: 'user', content: 7 }] }],
  ])('makes something of %s', (_, input) => {
    expect(Array.isArray(messagesOf(input))).toBe(true);
  });
});

describe('outputMessages', () => {
  it('has thoughts, text and calls in one message', () => {
    const output = {
      completion: 'Done',
      reasoning: 'Hm',
      tool_calls: [
        { id: 'c1', name: 'find', arguments: '{}' },
        { id: 'c2', name: 'web_search', arguments: '{}', output: 'found' },
      ],
    };
    expect(JSON.parse(outputMessages(followedContent({ output }), 'tool_calls').text)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'Hm' },
          { type: 'text', content: 'Done' },
          { type: 'tool_call', id: 'c1', name: 'find', arguments: '{}' },
          { type: 'tool_call', id: 'c2', name: 'web_search', arguments: '{}' },
          { type: 'tool_call_response', id: 'c2', response: 'found' },
        ],
        finish_reason: 'tool_calls',
      },
    ]);
  });
});
