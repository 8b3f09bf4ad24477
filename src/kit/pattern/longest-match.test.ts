import { expect, it } from 'vitest';
import { longestMatch } from './longest-match.ts';
import { compileProgram } from './program.ts';

it.each([
  ['abc', 3],
  ['a{2,5}b?', 6],
  ['ab|cde|f', 3],
  ['\\bproject\\s{1,3}x$', 11],
  ['(?i)Secret', 6],
  ['(?:ab){10}', 20],
  ['a+', Number.POSITIVE_INFINITY],
  ['a.*b', Number.POSITIVE_INFINITY],
  ['x(?:a|b*c)', Number.POSITIVE_INFINITY],
])('measures the longest match of %s', (source, expected) => {
  const compilation = compileProgram(source, { characters: 100, size: 100, translated: 1000 });
  expect(compilation.ok && longestMatch(compilation.program)).toBe(expected);
});
