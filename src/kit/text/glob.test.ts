import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leastMs } from '../../../test/kit/builders/least-ms.ts';
import { anyGlob, glob } from './glob.ts';

describe('glob', () => {
  const cases: [pattern: string, text: string, fits: boolean][] = [
    ['acme/large', 'acme/large', true],
    ['acme/large', 'acme/large-2', false],
    ['acme/*', 'acme/large', true],
    ['acme/*', 'acme/', true],
    ['acme/*', 'other/acme/large', false],
    ['acme/la*', 'acme/large', true],
    ['*/large-*', 'acme/large-2', true],
    ['*/large-*', 'acme/large', false],
    ['*', '', true],
    ['**', 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['*ab*b', 'aab', false],
    ['*ab*b', 'aabb', true],
    ['A*', 'acme', false],
    ['a.c*', 'abc', false],
    ['a?c*', 'abc', false],
  ];
  it.each(cases)('%j with %j: %s', (pattern, text, fits) => {
    expect(glob(pattern)(text)).toBe(fits);
  });

  it('agrees with the regular expression that means the same', () => {
    const word = (characters: string) =>
      fc.array(fc.constantFrom(...characters), { maxLength: 8 }).map((letters) => letters.join(''));
    fc.assert(
      fc.property(word('ab*'), word('ab'), (pattern, text) => {
        const fits = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text);
        expect(glob(pattern)(text)).toBe(fits);
        expect(anyGlob(['x', pattern])(text)).toBe(fits);
      }),
      { numRuns: 2000 },
    );
  });

  it('stays linear whatever the pattern', () => {
    const text = 'a'.repeat(100_000);
    for (const pattern of [`${'a*'.repeat(500)}b`, `${'*a'.repeat(500)}*b*`]) {
      const matches = glob(pattern);
      expect(matches(text)).toBe(false);
      expect(leastMs(() => matches(text))).toBeLessThan(50);
    }
  });
});

describe('anyGlob', () => {
  it.each([
    [[], 'acme/large', false],
    [['beta/*', 'acme/*'], 'acme/large', true],
    [['beta/*', 'ACME/*'], 'acme/large', false],
    [['*'], '', true],
  ])('%j with %j: %s', (patterns, text, fits) => {
    expect(anyGlob(patterns)(text)).toBe(fits);
  });

  it('takes little time for many hostile patterns and many texts', () => {
    const fits = anyGlob(Array.from({ length: 1024 }, (_, index) => `*${'a*'.repeat(28)}b${index}*`));
    const texts = Array.from({ length: 300 }, (_, index) => `${'a'.repeat(60)}-${index}`);
    const times = Array.from({ length: 10 }, () => {
      const started = performance.now();
      expect(texts.some(fits)).toBe(false);
      return performance.now() - started;
    });
    expect(Math.min(...times)).toBeLessThan(50);
  });
});
