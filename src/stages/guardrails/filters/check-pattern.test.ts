import { describe, expect, it } from 'vitest';
import { checkPattern } from './check-pattern.ts';

const words = Array.from({ length: 300 }, (_, index) => `project${index}name`).join('|');

describe('a pattern of a custom filter', () => {
  it.each([
    '.{1000}',
    '.{1000}.{1000}.{1000}',
    '\\w{1000}',
    `(?i)${'\\w'.repeat(4000)}`,
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
});
