import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../kit/loop/turns.ts';
import { checkPattern, compilingPattern, STORED_PATTERN_LIMITS } from './check-pattern.ts';

const words = Array.from({ length: 300 }, (_, index) => `project${index}name`).join('|');

describe('a pattern of a custom filter', () => {
  it.each([
    '.{1000}',
    '.{1000}.{1000}.{1000}',
    '\\w{1000}',
    `(?i)${'\\w'.repeat(600)}`,
    '[\\s\\S]{0,900}password',
  ])('is refused if many matches of it are open at once: %.30s', (pattern) => {
    expect(checkPattern(pattern)).toMatch(/^takes more than 250 steps a character/);
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

  it('is compiled if it was stored before a limit became lower', () => {
    const outcome = runAtOnce(compilingPattern('(?:)'.repeat(9000), STORED_PATTERN_LIMITS));
    expect(outcome).toHaveProperty('program');
  });
});
