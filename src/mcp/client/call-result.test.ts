import { describe, expect, it } from 'vitest';
import { removerOf } from '../../kit/secrets/secret-remover.ts';
import { CallResult } from './call-result.ts';

const SECRET = 'token-for-the-server';

/** A result whose removals of secrets are counted. */
function bench(result: object) {
  const remove = removerOf([SECRET]);
  let characters = 0;
  const counting = Object.assign(
    (text: string) => {
      characters += text.length;
      return remove(text);
    },
    {
      bounded: (text: string, max: number) => {
        characters += text.length;
        return remove.bounded(text, max);
      },
    },
  );
  return { result: new CallResult(result as never, 1000, counting), read: () => characters };
}

describe('the result of a call', () => {
  const content = [
    { type: 'text', text: `one ${SECRET}` },
    { type: 'text', text: 'two' },
  ];

  it('is read for secrets once: as text for models', () => {
    const { result, read } = bench({ content });
    expect(read()).toBe(0);
    expect(result.text()).toBe('one [redacted]\ntwo');
    expect(read()).toBe(`one ${SECRET}\ntwo`.length);
  });

  it('is read for secrets once: as blocks for MCP clients', () => {
    const { result, read } = bench({ content, structuredContent: { a: SECRET } });
    expect(result.blocks()).toEqual([
      { type: 'text', text: 'one [redacted]' },
      { type: 'text', text: 'two' },
    ]);
    expect(read()).toBe(`one ${SECRET}two`.length);
    expect(result.structured()).toEqual({ a: '[redacted]' });
  });

  it('has no secret that two blocks make together', () => {
    const halves = [SECRET.slice(0, 9), SECRET.slice(9)].map((text) => ({ type: 'text', text }));
    expect(bench({ content: halves }).result.text()).toBe('[redacted]');
  });
});
