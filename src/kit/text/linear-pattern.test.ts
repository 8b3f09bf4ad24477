import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/kit/builders/processor-ms.ts';
import { compilePattern, type PatternLimits } from './linear-pattern.ts';

const matches = (source: string, text: string, limits?: PatternLimits) => {
  const compilation = compilePattern(source, limits);
  return compilation.ok ? compilation.pattern.test(text) : undefined;
};

/** Small patterns over a small alphabet, so that texts match often enough. */
const patterns: fc.Arbitrary<string> = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\d',
      '\\w',
      '\\W',
      '^',
      '$',
      '\\b',
      '\\B',
      '\\p{L}',
      '\\P{L}',
    ),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => one + other),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{2,}', '*?'))
      .map(([part, times]) => `(${part})${times}`),
  ),
})).pattern;

const KINDS = [
  /\s/u,
  /\S/u,
  /[\s]/u,
  /[\S]/u,
  /[^\s]/u,
  /[^\S]/u,
  /./u,
  /\w/u,
  /\W/u,
  /[\W]/u,
  /\d/u,
  /\D/u,
].map((source) => {
  const compilation = compilePattern(source.source);
  if (!compilation.ok) throw new Error(compilation.problem);
  return [source, compilation.pattern] as const;
});

describe('compilePattern', () => {
  it('says what the engine says', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-'), maxLength: 6 });
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        expect(matches(pattern, text)).toBe(new RegExp(pattern, 'u').test(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['^x_', 'x_one', true],
    ['^x_', 'ax_', false],
    ['^[a-c]{2}$', 'cb', true],
    ['^[^\\d-]+$', 'a-b', false],
    ['^(red|green)$', 'green', true],
    ['^\\u0041$', 'A', true],
    ['^.$', '😀', true],
    ['^\\ud83d\\ude00$', '😀', true],
    ['^\\u{1f600}\\x41$', '😀A', true],
    ['a$', 'a\n', false],
    ['^a.b$', 'a\rb', false],
    ['^a[^]b[]?$', 'a\nb', true],
    ['^\\s\\S$', '\u00a0x', true],
    ['^[\\s-]+$', '\u2028-\ufeff', true],
    ['^[^\\S]$', '\u3000', true],
    ['^[\\w-.]+$', 'a-b.c', true],
    ['^[[:alpha:]]$', 'a', false],
    ['^\\/\\-\\A\\Q$', '/-AQ', true],
    ['^{a}]$', '{a}]', true],
    ['^\\p{Script=Cyrillic}\\p{gc=Lu}\\p{Alphabetic}$', 'ЯAé', true],
    ['^(?<word>\\w+?)\\0$', 'ab\0', true],
    ['^a{1000}$', 'a'.repeat(1000), true],
  ])('%s in %s: %s', (pattern, text, isMatch) => {
    expect(matches(pattern, text)).toBe(isMatch);
  });

  it.each([
    '[a-z]',
    '[^k]',
    '\\w',
    '\\W',
    '[\\W_]',
    '[ā-ǿ]',
    '[^Α-Ω]',
    '\\p{Lu}',
    '[^\\p{Ll}x]',
    '[\\p{Lu}ß-ÿ]',
    'ß|σ|K',
  ])('ignores the case of %s as the engine does', (source) => {
    const compilation = compilePattern(`(?i:${source})`);
    if (!compilation.ok) throw new Error(compilation.problem);
    const native = new RegExp(source, 'iu');
    for (let code = 0; code < 0x2200; code++) {
      const character = String.fromCharCode(code);
      if (compilation.pattern.test(character) !== native.test(character)) expect.fail(code.toString(16));
    }
  });

  it('agrees with the engine on every kind of space and line end', () => {
    for (let code = 0; code <= 0xffff; code++) {
      const character = String.fromCharCode(code);
      for (const [source, pattern] of KINDS) {
        if (pattern.test(character) !== source.test(character)) expect.fail(`${source} on ${code}`);
      }
    }
  });

  it.each([
    ['(?=a)', 'uses lookaround or an unknown kind of group'],
    ['(?<!x)y', 'uses lookaround or an unknown kind of group'],
    ['(?i)a', 'uses lookaround or an unknown kind of group'],
    ['(a)\\1', 'refers back to a group'],
    ['(', 'has a group that is not closed'],
    ['a)', 'closes a group that is not open'],
    ['[a', 'ends too early'],
    ['a\\', 'ends too early'],
    ['[z-a]', 'has a range that ends before it begins'],
    ['a{2,1}', 'has a count that ends before it begins'],
    ['*a', 'repeats nothing'],
    ['a**', 'repeats nothing'],
    ['\\u12', 'has an escape without its digits'],
    ['\\u{110000}', 'names a character that does not exist'],
    ['\\p{Nonsense}', 'names an unknown property'],
    ['\\p{Greek}', 'names an unknown property'],
    ['\\p{Letter}', 'is not supported'],
    ['a{1001}', 'is too large'],
    ['(a{50}){50}', 'is not supported'],
    ['('.repeat(200), 'nests too deeply'],
    ['x'.repeat(5000), 'is too large'],
    ['((a{1000}){1000}){400}', 'is too large'],
    ['\\p{L}'.repeat(100), 'is too large'],
    [`${'('.repeat(40)}a${'{9999})'.repeat(40)}`, 'is too large'],
  ])('refuses %s: it %s', (source, problem) => {
    expect(compilePattern(source)).toEqual({ ok: false, problem });
  });

  it('obeys the limits it is given', () => {
    const translated = 100;
    expect(matches('a{30}', 'a'.repeat(30), { characters: 5, size: 50, translated })).toBe(true);
    expect(matches('a{300}', 'a', { characters: 6, size: 50, translated })).toBeUndefined();
    expect(matches('aaaaaa', 'a', { characters: 5, size: 50, translated })).toBeUndefined();
    expect(matches('aaaaaa', 'aaaaaa', { characters: 6, size: 50, translated: 6 })).toBe(true);
    expect(matches('aaaaaa', 'aaaaaa', { characters: 6, size: 50, translated: 5 })).toBeUndefined();
  });

  it.each(['[\\s\\S]', '[^\\S]', '[\\u{1}-\\u{10ffff}]', '[a-\\u{ffff}]', '[^\\p{L}a-\\u{ffff}]'])(
    'reads many large classes such as %s soon if case is ignored',
    (large) => {
      const source = `(?i:${large.repeat(Math.floor(4000 / large.length))})`;
      expect(processorMs(() => compilePattern(source))).toBeLessThan(1000);
    },
  );

  it('ends soon on patterns that take an engine for ever', () => {
    const taken = processorMs(() => {
      expect(matches('^(a+)+$', `${'a'.repeat(40)}!`)).toBe(false);
      expect(matches('^(a|a)*$', `${'a'.repeat(60)}!`)).toBe(false);
    });
    expect(taken).toBeLessThan(1000);
  });
});
