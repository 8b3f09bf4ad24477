import { expect, it } from 'vitest';
import { withinTokens } from './fetch-page.ts';

it('cuts a text to about so many tokens, and no character in half', () => {
  expect(withinTokens('abcdefgh', 1)).toBe('abcd');
  expect(withinTokens('äöü', 2)).toBe('äö');
  expect(withinTokens('🙂🙂', 3)).toBe('🙂');
  expect(withinTokens('abc', 100)).toBe('abc');
});
