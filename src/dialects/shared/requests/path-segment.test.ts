import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../dialects.ts';
import { pathSegment } from './path-segment.ts';

describe('a step of an address', () => {
  it.each([
    ['gemini-3.1-pro', 'gemini-3.1-pro'],
    ['a/b?c#d', 'a%2Fb%3Fc%23d'],
    ['...', '...'],
    ['.', '%252E'],
    ['..', '%252E%252E'],
  ])('%s is %s', (name, step) => {
    expect(pathSegment(name)).toBe(step);
  });

  it.each(['gemini', 'bedrock'] as const)('never leaves the base address of a %s upstream', (dialect) => {
    const names = [
      '..',
      '.',
      '../../x?y=1#z',
      'a/../../../b',
      '%2e%2e/%2E%2e',
      '.%2e',
      '..\\..\\x',
      '//evil/..',
    ];
    for (const name of names) {
      const path = DIALECTS[dialect].upstream.path(name, true) ?? '';
      const url = new URL(`https://host.example/v1beta${path}`);
      expect(url.host).toBe('host.example');
      expect(url.pathname).toBe(`/v1beta${path.replace(/\?alt=sse$/, '')}`);
    }
  });
});
