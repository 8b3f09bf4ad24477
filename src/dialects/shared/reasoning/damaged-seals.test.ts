import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../dialects.ts';
import { messages } from '../../messages/index.ts';

const BLOCKS = [
  { type: 'thinking', thinking: 'Hm', signature: 'sealed.v1.!!!' },
  { type: 'redacted_thinking', data: 'sealed.v1.!!!' },
  { type: 'redacted_thinking', data: '' },
];

describe.each(['chat', 'responses', 'gemini', 'bedrock'] as const)('damaged seals to %s', (name) => {
  it.each(BLOCKS)('are in the report: %j', (block) => {
    const request = messages.inbound.parseRequest(
      {
        model: 'a/b',
        max_tokens: 100,
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: [block, { type: 'text', text: 'a' }] },
          { role: 'user', content: 'So?' },
        ],
      },
      { vendor: 'acme' },
    );
    const dialect = DIALECTS[name].upstream;
    const rendered = dialect.renderRequest(request, { model: 'm', hashUser: (id) => id });
    const fields = rendered.report.map(({ field, action }) => `${field} ${action}`);
    expect(fields).toContainEqual(
      expect.stringMatching(/^messages\[1\]\.content\[0\](\.signature)? (dropped|coerced)$/),
    );
    expect(JSON.stringify(rendered.body)).not.toContain('sealed.v1.');
  });
});
