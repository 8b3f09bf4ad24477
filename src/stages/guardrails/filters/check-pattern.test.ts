import { describe, expect, it } from 'vitest';
import { appliedFilters } from '../../../../test/kit/builders/guardrails.ts';
import { runAtOnce } from '../../../kit/loop/turns.ts';
import { checkingPatterns, checkPattern, compilingPattern, STORED_PATTERN_LIMITS } from './check-pattern.ts';
import { compileFilters } from './filter-set.ts';

const words = Array.from({ length: 300 }, (_, index) => `project${index}name`).join('|');

describe('a pattern of a custom filter', () => {
  it.each([
    '.{1000}',
    '.{1000}.{1000}.{1000}',
    '\\w{1000}',
    `(?i)${'\\w'.repeat(600)}`,
    '[\\s\\S]{0,900}password',
    'a{1,1000}b',
    'ab.{0,1000}c',
    '(?:x?y?z?){200}w',
    '(?:(?:ab){1,30}c?){1,30}d',
  ])('is refused if many matches of it are open at once: %.30s', (pattern) => {
    expect(checkPattern(pattern)).toMatch(/^takes more than 2500 steps a character/);
  });

  it.each([
    words,
    `(?i)\\b(?:${words})\\b`,
    Array.from({ length: 200 }, (_, index) => `P${index}X-\\d{6}`).join('|'),
    '[A-Za-z0-9+/]{40,200}',
    '(?i)confidential.{0,400}memo',
    '-----BEGIN [A-Z ]+ KEY-----[\\s\\S]{0,800}-----END',
    '.*',
  ])('may have many alternatives, and long repetitions after fixed characters: %.30s', (pattern) => {
    expect(checkPattern(pattern)).toBeUndefined();
  });

  it.each([
    ['many classes', `(?i)${'[\\s\\S]'.repeat(4000)}`],
    [
      'many ranges',
      `[${Array.from({ length: 9000 }, (_, at) => String.fromCodePoint(0x4e00 + 2 * at)).join('')}]`,
    ],
    ['many groups', '(?:)'.repeat(20_000)],
  ])('is refused if it would take long to compile: %s', (_, pattern) => {
    expect(checkPattern(pattern)).toBe('is too large');
  });

  it('may hold a list of 700 words, and a class of 20,000 letters', () => {
    const many = Array.from({ length: 700 }, (_, at) => `w${(at * 7919) % 100_000}`).join('|');
    const letters = Array.from({ length: 20_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('');
    expect([checkPattern(many), checkPattern(`[${letters}]`)]).toEqual([undefined, undefined]);
  });

  it('gets the same verdict when it is in use already', () => {
    const pattern = 'a.{0,190}b';
    const filters = compileFilters([appliedFilters({ filters: [{ pattern, action: 'flag', label: null }] })]);
    filters.scan('axxa'.repeat(5000), { role: 'user', direction: 'sent' });
    expect(checkPattern(pattern)).toMatch(/^takes more than 2500 steps a character/);
  });

  it('is compiled if it was stored before a limit became lower', () => {
    const outcome = runAtOnce(compilingPattern('(?:)'.repeat(9000), STORED_PATTERN_LIMITS));
    expect(outcome).toHaveProperty('program');
  });
});

describe('the patterns of one guardrail', () => {
  const problemsOf = (patterns: readonly string[]) => runAtOnce(checkingPatterns(patterns));

  it('are refused if each is cheap enough and all together are not, by the name of the dearest', () => {
    const patterns = Array.from({ length: 60 }, (_, index) => `a{1,${index === 7 ? 120 : 90}}b${index}`);
    expect(patterns.map(checkPattern)).toEqual(patterns.map(() => undefined));
    expect(problemsOf(patterns)).toEqual([
      { index: 7, problem: expect.stringMatching(/^takes \d+ steps a character, and with the others more/) },
    ]);
  });

  it('may be 200 cheap ones, and the same one any number of times', () => {
    expect(problemsOf(Array.from({ length: 200 }, (_, index) => `PRJ${index}-\\d{4,6}`))).toEqual([]);
    expect(problemsOf(Array.from({ length: 200 }, () => 'a.{60}b'))).toEqual([]);
  });

  it('are not measured any further after three that are too dear', () => {
    const patterns = Array.from({ length: 20 }, (_, index) => `a{1,1000}${index}`);
    expect(problemsOf(patterns).map(({ index }) => index)).toEqual([0, 1, 2]);
  });
});
