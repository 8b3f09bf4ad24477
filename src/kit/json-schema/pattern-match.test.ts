import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget } from './budget.ts';
import { matchesPattern } from './pattern-match.ts';

const matches = (pattern: string, text: string, steps = 100_000) =>
  matchesPattern(pattern, text, new Budget(steps));

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

describe('matchesPattern', () => {
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
  ])('%s in %s: %s', (pattern, text, isMatch) => {
    expect(matches(pattern, text)).toBe(isMatch);
  });

  it('does not say what is beyond it', () => {
    expect(matches('(?=a)', 'a')).toBeUndefined();
    expect(matches('(', 'a')).toBeUndefined();
    expect(matches('^(a*)*$', `${'a'.repeat(200)}b`, 1000)).toBeUndefined();
  });

  it('ends soon on patterns that take an engine for ever', () => {
    const started = performance.now();
    expect(matches('^(a+)+$', `${'a'.repeat(40)}!`)).toBe(false);
    expect(matches('^(a|a)*$', `${'a'.repeat(60)}!`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
