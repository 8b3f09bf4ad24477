import { expect, it } from 'vitest';
import type { Item } from '../../ir/items.ts';
import { isRedacted, sentPrompt } from './sent-prompt.ts';

it('writes every kind of item as a message, and of what is no text only the kind', () => {
  const items: Item[] = [
    { type: 'message', role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'text', text: 'I am [EMAIL].' },
        { type: 'image', source: { kind: 'url', url: 'https://pictures.example/secret.png' } },
        { type: 'opaque', dialect: 'messages', value: { type: 'search_result', title: 'secret' } },
      ],
    },
    { type: 'reasoning', text: [], summary: ['It is late.'] },
    { type: 'tool-call', kind: 'function', callId: 'c1', name: 'look', input: '{"at":1}' },
    { type: 'tool-result', kind: 'function', callId: 'c1', content: [{ type: 'text', text: 'nothing' }] },
    { type: 'opaque', dialect: 'responses', value: { type: 'computer_call', action: 'secret' } },
  ];
  expect(sentPrompt({ items })).toEqual({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [{ type: 'text', text: 'I am [EMAIL].' }, { type: 'image' }, { type: 'search_result' }],
      },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'It is late.' }] },
      {
        role: 'assistant',
        content: [],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'nothing' }] },
      { role: 'assistant', content: [{ type: 'computer_call' }] },
    ],
  });
});

it('writes the texts of embeddings, and no ids of tokens', () => {
  const embedding = { inputs: ['one', [1, 2], 'two'], encoding: 'float' as const };
  expect(sentPrompt({ items: [], embedding })).toEqual({
    messages: [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ],
  });
});

it.each([
  [{ action: 'redacted', direction: 'sent' }, true],
  [{ action: 'redacted', direction: 'sent', added: true }, false],
  [{ action: 'redacted', direction: 'received' }, false],
  [{ action: 'flagged', direction: 'sent' }, false],
])('knows a prompt that was changed: %o', (data, isChanged) => {
  const entry = { type: 'guardrail', name: 'content-filter', data } as const;
  expect(isRedacted([{ type: 'plugin', name: 'web' }, entry])).toBe(isChanged);
});
