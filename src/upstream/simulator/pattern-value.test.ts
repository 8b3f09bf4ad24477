import { describe, expect, it } from 'vitest';
import { patternValue } from './pattern-value.ts';

describe('patternValue', () => {
  it.each([
    '^[A-Z]{3}-\\d{2}$',
    '^[a-z]+$',
    '^\\+?[0-9]{7,15}$',
    '^(?:red|green|blue)$',
    '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
    '^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$',
    '^#(?<hex>[0-9a-fA-F]{6})$',
    '^\\p{Lu}\\p{L}*$',
    '^\\u0041[\\w.-]{2}\\$$',
    'needle',
    '',
    '^[-+]?\\d*\\.\\d+?$',
    '^[^a-zA-Z0-9]$',
  ])('fits %s', (pattern) => {
    expect(patternValue(pattern, 0)).toMatch(new RegExp(pattern, 'u'));
  });

  it('grows to the length that is asked for, where the pattern lets it', () => {
    expect(patternValue('^[a-z]+$', 20)).toHaveLength(20);
    expect(patternValue('^[a-z]{3}$', 20)).toHaveLength(3);
  });

  it.each(['(?=a)b', '(a)\\1', '(?<!x)y', '(unclosed', '[unclosed', 'a{5000}', '('.repeat(200)])(
    'gives up on %s',
    (pattern) => {
      expect(patternValue(pattern, 0)).toBeUndefined();
    },
  );
});
