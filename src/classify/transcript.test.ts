import { describe, expect, it } from 'vitest';
import type { GenerationContent } from '../ports/content/content.ts';
import { transcriptOf, transcriptOfText } from './transcript.ts';

const content = (more: Partial<GenerationContent>): GenerationContent => ({
  input: { prompt: 'Hi' },
  output: { completion: 'Hello', reasoning: null },
  error: null,
  ...more,
});

describe('transcriptOf', () => {
  it('labels every turn, with the tools behind the instructions and thoughts left out', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'developer', content: [{ type: 'input_text', text: 'Be short.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Look:' }, { type: 'image_url' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm' },
          { type: 'text', text: 'One moment.' },
          { type: 'tool_use', id: 'c', name: 'find', input: { q: 1 } },
          { type: 'text', text: 'Again.' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'found' }] },
    ];
    const output = {
      completion: 'Done.',
      reasoning: 'Hm',
      tool_calls: [{ id: 'd', name: 'save', arguments: '{}' }],
    };
    expect(transcriptOf(content({ input: { messages }, output, tools: ['find', 'save'] }))).toBe(
      [
        'SYSTEM: Be kind.',
        'SYSTEM: Be short.',
        'TOOLS: find, save',
        'USER: Look:\n[image_url]',
        'ASSISTANT: One moment.',
        'TOOL_CALL: find({"q":1})',
        'ASSISTANT: Again.',
        'TOOL_RESULT: found',
        'ASSISTANT: Done.',
        'TOOL_CALL: save({})',
      ].join('\n\n'),
    );
  });

  it('cuts each turn, never inside a character, and says so', () => {
    const long = `${'x'.repeat(4_999)}😀 and more`;
    const [user, assistant] = transcriptOf(
      content({ input: { prompt: long }, output: { completion: 'y'.repeat(5_000), reasoning: null } }),
    ).split('\n\n');
    expect(user).toBe(`USER: ${'x'.repeat(4_999)} [truncated]`);
    expect(assistant).toBe(`ASSISTANT: ${'y'.repeat(5_000)}`);
  });

  it('keeps the instructions and the newest turns of a very long conversation', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      ...Array.from({ length: 100 }, (_, index) => ({
        role: 'user',
        content: `${index} ${'x'.repeat(4_000)}`,
      })),
    ];
    const transcript = transcriptOf(content({ input: { messages } }));
    expect(transcript.length).toBeLessThan(101_000);
    expect(transcript.startsWith('SYSTEM: Be kind.\n\n[earlier turns left out]\n\nUSER: ')).toBe(true);
    expect(transcript).toContain('USER: 99 ');
    expect(transcript.endsWith('ASSISTANT: Hello')).toBe(true);
  });

  it('reads prompts of embeddings and decisions, and failures without an answer', () => {
    expect(
      transcriptOf(content({ input: { input: ['a'] }, output: { completion: null, reasoning: null } })),
    ).toBe('USER: {"input":["a"]}');
    expect(transcriptOfText('Where is my parcel?')).toBe('USER: Where is my parcel?');
  });
});
